"""Which frames are the person's own code: neither PyTorch's, nor debugpy's, nor ours."""

from __future__ import annotations

import os
import sys
from types import FrameType

_LIBRARIES = ("torch", "debugpy", "pydevd", __package__)


def is_users(path: str) -> bool:
    """Whether a file is none of those libraries', and a file at all."""
    if path.startswith("<"):
        return False
    return not os.path.abspath(path).startswith(tuple(_folders()))


def _folders() -> list[str]:
    files = (getattr(sys.modules.get(name), "__file__", None) for name in _LIBRARIES)
    found = [os.path.dirname(os.path.abspath(file)) for file in files if file]
    # pydevd is a module in a folder of many.
    return [folder + os.sep for folder in found]


def innermost(frame: FrameType | None) -> FrameType | None:
    """The innermost of the person's frames from `frame` outwards."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame
