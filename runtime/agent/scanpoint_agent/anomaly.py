"""What PyTorch's anomaly mode knows of the gradient that is being computed."""

from __future__ import annotations

from . import guarded
from .userframes import is_users


def beside() -> str:
    """The node of autograd that runs now and where its forward was called; "" outside of one."""
    node = _current_node()
    if node is None:
        return ""
    lines = forward_lines(node)
    where = f", whose forward was called at {lines[-1]}" if lines else ""
    return f"It is inside {node.name()}{where}."


def _current_node():
    current = getattr(guarded.torch()._C, "_current_autograd_node", None)
    return current() if current else None


def forward_lines(node) -> list[str]:
    """The stack of the forward call, outermost first, where anomaly mode has kept it."""
    kept = node.metadata.get("traceback_") or []
    text = "".join(kept).splitlines()
    return [
        _place(line) for line in text if line.startswith("  File ") and is_users(line.split('"')[1])
    ]


def _place(line: str) -> str:
    """`  File "a.py", line 3, in f` -> `a.py:3`."""
    path, number = line.split('"')[1], line.split(", line ")[1].split(",")[0]
    return f"{path}:{number.strip()}"
