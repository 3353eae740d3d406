"""The interpreter and packages that a run needs, built once for each set and shared."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from feedback_ledger.model import Verdict
from feedback_ledger.processes import Interrupted, Job, NotRun, Supervisor, ask
from feedback_ledger.redact import Redactor
from feedback_ledger.store import write_whole

_INSTALL_LIMIT_S = 900.0
_LOOK_S = 0.02
_HEADER = re.compile(r"(?m)^# /// script\s*$\n(?P<content>(?:^#(?:| .*)$\n)+?)^# ///\s*$")
_NOT_HERE = ("No solution found", "No interpreter found", "No virtual environment or system")


@dataclass(frozen=True)
class Header:
    """What a reproducer's PEP 723 header says it needs."""

    requires_python: str = ""
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unavailable:
    """Why there is no environment, and what that makes of the run: `blocked` if it can't be had here, else `broken`."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Environment:
    """A built environment: its folder, the version of its interpreter, and every package in it by canonical name."""

    folder: Path
    python: str
    packages: Mapping[str, str]

    @property
    def bin(self) -> Path:
        """The folder of its commands."""
        return self.folder / "bin"


@dataclass(frozen=True)
class Wanted:
    """A set of packages for an interpreter; equal sets share one environment."""

    requires_python: str
    requirements: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name of its folder."""
        said = json.dumps([sys.version_info[:2], platform.machine(), self.requires_python, self.requirements])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def read_header(program: str) -> Header | Unavailable:
    """The PEP 723 header of a Python program; without one it needs nothing."""
    blocks = list(_HEADER.finditer(program))
    if not blocks:
        return Header()
    if len(blocks) > 1:
        return Unavailable(Verdict.BROKEN, "the reproducer has two `# /// script` headers; keep one")
    lines = blocks[0]["content"].splitlines(keepends=True)
    try:
        data = tomllib.loads("".join(line[2:] if line.startswith("# ") else line[1:] for line in lines))
        header = Header(str(data.get("requires-python", "")), tuple(map(str, data.get("dependencies", ()))))
        SpecifierSet(header.requires_python)
        for dependency in header.dependencies:
            Requirement(dependency)
    except (tomllib.TOMLDecodeError, InvalidSpecifier, InvalidRequirement, TypeError) as error:
        return Unavailable(
            Verdict.BROKEN, f"the reproducer's `# /// script` header is wrong: {' '.join(str(error).split())}"
        )
    return header


def wanted(header: Header, package: str | None, release: str | None) -> Wanted:
    """The packages for one run: those of the header, with the target's own at the release under test."""
    requirements = [Requirement(dependency) for dependency in header.dependencies]
    if package and release:
        pinned = SpecifierSet(f"=={release}")
        mine = [r for r in requirements if canonicalize_name(r.name) == canonicalize_name(package)]
        for requirement in mine:
            requirement.specifier, requirement.url = pinned, None
        if not mine:
            requirements.append(Requirement(f"{package}=={release}"))
    return Wanted(header.requires_python, tuple(sorted({str(requirement) for requirement in requirements})))


def named_packages(wanted: Wanted) -> tuple[str, ...]:
    """The canonical names of the packages that were asked for."""
    return tuple(sorted({str(canonicalize_name(Requirement(r).name)) for r in wanted.requirements}))


class Environments:
    """Builds environments below a cache folder with `uv`. Safe in several threads and processes at once."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder
        self._redactor = redactor

    def get(self, wanted: Wanted, supervisor: Supervisor) -> Environment | Unavailable:
        """The environment for a set of packages, built if it is not there yet."""
        folder = self._folder / wanted.key
        ready = _read_ready(folder)
        if ready is not None:
            return ready
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_suffix(".lock"), supervisor):
            ready = _read_ready(folder)
            return ready if ready is not None else self._build(wanted, folder, supervisor)

    def _build(self, wanted: Wanted, folder: Path, supervisor: Supervisor) -> Environment | Unavailable:
        uv = find_uv()
        if uv is None:
            return Unavailable(Verdict.BROKEN, "there is no uv; install the package `uv` beside this program")
        shutil.rmtree(folder, ignore_errors=True)
        here = platform.python_version()
        fits = SpecifierSet(wanted.requires_python).contains(here, prereleases=True)
        python = sys.executable if fits else wanted.requires_python
        steps = [[uv, "venv", "--quiet", "--no-project", "--no-python-downloads", "--python", python, str(folder)]]
        if wanted.requirements:
            steps.append(
                [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *wanted.requirements]
            )
        for step in steps:
            said = ask(supervisor, Job(tuple(step), folder.parent, os.environ, _INSTALL_LIMIT_S, folder=folder))
            if not said.ok:
                shutil.rmtree(folder, ignore_errors=True)
                why = said.ended.reason if isinstance(said.ended, NotRun) else said.stderr
                return self._unavailable(why)
        environment = Environment(folder, _python_of(folder), _packages_of(folder))
        note = {"wanted": wanted.requirements, "python": environment.python, "packages": environment.packages}
        write_whole(folder / "ready.json", json.dumps(note, indent=1))
        return environment

    def _unavailable(self, stderr: str) -> Unavailable:
        words = " ".join(re.sub(r"(?m)^[\s×╰├│─▶]+|^(?:error|hint): ", "", stderr).split())
        verdict = Verdict.BLOCKED if any(sign in stderr for sign in _NOT_HERE) else Verdict.BROKEN
        return Unavailable(verdict, self._redactor.text(words)[:600] or "the installer failed without a word")


def find_uv() -> str | None:
    """The installer: the one beside this interpreter, else the one on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def _read_ready(folder: Path) -> Environment | None:
    try:
        note = json.loads((folder / "ready.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    # An interpreter that was upgraded or removed leaves a dangling link.
    return Environment(folder, note["python"], note["packages"]) if (folder / "bin" / "python").exists() else None


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
