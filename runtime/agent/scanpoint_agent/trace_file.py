"""Where the lines of the trace log go: the client's output channel, and a file of bounded size."""

from __future__ import annotations

import json
import os
import time

from . import channel

MAX_BYTES = 64 << 20
# The channel shows at most so many lines in a second; the file has all.
LINES_PER_SECOND = 200


class Sink:
    """Takes lines until the file is full; a process that was forked off writes to the channel only."""

    def __init__(self, file: str | None, max_bytes: int = MAX_BYTES):
        self._file = open(file, "a", encoding="utf-8") if file else None  # noqa: SIM115
        self._left = max_bytes
        self._process = os.getpid()
        self._second, self._shown, self._dropped = 0, 0, 0

    def put(self, line) -> None:
        """Writes one line."""
        self._write(line)
        second = int(time.monotonic())
        if second != self._second:
            self._tell_dropped()
            self._second, self._shown = second, 0
        if self._shown < LINES_PER_SECOND:
            self._shown += 1
            channel.send({"trace": {**line.record(), "text": line.text()}})
        else:
            self._dropped += 1

    def _write(self, line) -> None:
        if self._file is None or os.getpid() != self._process:
            return
        text = json.dumps(channel.strict(line.record()), allow_nan=False) + "\n"
        self._left -= len(text.encode())
        if self._left < 0:
            channel.output(f"Scanpoint: the trace file {self._file.name} is full; it ends here.")
            self.close()
            return
        self._file.write(text)

    def _tell_dropped(self) -> None:
        if self._dropped:
            text = f"{self._dropped:,} more lines were not shown"
            channel.send({"trace": {"text": text, "dropped": self._dropped}})
            self._dropped = 0

    def flush(self) -> None:
        """What was written is in the file."""
        if self._file is not None and os.getpid() == self._process:
            self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        self._tell_dropped()
        if self._file is not None:
            self._file.close()
            self._file = None
