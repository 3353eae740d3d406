"""The documents that people and the machine write, and the values that are made of them.

Documents are frozen pydantic models that refuse unknown keys; they are parsed once, at the edge. Field descriptions
are what the JSON Schema and the error messages say.
"""

from __future__ import annotations

import datetime
import functools
import re
import signal
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)


class Nature(StrEnum):
    """What kind of claim a finding makes."""

    BUG = "bug"
    REGRESSION = "regression"
    SECURITY = "security"
    PERFORMANCE = "performance"
    FRICTION = "friction"
    MISSING = "missing"
    DOCS = "docs"


class Severity(StrEnum):
    """How much it hurts the people who use the target."""

    BLOCKER = "blocker"
    MAJOR = "major"
    MINOR = "minor"
    PAPERCUT = "papercut"


class Status(StrEnum):
    """What the record says of the finding today."""

    OPEN = "open"
    FIXED = "fixed"
    INTENDED = "intended"
    WONTFIX = "wontfix"
    WITHDRAWN = "withdrawn"


class Origin(StrEnum):
    """Where the claim came from."""

    SEED = "seed"
    FOUND = "found"


class Disclosure(StrEnum):
    """Whether a finding may be described in what is published."""

    PUBLIC = "public"
    PRIVATE = "private"


class Ecosystem(StrEnum):
    """Where a target's releases come from."""

    PYPI = "pypi"
    NPM = "npm"
    COMMAND = "command"
    SERVICE = "service"


class Verdict(StrEnum):
    """What one finding's evidence says on one release."""

    REPRODUCES = "reproduces"
    GONE = "gone"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    BROKEN = "broken"
    BLOCKED = "blocked"


class Event(StrEnum):
    """What a verdict means against what the record says."""

    AS_RECORDED = "as recorded"
    FIXED_UPSTREAM = "fixed upstream"
    GONE_UNCONFIRMED = "gone, unconfirmed"
    REGRESSED = "regressed"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    NOT_JUDGED = "not judged"


TIMEOUT = "timeout"
NONZERO = "nonzero"
OUTPUT_LIMIT = "output limit"
"""How an observation says that a run was ended because it would not stop printing."""

SIGNALS = frozenset(item.name for item in signal.Signals)
PLACEHOLDER = "TODO"
"""What `ledger new` puts where a person has to write; a record that still holds it is refused."""

MOST_RUNS = 10_000
_LONGEST_S = 86_400
_SECONDS = f"a positive number of seconds, at most {_LONGEST_S}"
# Bidirectional controls are among them: they make a terminal show other text than is there.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Document(BaseModel):
    """Frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _is_exit(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    if isinstance(value, str) and (value in (TIMEOUT, NONZERO) or value in SIGNALS):
        return value
    raise ValueError


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A matcher's pattern; checked once and searched often."""
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return re.compile(pattern, re.MULTILINE)


def _is_pattern(value: str) -> str:
    if value.startswith((PLACEHOLDER, f"^{PLACEHOLDER}")):
        raise ValueError("a regular expression in place of the placeholder")
    try:
        matches_nothing = compiled(value).search("")
    except (re.error, OverflowError) as error:
        raise ValueError(f"a regular expression ({error})") from error
    except RecursionError as error:
        raise ValueError("a regular expression (nested too deeply)") from error
    if matches_nothing:
        raise ValueError("a regular expression that does not match the empty text, as this one matches any output")
    return value


def _is_filled_in(value: str) -> str:
    if not value.strip():
        raise ValueError("text that is not empty")
    if value.lstrip().startswith(PLACEHOLDER):
        raise ValueError("your own words in place of the placeholder")
    return value


def _is_one_line(value: str) -> str:
    line = value.strip()
    if len(line.splitlines()) > 1:
        raise ValueError("one line")
    if _CONTROL.search(line):
        raise ValueError("one line without control characters")
    return line


def _has_a_port(value: str) -> str:
    if not 1 <= int(value.rpartition(":")[2]) <= 65_535:
        raise ValueError
    return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, Mapping) else value


