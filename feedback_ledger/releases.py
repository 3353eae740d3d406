"""The releases of a target: which one is tested, which are published, as the user's own package client sees them."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Sequence

from feedback_ledger.errors import UsageError
from feedback_ledger.fields import RELEASE
from feedback_ledger.ordering import in_order, in_range
from feedback_ledger.requirements import command_version
from feedback_ledger.targets import Target
from feedback_ledger.vocabulary import Ecosystem

_ASK_LIMIT_S = 120.0
_UNREACHABLE = re.compile(r"connection broken by .*?>: (?P<why>[^'\"]+)")
_NOISE = re.compile(r"npm error A complete log|\s*$")
_NPM_CODE = re.compile(r"(?:code|errno|syscall) \S+$")


def tested(target: Target) -> str | None:
    """The release that is tested when nobody names one; None if the target has no releases or its command is not
    there.
    """
    if target.release is not None:
        return target.release
    if target.folders:
        return in_order(target.folders)[-1]
    if target.ecosystem is Ecosystem.COMMAND and target.version_command:
        return command_version(target.version_command)
    return None


def latest(name: str, target: Target) -> str | None:
    """The newest published release. Raises UsageError if the index can't tell."""
    found = published(name, target)
    return found[-1] if found else tested(target)


def published(name: str, target: Target) -> list[str]:
    """Every release from the target's `since` on, oldest first; none for a service. Raises UsageError if the index
    can't tell.
    """
    match target.ecosystem:
        case Ecosystem.PYPI:
            found = _from_pip(name, str(target.package))
        case Ecosystem.NPM:
            found = _from_npm(name, str(target.package))
        case Ecosystem.COMMAND:
            found = list(target.folders)
        case Ecosystem.SERVICE:
            found = []
    return [release for release in in_order(found) if target.since is None or in_range(release, f"{target.since}..")]


def _from_pip(name: str, package: str) -> list[str]:
    if importlib.util.find_spec("pip") is None:
        raise UsageError(
            f"asking for the releases of {name} takes pip, which is not beside this program; install it there"
        )
    said = _ask(name, [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", package])
    found = re.search(r"(?m)^Available versions: *(\S.*)$", said)
    if found is None:
        raise UsageError(f"the package index names no release of {package}, the package of target {name}")
    return [release.strip() for release in found.group(1).split(",")]


def _from_npm(name: str, package: str) -> list[str]:
    said = _ask(name, ["npm", "view", "--fetch-retries=1", package, "versions", "--json"])
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    releases = [found] if isinstance(found, str) else found
    if not isinstance(releases, list) or not releases or not all(map(_is_release, releases)):
        raise UsageError(f"the package index did not say the releases of {name} in a way that can be read")
    # as pip does: a pre-release is tested only by those who name it
    return [release for release in releases if "-" not in release]


def _is_release(said: object) -> bool:
    return isinstance(said, str) and re.fullmatch(RELEASE, said) is not None


def _ask(name: str, command: Sequence[str]) -> str:
    try:
        said = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"the package index can't be asked for the releases of {name}: {error}") from error
    if said.returncode != 0:
        raise UsageError(f"the package index did not say the releases of {name}: {_why(said.stderr)[:300]}")
    return said.stdout


def _why(stderr: str) -> str:
    """The line that tells: pip names an unreachable index only in a warning, npm ends with where its log is."""
    if unreachable := _UNREACHABLE.search(stderr):
        return unreachable["why"]
    lines = [" ".join(line.split()) for line in stderr.splitlines() if not _NOISE.match(line)]
    npm = [line.removeprefix("npm error ") for line in lines if line.startswith("npm error ")]
    if npm:
        return next((line for line in npm if not _NPM_CODE.match(line)), npm[0])
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1]
