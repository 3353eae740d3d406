"""Where source text is marked as the workaround for a finding."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from feedback_ledger.text import one_line, seen

_LARGEST = 1024 * 1024
"""In bytes; nobody writes such a file by hand, and what a bundler wrote marks nothing."""
_WORD = b"workaround"
_MARKER = re.compile(
    r"""\bworkaround(?::\s*|\(\s*["'])  # a comment, or a call
    (F-[0-9]{3,}\b(?:["']?\s*,\s*["']?F-[0-9]{3,}\b)*)""",
    re.VERBOSE,
)
_ID = re.compile(r"F-[0-9]+")
_NOT_OURS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True)
class Place:
    """One finding's marker: the finding's id, the file from the ledger's root as text that can be printed, and the
    line, from 1, on which the marker begins.
    """

    finding: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def find_places(root: Path, folders: Sequence[str]) -> list[Place]:
    """Every marker in the text files below `folders` of `root`, by file and line. What is hidden, installed, binary,
    larger than 1 MiB, outside of the root or can't be read is passed over.
    """
    inside = root.resolve()
    # folders may overlap, and a line may name a finding twice
    found = {place for folder in folders for path in _files(inside / folder) for place in _marked(inside, path)}
    return sorted(found, key=lambda place: (place.file, place.line, place.finding))


def ids_in(text: str) -> Iterator[tuple[str, int]]:
    """Every id that a marker in `text` names, and the line, from 1, on which that marker begins."""
    for marker in _MARKER.finditer(text):
        line = text.count("\n", 0, marker.start()) + 1
        yield from ((identifier, line) for identifier in _ID.findall(marker[1]))


def _files(folder: Path) -> Iterator[Path]:
    """Links to folders are not followed, as they may lead around in a circle."""
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _NOT_OURS]
        yield from (Path(above, name) for name in names)


def _marked(root: Path, path: Path) -> Iterator[Place]:
    data = _read(root, path)
    if _WORD in data and b"\0" not in data:
        shown = one_line(seen(os.fsencode(path.relative_to(root))))
        yield from (Place(finding, shown, line) for finding, line in ids_in(data.decode("utf-8", "replace")))


def _read(root: Path, path: Path) -> bytes:
    """The bytes of a file of ordinary size inside the root; nothing of any other."""
    try:
        if not path.resolve().is_relative_to(root) or not path.is_file() or path.stat().st_size > _LARGEST:
            return b""
        return path.read_bytes()
    except (OSError, RuntimeError):  # it went away meanwhile, may not be read, or links lead in a circle
        return b""
