"""From the text of one request to the function that answers it."""

from __future__ import annotations

import importlib
import json

from . import channel

# Which module answers a method; the function is found in the module's METHODS, by the same name.
MODULES = {
    "start": "lifecycle",
    "detach": "lifecycle",
    "setProbes": "probes",
    "lastStop": "stops",
    "setFilters": "nonfinite",
    "variables": "inspect_",
    "rewrite": "inspect_",
    "children": "inspect_",
    "scopes": "inspect_",
    "entries": "inspect_",
    "tensors": "inspect_",
    "gradients": "inspect_",
    "sites": "inspect_",
    "tensorData": "window",
    "openScan": "replay",
    "seekScan": "replay",
    "stepScan": "replay",
    "runScan": "replay",
    "closeScan": "replay",
    "findOrigin": "origin",
    "trace": "trace",
}


def call(text: str) -> None:
    """Answers one request {"id", "method", "args"}, given as JSON, by an event; never raises."""
    number = None
    try:
        request = json.loads(text)
        number = request["id"]
        function = find(request["method"])
        reply = {"id": number, "result": function(request.get("args") or {})}
    except Exception as error:  # noqa: BLE001 - the caller is a person's process
        reply = {"id": number, "error": sentence(error)}
    channel.send({"reply": reply})


def find(method: str):
    """The function `dict -> result` of a method; a ValueError says that there is none."""
    name = MODULES.get(method)
    if name is None:
        raise ValueError(f"The agent has no method {method!r}.")
    try:
        module = importlib.import_module(f"{__package__}.{name}")
        return module.METHODS[method]
    except (ImportError, AttributeError, KeyError) as error:
        raise ValueError(f"{method} is not available: {error}.") from error


def sentence(error: BaseException) -> str:
    """One sentence for a person: what an exception says, or its type where it says nothing."""
    text = " ".join(str(error).split())[:500]
    kind = type(error).__name__
    if isinstance(error, ValueError) and text:
        return text
    return f"{kind}: {text}" if text else f"{kind}."
