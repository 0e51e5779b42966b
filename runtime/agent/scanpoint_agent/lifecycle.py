"""Start and end of the agent in a process, and what a fork leaves of it."""

from __future__ import annotations

import os
import platform
from typing import ClassVar

from . import calls, imports, leave, modules, probes, pydevd, steps, unfuse, wrap
from .guarded import torch


class _State:
    started = False
    settings: ClassVar[dict] = {}


def start(args: dict) -> dict:
    """Looks for boundaries from now on. Says what is there: versions, the process, the fallback."""
    settings = args.get("settings") or {}
    _State.settings = settings
    imports.configure(settings.get("scanFunctions") or [])
    unfuse.configure(bool(settings.get("unfuse")))
    if not _State.started:
        _State.started = True
        imports.on_found(probes.found)
        modules.on_model.append(probes.recheck)
        imports.on_torch(_torch_is_there)
    imports.install()
    _torch_is_there()
    return {
        "python": platform.python_version(),
        "torch": str(getattr(torch(), "__version__", "")) or None,
        "debugpy": pydevd.version(),
        "pid": os.getpid(),
        "fallback": not pydevd.probe(),
    }


def settings() -> dict:
    """The settings of the session, as `start` got them."""
    return _State.settings


def _torch_is_there() -> None:
    """What has to wait until the program has imported PyTorch."""
    steps.watch()
    modules.refresh()


def detach(_args: dict) -> dict:
    """Disarms everything: the program goes on as if we had never been there."""
    probes.clear()
    leave.off()
    for listeners in (calls.handlers, calls.observers, modules.observers, modules.breakpoints):
        listeners.clear()
    unfuse.configure(False)
    imports.uninstall()
    wrap.unwrap_all()
    calls.reset()
    steps.reset()
    return {}


METHODS = {"start": start, "detach": detach}
