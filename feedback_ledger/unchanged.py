"""Whether anything has changed since the last build in which everything was as recorded; if not, there is nothing to
do.

It looks at what a build reads and writes, by content, with the standard library only: finding out costs less than
importing what a build needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from feedback_ledger import __version__

_READ = ("findings", "reproducers", "templates", "pyproject.toml", "ledger.toml", "FEEDBACK.md")


def last_report(arguments: Sequence[str]) -> str | None:
    """What the last build of a ledger printed, if `arguments` ask for just another one and nothing has changed."""
    try:
        root = _root_of_a_plain_build(arguments)
        if root is None:
            return None
        note = json.loads(_note(root).read_text(encoding="utf-8"))
        # settings that name a folder which has gone are bad, and a build has to say so
        same = note["state"] == _state(root) and all((root / folder).is_dir() for folder in note["folders"])
        return str(note["report"]) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(root: Path, report: str, folders: Sequence[str] = ()) -> None:
    """Notes that a build has just left everything as recorded, what to print next time, and which folders must still
    be there then.
    """
    _note(root).parent.mkdir(exist_ok=True)
    note = {"state": _state(root), "report": report, "folders": list(folders)}
    _note(root).write_text(json.dumps(note), encoding="utf-8")


def forget(root: Path) -> None:
    """Makes the next build look again."""
    _note(root).unlink(missing_ok=True)


def _note(root: Path) -> Path:
    return root / ".ledger" / "unchanged.json"


def _root_of_a_plain_build(arguments: Sequence[str]) -> Path | None:
    match list(arguments):
        case [] | ["build"]:
            return Path.cwd()
        case ["--root", folder] | ["--root", folder, "build"] | ["build", "--root", folder]:
            return Path(folder).resolve()
    return None


def _state(root: Path) -> str:
    digest = hashlib.sha256(repr((__version__, sys.version, platform.machine())).encode())
    for entry in _engine():
        digest.update(f"{entry.name}\0{entry.stat().st_mtime_ns}\0".encode())
    for path in sorted(_files(root)):
        digest.update(f"{path}\0{os.access(path, os.X_OK)}\0".encode(errors="surrogateescape"))
        digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()


def _engine() -> list[os.DirEntry[str]]:
    with os.scandir(Path(__file__).parent) as entries:
        return sorted((entry for entry in entries if entry.name.endswith(".py")), key=lambda entry: entry.name)


def _files(root: Path) -> Iterator[str]:
    for name in _READ:
        place = str(root / name)
        if os.path.isfile(place):
            yield place
        for folder, _, names in os.walk(place):
            yield from (f"{folder}/{inside}" for inside in names)
