"""Programs that npm publishes, for the tests that drive our servers with other people's clients."""

from __future__ import annotations

import fcntl
import functools
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

_KEPT = Path(__file__).parents[1] / ".ledger" / "npm-tools"
_INSTALL_S = 180.0
_SPEC = re.compile(r"(?P<name>(?:@[a-z0-9._-]+/)?[a-z0-9._-]+)@(?P<version>\d+\.\d+\.\d+[\w.+-]*)")


def npm_tool(package_spec: str) -> Path:
    """The folder of a package such as `@scope/name@1.2.3`, installed once and kept; no script of it is run.

    Skips the test that asks, with a reason, where npm cannot install it. ValueError if no exact version is given.
    """
    folder, problem = _installed(package_spec)
    if folder is None:
        pytest.skip(f"npm cannot install {package_spec} here: {problem}")
    return folder


def node(major: int = 22) -> str:
    """A Node of at least that version: the machine's own, else, for 22, the one from npm. Skips where there is none."""
    found = shutil.which("node")
    if found:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
        version = re.match(r"v(\d+)\.", said)
        if version and int(version[1]) >= major:
            return found
    processor = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine())
    if major > 22 or processor is None or sys.platform not in ("linux", "darwin"):
        pytest.skip(f"needs Node {major} or later on the PATH")
    return str(npm_tool(f"node-{sys.platform}-{processor}@22.23.5") / "bin" / "node")


@functools.cache
def _installed(package_spec: str) -> tuple[Path | None, str]:
    """The package's folder, or None and why; a failure is not tried again by this process."""
    parsed = _SPEC.fullmatch(package_spec)
    if parsed is None:
        raise ValueError(f"{package_spec!r}: name an exact version, such as @scope/name@1.2.3")
    home = _KEPT / package_spec.replace("/", "+")
    package = home / "node_modules" / parsed["name"]
    if (package / "package.json").is_file():
        return package, ""
    npm = shutil.which("npm")
    if npm is None:
        return None, "npm is not on the PATH"
    _KEPT.mkdir(parents=True, exist_ok=True)
    with (_KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test processes at once install it once
        if (package / "package.json").is_file():
            return package, ""
        fresh = tempfile.mkdtemp(dir=_KEPT, prefix="new-")
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        try:
            done = subprocess.run(
                [npm, "install", "--prefix", fresh, *quiet, package_spec],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_INSTALL_S,
                check=False,
            )
            if done.returncode != 0:
                lines = (done.stderr or done.stdout).strip().splitlines()
                return None, lines[0] if lines else f"npm ended with {done.returncode}"
            shutil.rmtree(home, ignore_errors=True)
            Path(fresh).rename(home)
        except subprocess.TimeoutExpired:
            return None, f"not done within {_INSTALL_S:g} s"
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return package, ""
