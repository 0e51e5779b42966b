"""A list that tells when it becomes empty or stops being so."""

from __future__ import annotations

from typing import Callable


class Watched(list):
    """A list of callables; `changed` is called after each change of its length."""

    def __init__(self, changed: Callable[[], None]):
        super().__init__()
        self._changed = changed

    def append(self, item) -> None:
        super().append(item)
        self._changed()

    def remove(self, item) -> None:
        super().remove(item)
        self._changed()

    def clear(self) -> None:
        super().clear()
        self._changed()

    def replace(self, items) -> None:
        """Puts other items in, all at once."""
        self[:] = items
        self._changed()

    def discard(self, item) -> None:
        """Removes an item if it is there."""
        if item in self:
            self.remove(item)
