"""Writes a file whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def write_whole(path: Path, text: str) -> None:
    """Puts `text` into `path` in one step: a reader, or a crash, sees the old file or the new one. An OSError names
    `path`, which those of a full disk don't by themselves.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _held(draft) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            os.chmod(draft, 0o644)
            os.replace(draft, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextlib.contextmanager
def _held(draft: Path) -> Iterator[IO[bytes]]:
    """An empty file that no other process writes to. It has one name, so that one which a crash left is used again."""
    while True:
        with draft.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                if not os.path.samestat(draft.stat(), os.fstat(file.fileno())):
                    continue
            except FileNotFoundError:
                continue  # who held it before has put it in place
            file.truncate(0)
            try:
                yield file
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
            return
