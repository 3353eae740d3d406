"""What documents say that were read before, by their text, in `.ledger/parsed.json`: reading YAML is the slow part of
rendering. Losing it costs time only.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from feedback_ledger import __version__
from feedback_ledger.documents import Parsed, parse
from feedback_ledger.files import write_whole


class Memory:
    """Parses documents, each text once. Without a file it forgets when the process ends."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known = _read(path) if path is not None else {}
        self._used: dict[str, Any] = {}

    def parse(self, text: str, *, binary: bool) -> Parsed:
        """As `documents.parse`. Only what is in order, and what JSON can hold, is remembered."""
        key = hashlib.sha1(f"{binary} {text}".encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
        if key in self._known:
            self._used[key] = self._known[key]
            return Parsed(text, self._known[key], ())
        parsed = parse(text, binary=binary)
        if not parsed.problems:
            self._used[key] = parsed.data
        return parsed

    def save(self) -> None:
        """Keeps what was asked for since the start, and nothing else."""
        if self._path is None or self._used.keys() == self._known.keys():
            return
        kept = {key: data for key, data in self._used.items() if key in self._known or _is_plain(data)}
        write_whole(self._path, json.dumps({"version": __version__, "documents": kept}))
        self._known = kept


def _is_plain(data: Any) -> bool:
    try:
        json.dumps(data)
    except TypeError:
        return False
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        return dict(note["documents"]) if note["version"] == __version__ else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