# Where a validator gives no reason, the field's description is all there is to say.
Text = Annotated[str, AfterValidator(_is_filled_in)]
Title = Annotated[Text, AfterValidator(_is_one_line)]
Pattern = Annotated[str, AfterValidator(_is_pattern)]
Seconds = Annotated[float, Strict(), Field(gt=0, le=_LONGEST_S, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(ge=1, le=MOST_RUNS)]
RELEASE = r"^[0-9A-Za-z][0-9A-Za-z.+_!-]*$"
Release = Annotated[str, StringConstraints(pattern=RELEASE)]
Name = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$"),
    Field(description='a name of small letters, digits, ".", "_" and "-"'),
]
ExitCondition = Annotated[
    int | str,
    BeforeValidator(_is_exit),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "string"}]}),
]
Id = Annotated[str, StringConstraints(pattern=r"^F-[0-9]{3,}$")]
Repository = Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Place = Annotated[str, StringConstraints(pattern=r"^.+:[0-9]{1,5}$"), AfterValidator(_has_a_port)]
Releases = Annotated[str, StringConstraints(pattern=r"^\S+$")]
Words = Annotated[tuple[str, ...], Field(min_length=1)]


class Matcher(Document):
    """Conditions on one run, all of which must hold. Patterns are searched, multi-line."""

    exit: ExitCondition | None = Field(
        default=None,
        description=f"an exit code from 0 to 255, {NONZERO}, {TIMEOUT}, or a signal's name such as SIGABRT",
    )
    stdout: Pattern | None = Field(default=None, description="a regular expression found in standard output")
    stderr: Pattern | None = Field(default=None, description="a regular expression found in standard error")
    output: Pattern | None = Field(default=None, description="a regular expression found in either")
    not_stdout: Pattern | None = Field(default=None, description="a regular expression not found in standard output")
    not_stderr: Pattern | None = Field(default=None, description="a regular expression not found in standard error")
    not_output: Pattern | None = Field(default=None, description="a regular expression found in neither")
    min_duration_s: Seconds | None = Field(default=None, description="the least time that the run took, in seconds")
    max_duration_s: Seconds | None = Field(default=None, description="the most time that the run took, in seconds")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if all(getattr(self, name) is None for name in self.model_fields_set):
            raise ValueError("at least one condition, such as stdout: '^pattern'")
        return self

    @property
    def expects_text(self) -> bool:
        """Whether only a run that printed something can meet this."""
        return any((self.stdout, self.stderr, self.output))


class Signature(Document):
    """The patterns that tell from evidence whether the finding shows."""

    control: Matcher | None = Field(
        default=None,
        description="what must hold in every run, fixed or not: proof that the run reached the point it tests",
    )
    reproduces: Matcher = Field(description="what holds when the finding shows")
    gone: Matcher | None = Field(default=None, description="what holds when the target behaves as it should")

    @property
    def proves_absence(self) -> bool:
        """Whether `gone` needs words of the reproducer, so that a program that fell silent can't pass for a fix."""
        return self.gone is None or self.gone.expects_text or (self.control is not None and self.control.expects_text)


class Reproducer(Document):
    """How the reproducer is run, and how its runs are read."""

    timeout_s: Seconds = Field(default=60.0, description=_SECONDS)
    runs: Count = Field(default=1, description=f"how many times it is run, a whole number from 1 to {MOST_RUNS}")
    min_hits: Count | None = Field(default=None, description="of these runs, how many must show a flaky finding")
    serial: StrictBool = Field(default=False, description="true when nothing else may run beside it")
    signature: Signature = Field(description="a mapping with `control`, `reproduces` and `gone`")

    @field_validator("min_hits")
    @classmethod
    def _hits_fit_runs(cls, value: int | None, info: ValidationInfo) -> int | None:
        runs = info.data.get("runs")
        if value is not None and runs is not None and value > runs:
            raise ValueError(f"at most {runs}, the number of runs")
        return value


