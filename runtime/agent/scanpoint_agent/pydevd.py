"""Everything that we use of debugpy's private parts, looked up once, with the public way beside it.

Stopping in a frame of our choice needs private names. Where one of them is missing (an older or a
newer debugpy), `suspend` says so by False, and the stop is made through `pydevd.settrace`.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from importlib import import_module
from types import CodeType, FrameType

# debugpy names the stop of such a command "function breakpoint"; the proxy knows it by that.
_FUNCTION_BREAK = 208
_STATE_RUN = 1


class _Names:
    """The private names, once found."""

    probed = False
    complete = False
    get_debugger = None
    thread_info = None
    thread_id = None
    schema = None
    net_command = None
    monitoring = None


def probe() -> bool:
    """Looks the private names up; True when all that `suspend` needs are there."""
    if _Names.probed:
        return _Names.complete
    if "pydevd" not in sys.modules:
        return False
    _Names.probed = True
    bundle = "_pydevd_bundle."
    _Names.get_debugger = _find(bundle + "pydevd_constants", "get_global_debugger")
    _Names.thread_id = _find(bundle + "pydevd_constants", "get_current_thread_id")
    _Names.thread_info = _find(
        bundle + "pydevd_additional_thread_info", "set_additional_thread_info"
    )
    _Names.schema = _find(bundle + "_debug_adapter.pydevd_base_schema", "BaseSchema")
    _Names.net_command = _find(bundle + "pydevd_net_command", "NetCommand")
    monitored = _find(bundle + "pydevd_constants", "PYDEVD_USE_SYS_MONITORING")
    if monitored:
        _Names.monitoring = _find("_pydevd_sys_monitoring", "pydevd_sys_monitoring")
    can_guard = not monitored or hasattr(_Names.monitoring, "suspend_current_thread_tracing")
    debugger = debugger_object()
    _Names.complete = bool(
        can_guard
        and _Names.thread_info
        and hasattr(debugger, "set_suspend")
        and hasattr(debugger, "do_wait_suspend")
    )
    return _Names.complete


def _find(module: str, name: str):
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


def debugger_object():
    """debugpy's one debugger of this process, or None."""
    probe()
    return _Names.get_debugger() if _Names.get_debugger else None


def attached() -> bool:
    """Whether a client is there to stop for."""
    debugger = debugger_object()
    if debugger is None:
        return False
    check = getattr(sys.modules.get("pydevd"), "_is_attached", None)
    return bool(check()) if check else True


def send_event(body: dict) -> None:
    """Sends the custom event `scanpoint` to the client."""
    debugger = debugger_object()
    if debugger is None or _Names.net_command is None:
        return
    event = {"type": "event", "event": "scanpoint", "body": body}
    debugger.writer.add_command(_Names.net_command(0, 0, event, is_json=True))


def thread_id(thread: threading.Thread | None = None) -> int | None:
    """The id that the client knows a thread by."""
    probe()
    if _Names.thread_id is None or _Names.schema is None:
        return None
    own = _Names.thread_id(thread or threading.current_thread())
    return _Names.schema._translate_id_to_dap(own)


def object_id(client_id: int) -> object:
    """debugpy's own id of a frame or variable that the client names by a number; raises KeyError."""
    probe()
    if _Names.schema is None:
        raise KeyError(client_id)
    return _Names.schema._translate_id_from_dap(client_id)


def suspend(frame: FrameType) -> bool:
    """Stops the current thread in `frame` until the client resumes it; False when it can't be."""
    if not probe():
        return False
    debugger = debugger_object()
    thread = threading.current_thread()
    info = _Names.thread_info(thread)
    with _untraced(info):
        try:
            debugger.set_suspend(thread, _FUNCTION_BREAK)
            debugger.do_wait_suspend(thread, frame, "line", None)
        except Exception:  # noqa: BLE001 - a thread left half suspended would stop at its next line
            info.pydev_state = _STATE_RUN
            return False
    return True


def show(code: CodeType) -> None:
    """Lets the client see frames of this code, also where it sees no frames of its library."""
    debugger = debugger_object()
    path = os.path.abspath(code.co_filename)
    try:
        debugger._in_project_scope_cache[(code.co_firstlineno, path, code)] = True
        for name in {code.co_filename, path, os.path.normcase(os.path.realpath(path))}:
            for forced in (True, False):
                key = (code.co_firstlineno, name, forced, code)
                debugger._apply_filter_cache[key] = False
    except (AttributeError, TypeError):
        pass  # the stop then shows the caller's frame only


@contextmanager
def _untraced(info):
    """No line of debugpy's or ours may be traced between asking for the stop and stopping."""
    monitoring = _Names.monitoring
    saved = monitoring.suspend_current_thread_tracing() if monitoring else False
    info.is_tracing += 1
    try:
        yield
    finally:
        info.is_tracing -= 1
        if saved:
            monitoring.resume_current_thread_tracing()


def suspend_at_next_line(frame: FrameType) -> None:
    """The public way to stop: at the next line of `frame`."""
    sys.modules["pydevd"].settrace(
        suspend=True,
        trace_only_current_thread=True,
        patch_multiprocessing=False,
        stop_at_frame=frame,
        notify_stdin=False,
    )


def version() -> str | None:
    """debugpy's version, where it is loaded."""
    return getattr(sys.modules.get("debugpy"), "__version__", None)
