"""The releases of a target: which one is tested, which are published."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from feedback_ledger.errors import UsageError
from feedback_ledger.model import Ecosystem, Target
from feedback_ledger.requirements import command_version

_ASK_LIMIT_S = 120.0


def tested(target: Target) -> str | None:
    """The release that is tested when nobody names one; None if the target has no releases or its command is not
    there.
    """
    if target.release is not None:
        return target.release
    if target.ecosystem is Ecosystem.COMMAND and target.version_command:
        return command_version(target.version_command)
    return None


def latest(name: str, target: Target) -> str | None:
    """The newest published release, as the user's own package client sees it. Raises UsageError if it can't tell."""
    match target.ecosystem:
        case Ecosystem.PYPI:
            said = _ask(name, [sys.executable, "-m", "pip", "index", "versions", str(target.package)])
            found = re.search(r"(?m)^Available versions: *([^,\s]+)", said)
            newest = found.group(1) if found else None
        case Ecosystem.NPM:
            newest = json.loads(_ask(name, ["npm", "view", str(target.package), "version", "--json"]))
        case Ecosystem.COMMAND | Ecosystem.SERVICE:
            return tested(target)
    if not isinstance(newest, str):
        raise UsageError(f"the package index names no release of {target.package}, the package of target {name}")
    return newest


def _ask(name: str, command: list[str]) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=_ASK_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"the package index can't be asked for the releases of {name}: {error}") from error
    if said.returncode != 0:
        why = " ".join(said.stderr.split())[-300:]
        raise UsageError(f"the package index did not say the releases of {name}: {why}")
    return said.stdout