class Span(Document):
    """A stretch of releases in which the finding shows; only releases that were run."""

    introduced: Release = Field(description="the first release, in quotes, that was seen to show it")
    last_affected: Release | None = Field(
        default=None, description="the last release, in quotes, that was seen to show it"
    )
    fixed: Release | None = Field(
        default=None, description="the first release after it, in quotes, that was seen to be free of it"
    )


Spans = Annotated[tuple[Span, ...], BeforeValidator(_as_list, json_schema_input_type=Span | tuple[Span, ...])]


class Upstream(Document):
    """Where the target's maintainers track it."""

    issue: str | None = Field(default=None, description="the address of the report, or null")
    fixed_by: str | None = Field(default=None, description="the address of the change that fixed it, or null")


class Finding(Document):
    """One claim about a target. A person writes it."""

    id: Id = Field(description="`F-` and at least three digits")
    title: Title = Field(description="the claim, in one line")
    target: Name = Field(description="the name of a target from the settings")
    area: Text = Field(description="the part of the target, in a word")
    nature: Nature = Field(description="one of bug, regression, security, performance, friction, missing, docs")
    severity: Severity = Field(description="one of blocker, major, minor, papercut")
    status: Status = Field(description="one of open, fixed, intended, wontfix, withdrawn")
    affected: Spans = Field(
        default=(), description="a mapping with `introduced`, `last_affected` and `fixed`, or a list of them"
    )
    summary: Text = Field(description="Markdown: what happens")
    expected: Text = Field(description="Markdown: what should happen")
    actual: Text = Field(description="Markdown: what happens instead")
    impact: Text = Field(description="Markdown: whom it hurts, and how")
    workaround: Text | None = Field(default=None, description="Markdown: what helps until it is fixed")
    proposed_fix: Text = Field(description="Markdown: what a maintainer could do")
    upstream: Upstream = Field(default=Upstream(), description="a mapping with `issue` and `fixed_by`")
    origin: Origin = Field(default=Origin.FOUND, description="one of seed, found")
    disclosure: Disclosure = Field(default=Disclosure.PUBLIC, description="one of public, private")
    requires: tuple[Name, ...] = Field(
        default=(), description="a list of names of requirements and fixtures from the settings"
    )
    reproducer: Reproducer = Field(description="a mapping with `timeout_s` and `signature`")

    @property
    def number(self) -> int:
        """The number behind `F-`; what ledgers are sorted by."""
        return int(self.id.removeprefix("F-"))

    @property
    def recorded_releases(self) -> tuple[str, ...]:
        """Every release that `affected` names, in the order written."""
        named = [r for span in self.affected for r in (span.introduced, span.last_affected, span.fixed) if r]
        return tuple(dict.fromkeys(named))

    @property
    def known_bad(self) -> tuple[str, ...]:
        """The releases that the record says were seen to show it, the last one first."""
        named = [r for span in reversed(self.affected) for r in (span.last_affected, span.introduced) if r]
        return tuple(dict.fromkeys(named))


class Cut(Document):
    """How many bytes of each stream were left out of its middle."""

    stdout: StrictInt = 0
    stderr: StrictInt = 0


class Observation(Document):
    """What one run did. `exit` is an exit code, a signal's name, `timeout` or `output limit`; duration in seconds."""

    exit: int | str
    duration_s: float
    stdout: bytes
    stderr: bytes
    cut: Cut = Cut()


class OtherOutcome(Observation):
    """An outcome of a run that differed from the one shown first, and how many runs ended so."""

    times: Count = 1


class Versions(Document):
    """What was in force during a run. `python` is None where another interpreter ran it."""

    python: str | None = None
    platform: str
    libc: str | None = None
    target: str | None = None
    packages: Mapping[str, str] = {}
    commands: Mapping[str, str] = {}


