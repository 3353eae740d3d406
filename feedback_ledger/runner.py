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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from feedback_ledger.capped import kept
from feedback_ledger.environment import Environment, Environments, Unavailable
from feedback_ledger.errors import in_words
from feedback_ledger.fixtures import Fixtures
from feedback_ledger.loader import Record
from feedback_ledger.model import Cut, Observation, Versions
from feedback_ledger.ordering import is_same
from feedback_ledger.packages import BadHeader, Wanted, wanted
from feedback_ledger.processes import Ended, Job, NotRun, Supervisor
from feedback_ledger.redact import Redactor
from feedback_ledger.requirements import command_version, libc, machine, unmet
from feedback_ledger.supervise import remove
from feedback_ledger.targets import Settings, Target
from feedback_ledger.text import one_line, visible
from feedback_ledger.vocabulary import OUTPUT_LIMIT, TIMEOUT, Ecosystem, Verdict

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
_STARTERS = {".py": "python", ".mjs": "node", ".js": "node", ".cjs": "node", ".sh": "sh"}
_LANGUAGES = {".py": Ecosystem.PYPI, ".mjs": Ecosystem.NPM, ".js": Ecosystem.NPM, ".cjs": Ecosystem.NPM}
"""Which header a reproducer may have, and which installer reads it."""


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


More = Callable[[Sequence[Observation]], bool]
"""Whether another run is wanted, given those that were made."""


@dataclass(frozen=True)
class _Prepared:
    """A reproducer with everything that its runs need."""

    name: str
    program: bytes
    mode: int
    timeout_s: float
    environment: Environment | None
    path: tuple[Path, ...]
    given: Mapping[str, str]
    versions: Versions


class Runner:
    """Runs reproducers of one ledger; safe to call from several threads, each with its own supervisor."""

    def __init__(
        self, root: Path, settings: Settings, environments: Environments, fixtures: Fixtures, redactor: Redactor
    ) -> None:
        self._root = root
        self._settings = settings
        self._environments = environments
        self._fixtures = fixtures
        self._redactor = redactor

    def capture(
        self, record: Record, target: Target, release: str | None, supervisor: Supervisor, more: More
    ) -> Capture | NotCaptured:
        """Runs a reproducer for as long as `more` wants, which is asked before each run."""
        try:
            captured = self._captured(record, target, release, supervisor, more)
        except OSError as error:
            captured = NotCaptured(Verdict.BROKEN, f"the run could not be prepared: {in_words(error)}")
        if isinstance(captured, NotCaptured):
            return NotCaptured(captured.verdict, one_line(visible(self._redactor.text(captured.reason))))
        return captured

    def _captured(
        self, record: Record, target: Target, release: str | None, supervisor: Supervisor, more: More
    ) -> Capture | NotCaptured:
        prepared = self._prepared(record, target, release, supervisor)
        if isinstance(prepared, NotCaptured):
            return prepared
        seen: list[Observation] = []
        while more(seen):
            outcome = self._run_once(prepared, supervisor)
            if isinstance(outcome, NotRun):
                return NotCaptured(Verdict.BROKEN, outcome.reason)
            seen.append(outcome)
        command = shlex.join(_command(prepared.name))
        return Capture(command, hashlib.sha256(prepared.program).hexdigest(), prepared.versions, tuple(seen))

    def _prepared(
        self, record: Record, target: Target, release: str | None, supervisor: Supervisor
    ) -> _Prepared | NotCaptured:
        """Looks at requirements first, then at the program, its packages, its fixtures."""
        if why := self._blocked(record) or _another_release(record, target, release):
            return NotCaptured(Verdict.BLOCKED, why)
        folder = self._release_folder(target, release)
        if isinstance(folder, NotCaptured):
            return folder
        try:
            program = record.reproducer.read_bytes()
            mode = stat.S_IMODE(record.reproducer.stat().st_mode)
        except OSError as error:
            return NotCaptured(Verdict.BROKEN, f"the reproducer cannot be read: {error.strerror}")
        packages = _wanted(record, program, target, release)
        if isinstance(packages, BadHeader):
            return NotCaptured(Verdict.BROKEN, packages.reason)
        environment = self._environments.get(packages, supervisor) if packages is not None else None
        if isinstance(environment, Unavailable):
            return NotCaptured(environment.verdict, environment.reason)
        given = self._given(record)
        if isinstance(given, NotRun):
            return NotCaptured(Verdict.BROKEN, given.reason)
        return _Prepared(
            name=record.reproducer.name,
            program=program,
            mode=mode,
            timeout_s=record.finding.reproducer.timeout_s,
            environment=environment,
            path=(*([environment.commands] if environment else []), *([folder] if folder else [])),
            given=given,
            versions=self._versions(record, environment, packages, release),
        )

    def _blocked(self, record: Record) -> str:
        """Which requirement of a record is not met here, in words; empty if all are."""
        for name in record.finding.requires:
            need = self._settings.requirements.get(name)
            if need is not None and (why := unmet(need, os.environ)):
                return f"{name}: {why}"
        return ""

    def _release_folder(self, target: Target, release: str | None) -> Path | NotCaptured | None:
        """The folder of a release's commands, for a target whose releases are folders."""
        if not target.folders or release is None:
            return None
        if release not in target.folders:
            return NotCaptured(Verdict.BLOCKED, f"the settings name no folder for release {release}")
        folder = self._root / os.path.expanduser(target.folders[release])  # noqa: PTH111  Path raises for an unknown user
        return (
            folder if folder.is_dir() else NotCaptured(Verdict.BLOCKED, f"the folder of release {release} is not here")
        )

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

    def _versions(
        self, record: Record, environment: Environment | None, packages: Wanted | None, release: str | None
    ) -> Versions:
        needs = (self._settings.requirements.get(name) for name in record.finding.requires)
        asked = [need.command for need in needs if need is not None and need.command]
        commands = {name: version for name in asked if (version := command_version([name, "--version"]))}
        found: Mapping[str, str] = environment.packages if environment is not None else {}
        python: str | None = platform.python_version()
        if environment is not None and environment.ecosystem is Ecosystem.NPM:
            python, commands = None, {"node": environment.interpreter, **commands}
        elif environment is not None:
            python = environment.interpreter
        return Versions(
            python=python,
            platform=machine(),
            libc=libc(),
            target=release,
            packages={name: found[name] for name in (packages.named if packages else ()) if name in found},
            commands=commands,
        )

    def _run_once(self, prepared: _Prepared, supervisor: Supervisor) -> Observation | NotRun:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=supervisor.folder()))
        redactor = self._redactor.knowing(_places(folder, prepared.environment))
        limit = self._settings.output_limit
        try:
            with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
                ended = supervisor.run(_job(folder, prepared), stdout, stderr)
                if isinstance(ended, NotRun):
                    return NotRun(redactor.text(ended.reason))
                out, cut_out = kept(stdout, limit, redactor)
                err, cut_err = kept(stderr, limit, redactor)
        finally:
            remove(str(folder))
        cut = Cut(stdout=cut_out, stderr=cut_err)
        return Observation(exit=_exit(ended), duration_s=ended.duration_s, stdout=out, stderr=err, cut=cut)


