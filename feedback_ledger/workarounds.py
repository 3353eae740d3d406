"""The workarounds of a ledger's own code: which are marked, which name no finding, which are needed no longer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from feedback_ledger import releases
from feedback_ledger.book import Ledger
from feedback_ledger.captures import tested_evidence
from feedback_ledger.errors import Problem
from feedback_ledger.loader import Record
from feedback_ledger.places import Place, find_places
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Status, Verdict


def marked(book: Ledger) -> list[Place]:
    """Every marker in the folders that the settings name, by file and line."""
    return find_places(book.root, book.settings.workarounds)


def unknown(book: Ledger, places: Iterable[Place]) -> Iterator[Problem]:
    """The markers whose finding does not exist."""
    # A record that can't be read is there all the same, and complained about elsewhere.
    there = {"-".join(path.stem.split("-")[:2]) for path in (book.root / "findings").glob("F-*.yaml")}
    for place in places:
        if place.finding not in there:
            said = (
                f"workaround for {place.finding}, which is no finding of this ledger; mend the id or remove the marker"
            )
            yield Problem(place.file, place.line, "", said)


def unneeded(book: Ledger, places: Iterable[Place]) -> Iterator[Problem]:
    """The markers whose finding no longer shows on the release that is tested."""
    records = {record.finding.id: record for record in book.records}
    reasons: dict[str, str] = {}
    for place in places:
        if place.finding not in records:
            continue
        if place.finding not in reasons:
            reasons[place.finding] = _why_over(book, records[place.finding])
        if why := reasons[place.finding]:
            said = f"workaround for {place.finding}, which is {why}; it can be removed"
            yield Problem(place.file, place.line, "", said)


def _why_over(book: Ledger, record: Record) -> str:
    """Why nothing has to work around a finding any more; empty while something has to."""
    finding = record.finding
    evidence, _ = tested_evidence(book, record)
    verdict = None if evidence is None else judge(finding, evidence).verdict
    if verdict is Verdict.GONE:
        return f"gone on {finding.target} {releases.tested(book.target(finding)) or ''}".rstrip()
    # A fix may be newer than the release that is tested, and a fixed finding may have come back.
    shows = verdict in (Verdict.REPRODUCES, Verdict.FLAKY)
    return "recorded as fixed" if finding.status is Status.FIXED and not shows else ""