class Evidence(Document):
    """The raw facts of running one reproducer on one release. The machine writes it; it holds no verdict.

    The fields from `exit` on are those of the run that shows the finding, or of the first run where none does;
    `others` has each outcome that differed. `hits` counts the runs that matched `reproduces` when they were captured.
    """

    finding: str
    target: str
    release: str | None
    captured: datetime.date
    command: str
    reproducer_sha256: str
    versions: Versions
    runs: Count
    hits: StrictInt
    exit: int | str
    duration_s: float
    stdout: bytes
    stderr: bytes
    cut: Cut = Cut()
    others: tuple[OtherOutcome, ...] = ()

    @property
    def observations(self) -> tuple[tuple[Observation, int], ...]:
        """Each distinct outcome with the number of runs that ended so."""
        first = Observation(
            exit=self.exit, duration_s=self.duration_s, stdout=self.stdout, stderr=self.stderr, cut=self.cut
        )
        rest = sum(other.times for other in self.others)
        return ((first, self.runs - rest), *((other, other.times) for other in self.others))


@dataclass(frozen=True)
class Judgement:
    """A verdict, why, and how many of the runs showed the finding."""

    verdict: Verdict
    reason: str = ""
    hits: int = 0
    runs: int = 0


class Companion(Document):
    """Packages that old releases of a target need at older versions than they ask for."""

    releases: Releases = Field(description="`A..B`, a stretch of releases in quotes; either end may be left out")
    packages: Words = Field(description="a list of packages, such as `scramp<1.5`")


class Target(Document):
    """A product that findings are about."""

    ecosystem: Ecosystem = Field(default=Ecosystem.SERVICE, description="one of pypi, npm, command, service")
    package: str | None = Field(default=None, description="its name in the package index")
    release: Release | None = Field(
        default=None, description="the release, in quotes, that `run` and `check` test by default"
    )
    upstream: Repository | None = Field(
        default=None, description="`owner/name` of the repository that takes its issues"
    )
    version_command: Words | None = Field(default=None, description="the command, as a list, that prints its version")
    since: Release | None = Field(default=None, description="the oldest release, in quotes, that a sweep looks at")
    companions: tuple[Companion, ...] = Field(default=(), description="a list of tables with `releases` and `packages`")
    folders: Mapping[Release, str] = Field(
        default={}, description="a table from releases of a command to the folders that hold it"
    )

    @model_validator(mode="after")
    def _package_is_named(self) -> Self:
        if self.ecosystem in (Ecosystem.PYPI, Ecosystem.NPM) and not self.package:
            raise ValueError(f'package = "name" for ecosystem {self.ecosystem.value}')
        return self


class Requirement(Document):
    """Something that a run needs; all keys that are given must hold. A reproducer is given the variable that `env`
    names.
    """

    command: str | None = Field(default=None, description="the name of a command on the PATH")
    min_version: str | None = Field(
        default=None, description="the least version, in quotes, that the command's `--version` may print"
    )
    env: Variable | None = Field(default=None, description="the name of an environment variable")
    tcp: Place | None = Field(default=None, description="`host:port` that accepts a connection")
    platform: str | None = Field(default=None, description="the system's name, such as linux or darwin")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("one of command, env, tcp, platform")
        if self.min_version and not self.command:
            raise ValueError("command beside min_version")
        return self


class Fixture(Document):
    """A server that the ledger starts once for all runs that ask for it; `{port}` stands for a free port and
    `{folder}` for a private folder that is removed after it.
    """

    command: Words = Field(description="the command, as a list")
    ready: str = Field(description="an http address that answers, or a line on its standard output")
    ready_timeout_s: Seconds = Field(default=60.0, description=_SECONDS)
    env: Mapping[str, str] = Field(default={}, description="environment variables of the server")
    exports: Mapping[str, str] = Field(default={}, description="environment variables that its reproducers are given")


class Settings(Document):
    """`[tool.ledger]` of pyproject.toml, or ledger.toml."""

    title: Title = Field(default="Feedback ledger", description="the title of FEEDBACK.md")
    output_limit: Annotated[StrictInt, Field(ge=1024)] = Field(
        default=1024 * 1024, description="how many bytes of each stream are kept, a whole number of at least 1024"
    )
    targets: Mapping[Name, Target] = Field(default={}, description="tables named [targets.NAME]")
    requirements: Mapping[Name, Requirement] = Field(default={}, description="tables named [requirements.NAME]")
    fixtures: Mapping[Name, Fixture] = Field(default={}, description="tables named [fixtures.NAME]")
