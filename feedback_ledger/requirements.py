"""What this machine has: which requirements are met, which versions are in force."""

from __future__ import annotations

import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

from packaging.version import InvalidVersion, Version

from feedback_ledger.targets import Requirement

_PROBE_LIMIT_S = 20.0


def described(need: Requirement) -> str:
    """What a requirement asks for, in words; the same on every machine."""
    parts = []
    if need.command:
        least = f", version {need.min_version} or later" if need.min_version else ""
        parts.append(f"the command `{need.command}`{least}")
    if need.env:
        parts.append(f"the variable `{need.env}`")
    if need.tcp:
        parts.append(f"a service at `{need.tcp}`")
    if need.platform:
        parts.append(f"a {need.platform} machine")
    return " and ".join(parts) + (f" ({need.about})" if need.about else "")


def unmet(need: Requirement, environ: Mapping[str, str]) -> str:
    """What this machine lacks of a requirement, in words; empty if it is met."""
    if need.platform and sys.platform != need.platform.lower():
        return f"needs a {need.platform} machine, this one is {sys.platform}"
    if need.env and not environ.get(need.env):
        return f"needs the variable {need.env}, which is not set"
    if need.command:
        if shutil.which(need.command) is None:
            return f"needs the command {need.command}, which is not on the PATH"
        version = command_version([need.command, "--version"]) if need.min_version else None
        if need.min_version and not _at_least(version, need.min_version):
            return f"needs {need.command} {need.min_version} or later, found {version or 'no version'}"
    if need.tcp and not _accepts(need.tcp):
        return f"needs a service at {need.tcp}, which does not answer"
    return ""


def command_version(command: Sequence[str]) -> str | None:
    """The first version number that a command prints; None if it can't be run or prints none."""
    try:
        said = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_LIMIT_S,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(?:\.\d+)+(?:[-+.]?[0-9A-Za-z]+)*", said.stdout or said.stderr)
    return found.group(0) if found else None


def _at_least(version: str | None, least: str) -> bool:
    try:
        return version is not None and Version(version) >= Version(least)
    except InvalidVersion:
        return False


def _accepts(place: str) -> bool:
    host, _, port = place.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=3):
            return True
    except OSError:
        return False


def libc() -> str | None:
    """The C library and its version, such as `glibc 2.36`; None where that has no meaning."""
    name, version = platform.libc_ver()
    return f"{name} {version}" if name else None


def machine() -> str:
    """The system and the kind of processor, such as `linux x86_64`; no kernel, which tells nothing."""
    return f"{sys.platform} {platform.machine()}"
