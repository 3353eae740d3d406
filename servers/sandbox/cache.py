"""The folder of compiled modules. What lies in it is native code that gets executed, so nobody else may write there."""

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

VARIABLE = "WASMER_SANDBOX_CACHE"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class Cache:
    """`temporary` folders go with the server. `note` says why the usual one was not used; empty if it was."""

    path: Path
    temporary: bool
    note: str


def find() -> Cache:
    """The user's cache folder, made private; a temporary one where that cannot be had."""
    wanted = Path(os.environ.get(VARIABLE) or platformdirs.user_cache_path("wasmer-sandbox")).absolute()
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        why = _why_not(wanted)
    except OSError as error:
        why = error.strerror or str(error)
    if not why:
        return Cache(wanted, temporary=False, note="")
    note = f"the cache folder cannot be used ({why}): modules are compiled anew at each start of the server"
    return Cache(Path(tempfile.mkdtemp(prefix="wasmer-sandbox-")), temporary=True, note=note)


def _why_not(folder: Path) -> str:
    told = folder.stat()
    if told.st_uid != os.geteuid():
        return "it belongs to another user"
    if told.st_mode & OTHERS_MAY_WRITE:
        return "other users may write to it; chmod 700 it"
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(b"\0")
    return ""


def remove(cache: Cache) -> None:
    """Removes a temporary cache; leaves the user's alone."""
    if cache.temporary:
        shutil.rmtree(cache.path, ignore_errors=True)
