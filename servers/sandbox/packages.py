"""What may be installed into a sandbox: a package of the registry, or a file from a folder that the user allowed."""

import os
import re
from pathlib import Path

from servers.refusal import Code, Refusal
from servers.sandbox.messages import Install

VARIABLE = "WASMER_SANDBOX_PACKAGES"
REGISTRY_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_.-]*(@[=<>^~0-9a-zA-Z.*+-]+)?")
ENDINGS = (".wasm", ".webc")
LARGEST = 200 << 20


def folders() -> list[Path]:
    """The folders that the user allowed, as they really are."""
    return [Path(one).resolve() for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]


def find(package: str) -> Install | Refusal:
    """What to install for what was asked."""
    if package.endswith(ENDINGS):
        return _file(package)
    if REGISTRY_NAME.fullmatch(package):
        return Install(package, None)
    what = f"{package[:100]!r} is neither a package's name nor a .wasm or .webc file"
    return Refusal(Code.INVALID_ARGUMENTS, what, "Give a name such as wasmer/lua, or a file's path.")


def _file(package: str) -> Install | Refusal:
    allowed = folders()
    hint = (
        f"Use a file in {', '.join(map(str, allowed))}." if allowed else f"Ask the user to set {VARIABLE} to a folder."
    )
    for folder in allowed:
        try:
            path = (folder / package).resolve()
            there = path.is_relative_to(folder) and path.is_file()
        except (OSError, ValueError):
            there = False  # A name that no file can have: too long, or with a NUL character.
        if there:
            if path.stat().st_size > LARGEST:
                return Refusal(Code.TOO_LARGE, f"{path.name} has more than {LARGEST:,} bytes", "Give a smaller one.")
            return Install(path.stem, path.read_bytes())
    return Refusal(Code.NOT_ALLOWED, f"{package!r} is not in a folder that the user allowed", hint)
