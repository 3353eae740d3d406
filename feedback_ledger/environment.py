"""The interpreter and packages that a run needs, built once for each set and shared."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from feedback_ledger.files import write_whole
from feedback_ledger.packages import Wanted
from feedback_ledger.processes import Interrupted, Job, NotRun, Supervisor, ask
from feedback_ledger.redact import Redactor
from feedback_ledger.requirements import command_version
from feedback_ledger.vocabulary import Ecosystem, Verdict

_INSTALL_LIMIT_S = 900.0
_LOOK_S = 0.02
_NOISE = re.compile(r"npm error A complete log|npm error\s+/.*\.log$|npm warn")
_NOT_HERE = (
    "No solution found",
    "No interpreter found",
    "No virtual environment or system",
    "npm error code ETARGET",
    "npm error code E404",
    "npm error code EBAD",
)


@dataclass(frozen=True)
class Unavailable:
    """Why there is no environment, and what that makes of the run: `blocked` if it can't be had here, else `broken`."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Environment:
    """A built environment: its folder, the version of its interpreter, and the packages in it by canonical name."""

    folder: Path
    ecosystem: Ecosystem
    interpreter: str
    packages: Mapping[str, str]

    @property
    def commands(self) -> Path:
        """The folder of its commands."""
        return self.folder / ("bin" if self.ecosystem is Ecosystem.PYPI else "node_modules/.bin")

    @property
    def python(self) -> Path | None:
        """Its Python, if it has one."""
        return self.folder / "bin" / "python" if self.ecosystem is Ecosystem.PYPI else None

    @property
    def modules(self) -> Path | None:
        """The folder in which a JavaScript program beside it finds its packages."""
        return self.folder / "node_modules" if self.ecosystem is Ecosystem.NPM else None


def folder_of(wanted: Wanted, folder: Path) -> Path:
    """Where the environment of a set of packages is, below the folder of all of them."""
    return folder / wanted.key((sys.version_info[:2], platform.machine()))


class Environments:
    """Builds environments below a cache folder, with uv and npm. Safe in several threads and processes at once."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder
        self._redactor = redactor

    def get(self, wanted: Wanted, supervisor: Supervisor) -> Environment | Unavailable:
        """The environment for a set of packages, built if it is not there yet."""
        folder = folder_of(wanted, self._folder)
        ready = _read_ready(folder)
        if ready is not None:
            return ready
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_suffix(".lock"), supervisor):
            ready = _read_ready(folder)
            return ready if ready is not None else self._build(wanted, folder, supervisor)

    def _build(self, wanted: Wanted, folder: Path, supervisor: Supervisor) -> Environment | Unavailable:
        steps = _npm_steps(wanted, folder) if wanted.ecosystem is Ecosystem.NPM else _uv_steps(wanted, folder)
        if isinstance(steps, Unavailable):
            return steps
        shutil.rmtree(folder, ignore_errors=True)
        for step in steps:
            said = ask(supervisor, Job(step, folder.parent, os.environ, _INSTALL_LIMIT_S, folder=folder))
            if not said.ok:
                shutil.rmtree(folder, ignore_errors=True)
                why = said.ended.reason if isinstance(said.ended, NotRun) else said.stderr
                return self._unavailable(why)
        try:
            environment = _looked_at(wanted, folder)
        except (OSError, ValueError, KeyError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            return self._unavailable(f"the installer said that it was done, but left no {wanted.named}: {error}")
        note = {"wanted": wanted.requirements, "ecosystem": wanted.ecosystem, "interpreter": environment.interpreter}
        write_whole(folder / "ready.json", json.dumps({**note, "packages": environment.packages}, indent=1))
        return environment

    def _unavailable(self, stderr: str) -> Unavailable:
        kept = "\n".join(line for line in stderr.splitlines() if not _NOISE.match(line))
        kept = re.sub(r"\n\s*cause: ", ": ", kept)
        words = " ".join(re.sub(r"(?m)^[\s×╰├│─▶]+|^(?:error|hint): |^npm error ", "", kept).split())
        verdict = Verdict.BLOCKED if any(sign in stderr for sign in _NOT_HERE) else Verdict.BROKEN
        return Unavailable(verdict, self._redactor.text(words)[:600] or "the installer failed without a word")


def _uv_steps(wanted: Wanted, folder: Path) -> list[tuple[str, ...]] | Unavailable:
    uv = find_uv()
    if uv is None:
        return Unavailable(Verdict.BROKEN, "there is no uv; install the package `uv` beside this program")
    fits = SpecifierSet(wanted.requires_python).contains(platform.python_version(), prereleases=True)
    python = sys.executable if fits else wanted.requires_python
    steps: list[tuple[str, ...]] = [
        (uv, "venv", "--quiet", "--no-project", "--no-python-downloads", "--python", python, str(folder))
    ]
    if wanted.requirements:
        inside = str(folder / "bin" / "python")
        steps.append((uv, "pip", "install", "--quiet", "--python", inside, *wanted.requirements))
    return steps


def _npm_steps(wanted: Wanted, folder: Path) -> list[tuple[str, ...]] | Unavailable:
    npm = shutil.which("npm")
    if npm is None:
        return Unavailable(Verdict.BLOCKED, "needs npm, which is not on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--no-save", "--loglevel=error", "--ignore-scripts")
    install = (npm, "install", *quiet, "--prefix", str(folder), "--", *wanted.requirements)
    return [install] if wanted.requirements else []


def _looked_at(wanted: Wanted, folder: Path) -> Environment:
    if wanted.ecosystem is Ecosystem.NPM:
        (folder / "node_modules").mkdir(parents=True, exist_ok=True)
        found = {name: _npm_version(folder / "node_modules" / name) for name in wanted.named}
        return Environment(folder, Ecosystem.NPM, command_version(["node", "--version"]) or "unknown", found)
    return Environment(folder, Ecosystem.PYPI, _python_of(folder), _packages_of(folder))


def _npm_version(package: Path) -> str:
    return str(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"])


def find_uv() -> str | None:
    """The installer: the one beside this interpreter, else the one on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def _read_ready(folder: Path) -> Environment | None:
    try:
        note = json.loads((folder / "ready.json").read_text(encoding="utf-8"))
        environment = Environment(folder, Ecosystem(note["ecosystem"]), note["interpreter"], note["packages"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # An interpreter that was upgraded or removed leaves a dangling link.
    return environment if environment.python is None or environment.python.exists() else None


def _python_of(folder: Path) -> str:
    said = (folder / "pyvenv.cfg").read_text(encoding="utf-8")
    found = re.search(r"(?m)^version(?:_info)? *= *(\S+)", said)
    return found.group(1) if found else platform.python_version()


def _packages_of(folder: Path) -> dict[str, str]:
    """By the names of their .dist-info folders, which the installer makes in this form."""
    found = (path.stem.rpartition("-") for path in folder.glob("lib/python*/site-packages/*.dist-info"))
    return {str(canonicalize_name(name)): version for name, _, version in sorted(found)}


@contextlib.contextmanager
def _locked(path: Path, supervisor: Supervisor) -> Iterator[None]:
    with path.open("w") as file:
        while not _lock(file):
            if supervisor.closed:
                raise Interrupted
            time.sleep(_LOOK_S)
        yield


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
