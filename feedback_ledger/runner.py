"""One reproducer against one release gives one capture. The only place that starts a reproducer."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import signal
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from feedback_ledger.environment import (
    Environment,
    Environments,
    Unavailable,
    Wanted,
    named_packages,
    read_header,
    wanted,
)
from feedback_ledger.fixtures import Fixtures
from feedback_ledger.loader import Record
from feedback_ledger.model import (
    OUTPUT_LIMIT,
    TIMEOUT,
    Cut,
    Ecosystem,
    Observation,
    Settings,
    Target,
    Verdict,
    Versions,
)
from feedback_ledger.processes import Ended, Job, NotRun, Supervisor
from feedback_ledger.redact import MARGIN, Redactor
from feedback_ledger.requirements import command_version, libc, machine, unmet
from feedback_ledger.supervise import remove

_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "COLUMNS": "80",
    "LINES": "24",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "USER": "ledger",
    "LOGNAME": "ledger",
    "SHELL": "/bin/sh",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
# What it takes to reach a package index or a service from behind a proxy or a private certificate authority.
_PASSED_ON = re.compile(
    r"(?i)^(?:https?_proxy|no_proxy|all_proxy|ssl_cert_(?:file|dir)|requests_ca_bundle|curl_ca_bundle|node_extra_ca_certs"
    r"|pip_(?:index_url|extra_index_url|find_links|trusted_host|cert|config_file|default_timeout|disable_pip_version_check)"
    r"|uv_(?:index|index_url|default_index|extra_index_url|find_links|native_tls|system_certs)|npm_config_registry)$"
)
_STARTERS: Mapping[str, tuple[str, ...]] = {
    ".py": ("python",),
    ".mjs": ("node",),
    ".js": ("node",),
    ".cjs": ("node",),
    ".sh": ("sh",),
}


@dataclass(frozen=True)
class Capture:
    """Facts of all runs of one reproducer on one release, each run apart, in the order in which they were made."""

    command: str
    reproducer_sha256: str
    versions: Versions
    runs: tuple[Observation, ...]


@dataclass(frozen=True)
class NotCaptured:
    """Why there is nothing to judge, and which verdict that is: `blocked` or `broken`."""

    verdict: Verdict
    reason: str


class Runner:
    """Runs reproducers of one ledger; safe to call from several threads, each with its own supervisor."""

    def __init__(self, settings: Settings, environments: Environments, fixtures: Fixtures, redactor: Redactor) -> None:
        self._settings = settings
        self._environments = environments
        self._fixtures = fixtures
        self._redactor = redactor

    def blocked(self, record: Record) -> str:
        """Which requirement of a record is not met here, in words; empty if all are."""
        for name in record.finding.requires:
            need = self._settings.requirements.get(name)
            if need is not None and (why := unmet(need, os.environ)):
                return f"{name}: {why}"
        return ""

    def capture(
        self,
        record: Record,
        target: Target,
        release: str | None,
        runs: int,
        supervisor: Supervisor,
        on_run: Callable[[Observation], None] = lambda _: None,
    ) -> Capture | NotCaptured:
        """Runs a reproducer `runs` times; `on_run` hears of each. Requirements are looked at first."""
        if why := self.blocked(record):
            return NotCaptured(Verdict.BLOCKED, self._redactor.text(why))
        try:
            program = record.reproducer.read_bytes()
            mode = stat.S_IMODE(record.reproducer.stat().st_mode)
        except OSError as error:
            return NotCaptured(Verdict.BROKEN, f"the reproducer cannot be read: {error.strerror}")
        packages = self._wanted(record, program, target, release)
        if isinstance(packages, Unavailable):
            return NotCaptured(packages.verdict, packages.reason)
        environment = None
        if packages is not None:
            built = self._environments.get(packages, supervisor)
            if isinstance(built, Unavailable):
                return NotCaptured(built.verdict, built.reason)
            environment = built
        given = self._given(record)
        if isinstance(given, NotRun):
            return NotCaptured(Verdict.BROKEN, self._redactor.text(given.reason))
        seen: list[Observation] = []
        for _ in range(runs):
            try:
                outcome = self._run_once(record, program, mode, environment, given, supervisor)
            except OSError as error:
                return NotCaptured(Verdict.BROKEN, f"the run could not be prepared: {error.strerror or error}")
            if isinstance(outcome, NotRun):
                return NotCaptured(Verdict.BROKEN, outcome.reason)
            seen.append(outcome)
            on_run(outcome)
        named = named_packages(packages) if packages is not None else ()
        return Capture(
            shlex.join(_command(record.reproducer)),
            hashlib.sha256(program).hexdigest(),
            self._versions(record, environment, named, release),
            tuple(seen),
        )

    def _wanted(
        self, record: Record, program: bytes, target: Target, release: str | None
    ) -> Wanted | Unavailable | None:
        """The packages that a run needs; None where it needs no environment of ours."""
        package = target.package if target.ecosystem is Ecosystem.PYPI else None
        if record.reproducer.suffix != ".py" and package is None:
            return None
        header = read_header(program.decode("utf-8", "replace"))
        return header if isinstance(header, Unavailable) else wanted(header, package, release)

    def _given(self, record: Record) -> Mapping[str, str] | NotRun:
        """The variables that its requirements and fixtures hand to a reproducer; no others of ours reach it."""
        given: dict[str, str] = {}
        for name in record.finding.requires:
            if name in self._settings.fixtures:
                exports = self._fixtures.exports(name)
                if isinstance(exports, NotRun):
                    return NotRun(f"{name}: {exports.reason}")
                given |= exports
            elif (need := self._settings.requirements[name]).env:
                given[need.env] = os.environ[need.env]
        return given

    def _run_once(
        self,
        record: Record,
        program: bytes,
        mode: int,
        environment: Environment | None,
        given: Mapping[str, str],
        supervisor: Supervisor,
    ) -> Observation | NotRun:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=supervisor.folder()))
        redactor = self._redactor.knowing(_places(folder, environment))
        limit = self._settings.output_limit
        try:
            with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
                ended = supervisor.run(_job(folder, record, program, mode, environment, given), stdout, stderr)
                if isinstance(ended, NotRun):
                    return NotRun(redactor.text(ended.reason))
                out, cut_out = _kept(stdout, limit, redactor)
                err, cut_err = _kept(stderr, limit, redactor)
        finally:
            remove(str(folder))
        cut = Cut(stdout=cut_out, stderr=cut_err)
        return Observation(exit=_exit(ended), duration_s=ended.duration_s, stdout=out, stderr=err, cut=cut)

    def _versions(
        self, record: Record, environment: Environment | None, named: tuple[str, ...], release: str | None
    ) -> Versions:
        commands = {}
        for name in record.finding.requires:
            need = self._settings.requirements.get(name)
            if need is not None and need.command and (version := command_version([need.command, "--version"])):
                commands[need.command] = version
        return Versions(
            python=environment.python if environment else platform.python_version(),
            platform=machine(),
            libc=libc(),
            target=release,
            packages={name: environment.packages[name] for name in named if name in environment.packages}
            if environment
            else {},
            commands=commands,
        )


def _command(reproducer: Path) -> tuple[str, ...]:
    """How a person would start it from its own folder."""
    starter = _STARTERS.get(reproducer.suffix)
    return (*starter, reproducer.name) if starter else (f"./{reproducer.name}",)


def _job(
    folder: Path, record: Record, program: bytes, mode: int, environment: Environment | None, given: Mapping[str, str]
) -> Job:
    """Lays out a fresh home, temporary folder and working folder with a copy of the program, so that nothing else is
    at stake.
    """
    for name in ("home", "tmp", "work"):
        (folder / name).mkdir()
    copy = folder / "work" / record.reproducer.name
    copy.write_bytes(program)
    copy.chmod(mode)
    path = os.environ.get("PATH", os.defpath)
    env = {
        **{key: value for key, value in os.environ.items() if _PASSED_ON.match(key)},
        **_FIXED,
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PATH": f"{environment.bin}{os.pathsep}{path}" if environment else path,
        **given,
    }
    argv = _command(record.reproducer)
    if argv[0] == "python" and environment is not None:
        argv = (str(environment.bin / "python"), *argv[1:])
    return Job(argv, folder / "work", env, record.finding.reproducer.timeout_s, folder=folder)


def _places(folder: Path, environment: Environment | None) -> list[tuple[str, str]]:
    """The folders of a run, by the names that they go by in evidence."""
    places = []
    for base in dict.fromkeys((str(folder), os.path.realpath(folder))):
        places += [(f"{base}/home", "[HOME]"), (f"{base}/tmp", "[TMP]"), (f"{base}/work", "[RUN]"), (base, "[RUN]/..")]
    if environment is not None:
        places.append((str(environment.folder), "[ENV]"))
        places.append((str(Path(os.path.realpath(environment.bin / "python")).parent.parent), "[PYTHON]"))
    return places


def _exit(ended: Ended) -> int | str:
    match ended.over:
        case "time":
            return TIMEOUT
        case "bytes":
            return OUTPUT_LIMIT
    return ended.status if ended.status >= 0 else _signal_name(-ended.status)


def _kept(file: IO[bytes], limit: int, redactor: Redactor) -> tuple[bytes, int]:
    """What is kept of a stream, cleaned, and how many bytes were cut from its middle. Memory is bounded by the
    limit.
    """
    fd = file.fileno()
    size = os.fstat(fd).st_size
    if size <= limit:
        return redactor.stream(os.pread(fd, size, 0)), 0
    half = limit // 2
    seen = min(half + MARGIN, size)
    head = redactor.stream(os.pread(fd, seen, 0))
    tail = redactor.stream(os.pread(fd, seen, size - seen))
    # Placeholders may be shorter than what they stand for. What lies at the inner edge may be half of a secret, so it
    # goes even where that leaves less than might be kept.
    head = head[: min(half, max(len(head) - MARGIN, 0))] if seen < size else head[:half]
    tail = tail[max(len(tail) - half, min(MARGIN, len(tail))) :] if seen < size else tail[len(tail) - half :]
    head, tail = _whole_characters(head, tail)
    cut = size - len(head) - len(tail)
    return head + f"\n[... {cut:,} bytes cut ...]\n".encode() + tail, cut


def _whole_characters(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Drops the halves of a UTF-8 character that a cut has left, so that text stays text."""
    for back in range(1, min(4, len(head) + 1)):
        if head[-back] >= 0xC0:
            length = 2 if head[-back] < 0xE0 else 3 if head[-back] < 0xF0 else 4
            head = head[:-back] if length > back else head
            break
        if head[-back] < 0x80:
            break
    start = next((i for i in range(min(4, len(tail))) if tail[i] & 0xC0 != 0x80), 0)
    return head, tail[start:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
