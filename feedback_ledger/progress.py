"""One line on a terminal that says what is being run; nothing at all in a pipe."""

from __future__ import annotations

import shutil
import threading
from typing import TextIO


class Progress:
    """Listens to a session. Drawn on `stream` only if that is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._due = 0
        self._running: dict[str, int] = {}
        self._done = 0
        self._lock = threading.Lock()
        self._drawn = stream.isatty()

    def __call__(self, what: str, name: str) -> None:
        """Hears that work on a finding is due, has started or is done."""
        with self._lock:
            self._due += what == "due"
            self._running[name] = self._running.get(name, 0) + (what == "start") - (what == "done")
            self._done += what == "done"
            now = ", ".join(name for name, count in self._running.items() if count)
            self._draw(f"{self._done}/{self._due} done{'; running ' + now if now else ''}")

    def clear(self) -> None:
        """Removes the line."""
        self._draw("")

    def _draw(self, line: str) -> None:
        if self._drawn:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{line[:width]}")
            self._stream.flush()
