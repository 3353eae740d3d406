"""The documents that people and the machine write, and the values that are made of them.

Documents are frozen pydantic models that refuse unknown keys; they are parsed once, at the edge. Field descriptions
are what the JSON Schema and the error messages say.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from feedback_ledger.fields import (
    MOST_RUNS,
    SECONDS,
    Count,
    Document,
    ExitCondition,
    Id,
    Name,
    Pattern,
    Release,
    Seconds,
    Text,
    Title,
    as_list,
)
from feedback_ledger.vocabulary import NONZERO, TIMEOUT, Disclosure, Nature, Origin, Severity, Status, Verdict


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

    timeout_s: Seconds = Field(default=60.0, description=SECONDS)
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


Spans = Annotated[tuple[Span, ...], BeforeValidator(as_list, json_schema_input_type=Span | tuple[Span, ...])]


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
