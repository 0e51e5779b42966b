"""Events to the proxy. They leave through debugpy's writer, so that no port of our own is needed."""

from __future__ import annotations

import math
from typing import Callable

from . import pydevd

Transport = Callable[[dict], None]


class _State:
    """Where bodies go; tests put a recorder here."""

    transport: Transport = pydevd.send_event


def send(body: dict) -> None:
    """Sends one body ({"reply"}, {"stop"}, {"output"}, ...); never raises."""
    try:
        _State.transport(strict(body))
    except Exception:  # noqa: BLE001, S110 - the connection may be gone, the program goes on
        pass


def output(text: str, category: str = "important") -> None:
    """Writes one line to the Debug Console."""
    send({"output": {"text": text.rstrip("\n") + "\n", "category": category}})


def record(into: list) -> Callable[[], None]:
    """Collects bodies in a list instead of sending them; gives what undoes it."""
    before = _State.transport
    _State.transport = into.append

    def undo() -> None:
        _State.transport = before

    return undo


def strict(value: object) -> object:
    """The value as strict JSON takes it: NaN and infinities become null, unknown objects text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return str(value)
