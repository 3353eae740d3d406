"""Every finding on every release of its target, and the releases in which one finding's verdict changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger import releases
from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.errors import UsageError
from feedback_ledger.history import Change, changes, next_probe, spans
from feedback_ledger.loader import Record
from feedback_ledger.model import Span, Verdict
from feedback_ledger.ordering import in_order, in_range
from feedback_ledger.outcome import Outcome
from feedback_ledger.session import Session
from feedback_ledger.verdict import judge


@dataclass(frozen=True)
class Row:
    """One finding over releases: what came of each, oldest first, and what `affected` should therefore say."""

    record: Record
    outcomes: tuple[Outcome, ...]
    proposed: tuple[Span, ...]
    unconfirmed: tuple[str, ...]

    @property
    def says_something_new(self) -> bool:
        """Whether the record's own `affected` says something else."""
        known = self.record.finding.affected
        return len(known) != len(self.proposed) or any(
            not _same(old, new) for old, new in zip(known, self.proposed, strict=True)
        )


def _same(old: Span, new: Span) -> bool:
    """An open end may name the last release that was seen to show it, or leave it out."""
    if new.fixed is None and new.last_affected is None:
        return old.introduced == new.introduced and old.fixed is None
    return old == new


def releases_of(book: Ledger, records: Sequence[Record], span: str | None) -> dict[str, list[str]]:
    """The releases to run for each record, by its stem, oldest first: those published since the target's `since`, the
    tested one, and those that the record itself names.

    `span` is `A..B`. Raises UsageError if an index can't tell, or if nothing is left to run.
    """
    published: dict[str, list[str]] = {}
    found: dict[str, list[str]] = {}
    for record in records:
        name, target = record.finding.target, book.target(record.finding)
        if name not in published:
            published[name] = releases.published(name, target)
            if not published[name]:
                raise UsageError(f"target {name} has no releases; there is nothing to sweep")
        tested = releases.tested(target)
        known = {*published[name], *record.finding.recorded_releases, *([tested] if tested else [])}
        found[record.stem] = [r for r in in_order(known) if span is None or in_range(r, span)]
        if not found[record.stem]:
            raise UsageError(f"no release of {name} lies in {span}")
    return found


def sweep(session: Session, book: Ledger, records: Sequence[Record], over: Mapping[str, Sequence[str]]) -> list[Row]:
    """Runs each record on each release of its target. A fix is proposed only where the release before it was seen to
    show the finding in this very session; one whose evidence was at hand is therefore run again.
    """
    pairs = [(record, release) for record in records for release in over[record.stem]]
    cells = dict(zip(((r.stem, release) for r, release in pairs), session.run_on(pairs, controls=False), strict=True))
    controls = [
        (record, span.last_affected)
        for record in records
        for span in spans(_verdicts(book, record, cells))
        if span.fixed is not None and span.last_affected is not None
        if not _is_fresh(cells.get((record.stem, span.last_affected)))
    ]
    again = session.rerun(controls)
    for (record, release), outcome in zip(controls, again, strict=True):
        cells[record.stem, release] = outcome
    return [_row(book, record, over[record.stem], cells) for record in records]


Cells = dict[tuple[str, str], Outcome]


def _is_fresh(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.fresh


def _row(book: Ledger, record: Record, over: Sequence[str], cells: Cells) -> Row:
    proposed = spans(_verdicts(book, record, cells))
    unconfirmed = tuple(
        span.fixed
        for span in proposed
        if span.fixed and not _is_fresh(cells.get((record.stem, span.last_affected or span.introduced)))
    )
    return Row(record, tuple(cells[record.stem, release] for release in over), proposed, unconfirmed)


def _verdicts(book: Ledger, record: Record, cells: Cells) -> list[tuple[str, Verdict]]:
    """What is known of every release: what this session saw, and before it what stored evidence says."""
    captures, _ = current_captures(book, record)
    known = {release: judge(record.finding, seen).verdict for release, seen in captures.items() if release is not None}
    known |= {release: outcome.judgement.verdict for (stem, release), outcome in cells.items() if stem == record.stem}
    return [(release, known[release]) for release in in_order(known)]


@dataclass(frozen=True)
class Bisection:
    """Every change of verdict that was found, what was seen of each release, and on how many it was run just now."""

    record: Record
    releases: tuple[str, ...]
    seen: Mapping[str, Outcome]
    changes: tuple[Change, ...]
    runs: int

    @property
    def is_confirmed(self) -> bool:
        """Whether each fix that is named has a release beside it that was seen to show the finding in this session."""
        return all(self.seen[change.before].fresh for change in self.changes if change.became is Verdict.GONE)


def bisect(session: Session, record: Record, over: Sequence[str], *, thorough: bool) -> Bisection:
    """Runs as few releases as it takes to name every change, one after the other.

    What was run here before and has not changed is taken as it is, which is how an interrupted bisection goes on; the
    last release before a fix is run again unless it was run just now.
    """
    seen: dict[str, Outcome] = {}
    while (
        release := next_probe(over, {r: o.judgement.verdict for r, o in seen.items()}, thorough=thorough)
    ) is not None:
        (seen[release],) = session.run_on([(record, release)], controls=False)
    found = changes(over, {release: outcome.judgement.verdict for release, outcome in seen.items()})
    controls = [(record, c.before) for c in found if c.became is Verdict.GONE and not seen[c.before].fresh]
    for (_, release), outcome in zip(controls, session.rerun(controls), strict=True):
        seen[str(release)] = outcome
    verdicts = {release: outcome.judgement.verdict for release, outcome in seen.items()}
    fresh = sum(outcome.fresh for outcome in seen.values())
    return Bisection(record, tuple(over), seen, tuple(changes(over, verdicts)), fresh)
