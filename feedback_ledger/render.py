"""FEEDBACK.md out of findings and evidence. Pure: no clock, no files, no environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from feedback_ledger.loader import Record
from feedback_ledger.matrix import matrices
from feedback_ledger.model import Evidence, Finding, Span
from feedback_ledger.text import outcome, rate, rendered, shortened, versions_lines
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Disclosure, Severity, Status, Verdict

_MOST_OUTPUT = 6000
LANGUAGES = {".py": "python", ".mjs": "javascript", ".js": "javascript", ".cjs": "javascript", ".sh": "sh"}


@dataclass(frozen=True)
class Shown:
    """One capture as the page shows it."""

    heading: str
    environment: str
    evidence: Evidence
    output: str


@dataclass(frozen=True)
class Entry:
    """One finding with all that the page says of it. `captures` are those of the reproducer as it is now, by
    release.
    """

    record: Record
    program: str
    package: str | None
    tested: str | None
    captures: Mapping[str | None, Evidence]
    stale: bool
    needed: Sequence[str]

    @property
    def finding(self) -> Finding:
        """Its record."""
        return self.record.finding

    @property
    def anchor(self) -> str:
        """The fragment that links to it."""
        return self.finding.id.lower()

    @cached_property
    def tested_verdict(self) -> str:
        """The verdict on the tested release, with k/n where it was run several times."""
        return self._said[self.tested] if self.tested in self.captures else "not run"

    @cached_property
    def _said(self) -> Mapping[str | None, str]:
        return {release: _said(self.finding, evidence) for release, evidence in self.captures.items()}

    @property
    def affected(self) -> str:
        """The releases in which it shows, in words."""
        return "; ".join(_span(span) for span in self.finding.affected)

    @property
    def upstream(self) -> str:
        """Where upstream tracks it, in words; empty if nothing is known."""
        upstream = self.finding.upstream
        said = [f"reported: {upstream.issue}"] if upstream.issue else []
        return "; ".join(said + ([f"fixed by {upstream.fixed_by}"] if upstream.fixed_by else []))

    @property
    def record_path(self) -> str:
        """Its record, from the ledger's root."""
        return f"findings/{self.record.path.name}"

    @property
    def reproducer_path(self) -> str:
        """Its reproducer, from the ledger's root."""
        return f"reproducers/{self.record.reproducer.name}"

    @property
    def language(self) -> str:
        """What its reproducer is written in, as fences name it."""
        return LANGUAGES.get(self.record.reproducer.suffix, "")

    @property
    def run_commands(self) -> str:
        """How a person runs it: by itself, where one command does, and through the ledger."""
        through = f"`feedback-ledger run {self.finding.id}`"
        alone = f"`uv run {self.reproducer_path}`"
        return f"{alone}, or {through}" if self.language == "python" and not self.finding.requires else through

    @cached_property
    def shown(self) -> list[Shown]:
        """The capture on the last affected release, if there is another, and the one on the tested release."""
        return [self._shown(release) for release in self._shown_releases()]

    def _shown_releases(self) -> list[str | None]:
        known_bad = [release for release in self.finding.known_bad if release in self.captures]
        wanted: list[str | None] = []
        if self.finding.status is Status.FIXED or self.tested not in self.captures:
            wanted += known_bad[:1]
        if self.tested in self.captures:
            wanted.append(self.tested)
        return list(dict.fromkeys(wanted)) or list(self.captures)[-1:]

    def _shown(self, release: str | None) -> Shown:
        evidence = self.captures[release]
        where = f"On {self.finding.target} {release}" if release else f"On {self.finding.target}"
        heading = f"{where}: **{self._said[release]}**"
        lines = versions_lines(self.package or self.finding.target, evidence.versions)[1 if release else 0 :]
        output = shortened(outcome(evidence.observations[0][0]), _MOST_OUTPUT)
        return Shown(heading, "with " + ", ".join(lines), evidence, output)

    @property
    def needs(self) -> str:
        """What it would take to capture it."""
        needed = list(self.needed)
        if self.stale:
            needed.append("a new run, as the reproducer was edited since its capture")
        elif not needed:
            needed.append("a run")
        return "; ".join(needed)


def _said(finding: Finding, evidence: Evidence) -> str:
    judgement = judge(finding, evidence)
    several = rate(evidence)
    return f"{judgement.verdict}" + (f" ({several} runs)" if several and judgement.verdict is not Verdict.GONE else "")


def _span(span: Span) -> str:
    if span.fixed:
        last = span.last_affected or span.introduced
        stretch = span.introduced if last == span.introduced else f"{span.introduced} to {last}"
        return f"{stretch}, fixed in {span.fixed}"
    if span.last_affected and span.last_affected != span.introduced:
        return f"{span.introduced} to {span.last_affected}"
    return f"since {span.introduced}"


@dataclass(frozen=True)
class Summary:
    """What stands at the top of the page."""

    findings: int
    targets: tuple[str, ...]
    lines: tuple[str, ...]


def _summary(entries: Sequence[Entry], verified: Sequence[Entry], private: int) -> Summary:
    tested = sorted({f"{entry.finding.target} {entry.tested}" for entry in entries if entry.tested})
    statuses = Counter(entry.finding.status for entry in entries)
    severities = Counter(entry.finding.severity for entry in entries if entry.finding.status is Status.OPEN)
    verdicts = Counter(entry.tested_verdict.split(" (")[0] for entry in verified)
    lines = [
        "tested release: " + ", ".join(tested),
        "by status: " + ", ".join(f"{statuses[s]} {s.value}" for s in Status if statuses[s]),
        "open, by severity: " + ", ".join(f"{severities[s]} {s.value}" for s in Severity if severities[s]),
        "verdict on the tested release: " + ", ".join(f"{count} {said}" for said, count in verdicts.most_common()),
    ]
    if len(entries) > len(verified):
        lines.append(f"not verified here: {len(entries) - len(verified)}")
    if private:
        lines.append(f"private until upstream has been told, and not described: {private}")
    return Summary(
        len(entries) + private,
        tuple(sorted({entry.finding.target for entry in entries})),
        tuple(line for line in lines if not line.endswith(": ")),
    )


def render_feedback(templates: Mapping[str, str], title: str, entries: Iterable[Entry]) -> str:
    """The text of FEEDBACK.md. Private findings are counted and not described."""
    everyone = sorted(entries, key=lambda entry: (entry.finding.number, entry.record.stem))
    public = [entry for entry in everyone if entry.finding.disclosure is Disclosure.PUBLIC]
    verified = [entry for entry in public if entry.captures]
    said = {
        "title": title,
        "summary": _summary(public, verified, len(everyone) - len(public)),
        "verified": verified,
        "unverified": [entry for entry in public if not entry.captures],
        "matrices": matrices([(entry.finding, entry.captures) for entry in verified]),
    }
    return rendered(templates, "FEEDBACK.md.j2", said)
