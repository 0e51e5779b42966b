"""Stands for the agent in the proxy's tests: answers every method from a table, stops where told."""

import json
import sys

CALLS = []


def call(text):
    """Answers one request by an event; `fake_answers` in `__main__` goes before the table below."""
    request = json.loads(text)
    CALLS.append(request)
    try:
        reply = {"id": request["id"], "result": _answer(request["method"], request["args"])}
    except Exception as error:  # noqa: BLE001 - a failure is an answer too
        reply = {"id": request["id"], "error": str(error)}
    if reply.get("result") != "no reply":
        send({"reply": reply})


def send(body):
    from _pydevd_bundle.pydevd_constants import get_global_debugger
    from _pydevd_bundle.pydevd_net_command import NetCommand

    event = {"type": "event", "event": "scanpoint", "body": body}
    get_global_debugger().writer.add_command(NetCommand(0, 0, event, is_json=True))


def stop(op="selective_scan", phase="entry", **words):
    """Suspends the caller as the agent does at a boundary."""
    import threading

    import pydevd
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
    from _pydevd_bundle.pydevd_constants import get_current_thread_id, get_global_debugger

    thread = threading.current_thread()
    number = BaseSchema._translate_id_to_dap(get_current_thread_id(thread))
    body = {
        "threadId": number,
        "reason": "breakpoint",
        "description": f"Paused at {op} {phase}",
        "phase": phase,
        "text": "because",
        "probeIds": [],
        "site": {"module": "layers.0.mixer", "op": op},
    }
    send({"stop": {**body, **words}})
    debugger = get_global_debugger()
    info = pydevd.set_additional_thread_info(thread)
    info.is_tracing += 1
    try:
        debugger.set_suspend(thread, 208)
        debugger.do_wait_suspend(thread, sys._getframe(1), "line", None)
    finally:
        info.is_tracing -= 1


class _Scan:
    t = 0


def _answer(method, args):
    answers = getattr(sys.modules["__main__"], "fake_answers", {})
    if method in answers:
        return answers[method](args)
    return _TABLE[method](args)


def _step(args):
    t = _Scan.t + args["by"]
    if not 0 <= t < 5:
        return {"t": _Scan.t, "stopped": False, "text": ""}
    _Scan.t = t
    return {"t": t, "stopped": True, "text": f"h of {t}"}


def _seek(args):
    _Scan.t = args["t"]
    return {"t": _Scan.t, "stopped": False, "text": ""}


def _open(args):
    _Scan.t = 0
    return {"length": 5, "t": 0, "stopped": False, "text": "difference 1e-7"}


def _rewrite(args):
    known = {
        "tensor": {"value": "float32 [2, 3]", "type": "Tensor", "hasOwnChildren": True},
        "": {"value": "rewritten", "type": "Tensor", "hasOwnChildren": True},
    }
    return {name: known[name] for name in args["names"] if name in known}


def _children(names):
    depth = ".".join(names)
    return [
        {"name": "shape", "value": f"[2, 3] at {depth}", "type": "", "children": False},
        {
            "name": "grad",
            "value": "float32 [2, 3]",
            "type": "Tensor",
            "children": True,
            "indexed": 2,
        },
    ]


_TABLE = {
    "start": lambda args: {"python": "3", "torch": None, "fallback": False},
    "detach": lambda args: {},
    "setProbes": lambda args: [
        {
            "id": p["id"],
            "verified": p["target"].get("glob") != "no.such",
            "message": "There is no such module.",
        }
        for p in args["probes"]
    ],
    "setFilters": lambda args: {},
    "rewrite": _rewrite,
    "variables": lambda args: _children([]),
    "children": lambda args: _children(
        [args["path"].get("id", "reference"), *args["path"]["names"]]
    ),
    "scopes": lambda args: [{"name": "Scan", "id": "scan"}, {"name": "Step", "id": "step"}],
    "entries": lambda args: [
        {
            "name": "h",
            "value": f"h at {_Scan.t} in {args['id']}",
            "type": "Tensor",
            "tensorId": "scan:h",
            "children": True,
        }
    ],
    "tensors": lambda args: {
        "site": {"module": ""},
        "stop": 1,
        "tensors": [],
        "leftOut": 0,
        "args": args,
    },
    "sites": lambda args: {"boundaries": [], "modules": [], "layers": 0, "names": {}},
    "openScan": _open,
    "stepScan": _step,
    "seekScan": _seek,
    "runScan": lambda args: {**_seek({"t": 3}), "stopped": True},
    "closeScan": lambda args: {},
}