def _another_release(record: Record, target: Target, release: str | None) -> str:
    """Why a run would not be one of that release, in words; empty if it is, or if the settings say so."""
    if release is None or target.folders:
        return ""
    if target.ecosystem is Ecosystem.COMMAND and target.version_command:
        here = command_version(target.version_command)
        if here is not None and is_same(here, release):
            return ""
        return f"needs {record.finding.target} {release}, found {here or 'no version'}"
    if release == target.release or _language(record, target) is target.ecosystem:
        return ""
    return f"nothing here can choose release {release} of {record.finding.target}"


def _language(record: Record, target: Target) -> Ecosystem | None:
    """Which installer a reproducer's packages come from; None where it needs no environment of ours."""
    language = _LANGUAGES.get(record.reproducer.suffix)
    return target.ecosystem if language is None and target.ecosystem in _LANGUAGES.values() else language


def _wanted(record: Record, program: bytes, target: Target, release: str | None) -> Wanted | BadHeader | None:
    """The packages that a run needs; None where it needs no environment of ours."""
    language = _language(record, target)
    return None if language is None else wanted(program.decode("utf-8", "replace"), language, target, release)


def _command(name: str) -> tuple[str, ...]:
    """How a person would start a reproducer from its own folder."""
    starter = _STARTERS.get(Path(name).suffix)
    return (starter, name) if starter else (f"./{name}",)


def _job(folder: Path, prepared: _Prepared) -> Job:
    """Lays out a fresh home, temporary folder and working folder with a copy of the program, so that nothing else is
    at stake.
    """
    for name in ("home", "tmp", "work"):
        (folder / name).mkdir()
    copy = folder / "work" / prepared.name
    copy.write_bytes(prepared.program)
    copy.chmod(prepared.mode)
    environment = prepared.environment
    if environment is not None and environment.modules is not None:
        (folder / "work" / "node_modules").symlink_to(environment.modules)
    env = {
        **{key: value for key, value in os.environ.items() if _PASSED_ON.match(key)},
        **_FIXED,
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PATH": os.pathsep.join([*map(str, prepared.path), os.environ.get("PATH", os.defpath)]),
        **prepared.given,
    }
    argv = _command(prepared.name)
    if argv[0] == "python" and environment is not None and environment.python is not None:
        argv = (str(environment.python), *argv[1:])
    return Job(argv, folder / "work", env, prepared.timeout_s, folder=folder)


def _places(folder: Path, environment: Environment | None) -> list[tuple[str, str]]:
    """The folders of a run, by the names that they go by in evidence."""
    places = []
    for base in dict.fromkeys((str(folder), os.path.realpath(folder))):
        places += [(f"{base}/home", "[HOME]"), (f"{base}/tmp", "[TMP]"), (f"{base}/work", "[RUN]"), (base, "[RUN]/..")]
    if environment is not None:
        places.append((str(environment.folder), "[ENV]"))
    if environment is not None and environment.python is not None:
        places.append((str(Path(os.path.realpath(environment.python)).parent.parent), "[PYTHON]"))
    return places


def _exit(ended: Ended) -> int | str:
    match ended.over:
        case "time":
            return TIMEOUT
        case "bytes":
            return OUTPUT_LIMIT
    return ended.status if ended.status >= 0 else _signal_name(-ended.status)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
