"""Every finding on every release of its target, and the releases in which one finding's verdict changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger import releases
from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.errors import UsageError
from feedback_ledger.gathering import rate_of, too_quiet
from feedback_ledger.history import KNOWN, Change, changes, next_probe, spans
from feedback_ledger.loader import Record
from feedback_ledger.model import Span
from feedback_ledger.ordering import in_order, in_range
from feedback_ledger.outcome import Outcome
from feedback_ledger.session import Session
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Verdict


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
    tested one, those that the record itself names, and those that it was run on before.

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
        known = {*published[name], *record.finding.recorded_releases, tested, *current_captures(book, record)[0]}
        found[record.stem] = [r for r in in_order(r for r in known if r) if span is None or in_range(r, span)]
        if not found[record.stem]:
            raise UsageError(f"no release of {name} lies in {span}")
    return found


def sweep(session: Session, book: Ledger, records: Sequence[Record], over: Mapping[str, Sequence[str]]) -> list[Row]:
    """Runs each record on each release of its target. A fix is proposed only where the release before it was seen to
    show the finding in this very session; one whose evidence was at hand is therefore run again.
    """
    pairs = [(record, release) for record in records for release in over[record.stem]]
    cells = dict(zip(((r.stem, release) for r, release in pairs), session.run_on(pairs, controls=False), strict=True))
    tried: set[tuple[str, str]] = set()
    while again := [
        (record, release)
        for record in records
        for release in _to_run_again(book, record, cells)
        if (record.stem, release) not in tried
    ]:
        tried |= {(record.stem, release) for record, release in again}
        for (record, release), outcome in zip(again, session.rerun(again), strict=True):
            cells[record.stem, release] = outcome
    return [_row(book, record, over[record.stem], cells) for record in records]


Cells = dict[tuple[str, str], Outcome]


def _to_run_again(book: Ledger, record: Record, cells: Cells) -> list[str]:
    """The controls of all fixes; and where a finding that shows now and then was quiet, but in too few runs."""
    known = spans(_verdicts(book, record, cells))
    mine = {release: outcome for (stem, release), outcome in cells.items() if stem == record.stem}
    controls = [s.last_affected for s in known if s.last_affected and _says_gone(mine.get(s.fixed or ""))]
    return [*(release for release in controls if not _confirms(mine.get(release))), *_too_quiet(mine)]


def _too_quiet(seen: Mapping[str, Outcome]) -> list[str]:
    """Where a finding that shows now and then was called gone after fewer runs than that takes."""
    rate = rate_of({release: outcome.evidence for release, outcome in seen.items() if outcome.evidence is not None})
    return [release for release, outcome in seen.items() if too_quiet(outcome.judgement, rate)]


def _says_gone(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.judgement.verdict is Verdict.GONE


def _confirms(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.fresh and outcome.judgement.verdict is Verdict.REPRODUCES


def _row(book: Ledger, record: Record, over: Sequence[str], cells: Cells) -> Row:
    proposed = spans(_verdicts(book, record, cells))
    unconfirmed = tuple(
        span.fixed
        for span in proposed
        if span.fixed
        and _says_gone(cells.get((record.stem, span.fixed)))
        and not _confirms(cells.get((record.stem, span.last_affected or span.introduced)))
    )
    return Row(record, tuple(cells[record.stem, release] for release in over), proposed, unconfirmed)


def _verdicts(book: Ledger, record: Record, cells: Cells) -> list[tuple[str, Verdict]]:
    """What is known of every release: what the record says, over that what stored evidence says, over that what this
    session saw. A run that could not be judged takes nothing back.
    """
    finding = record.finding
    captures, _ = current_captures(book, record)
    known = dict.fromkeys(finding.known_bad, Verdict.REPRODUCES)
    known |= {span.fixed: Verdict.GONE for span in finding.affected if span.fixed}
    seen = [(r, judge(finding, evidence).verdict) for r, evidence in captures.items() if r is not None]
    seen += [(r, outcome.judgement.verdict) for (stem, r), outcome in cells.items() if stem == record.stem]
    for release, verdict in seen:
        if verdict in KNOWN or release not in known:
            known[release] = verdict
    return [(release, known[release]) for release in in_order(known)]


@dataclass(frozen=True)
class Bisection:
    """Every change of verdict that was found, what was seen of each release, and on how many it was run just now."""

    record: Record
    releases: tuple[str, ...]
    seen: Mapping[str, Outcome]
    changes: tuple[Change, ...]
    runs: int
    lost: tuple[str, ...] = ()

    @property
    def is_confirmed(self) -> bool:
        """Whether each fix that is named has a release beside it that was seen to show the finding in this session."""
        return not self.lost and all(
            self.seen[change.before].fresh for change in self.changes if change.became is Verdict.GONE
        )


def bisect(session: Session, book: Ledger, record: Record, over: Sequence[str], *, thorough: bool) -> Bisection:
    """Runs as few releases as it takes to name every change, one after the other; first those where the record or
    stored evidence has one, as what is known to have changed there must not be missed.

    What was run here before and has not changed is taken as it is, which is how an interrupted bisection goes on; the
    last release before a fix is run again unless it was run just now.
    """
    ends = {end for s in spans(_verdicts(book, record, {})) for end in (s.introduced, s.last_affected, s.fixed)}
    named = [release for release in over if release in ends or release in record.finding.recorded_releases]
    seen = dict(zip(named, session.run_on([(record, each) for each in named], controls=False), strict=True))
    lost: list[str] = []
    tried: set[str] = set()
    while True:
        verdicts = {release: outcome.judgement.verdict for release, outcome in seen.items()}
        if (release := next_probe(over, verdicts, thorough=thorough)) is not None:
            (seen[release],) = session.run_on([(record, release)], controls=False)
            continue
        found = changes(over, verdicts)
        again = [c.before for c in found if c.became is Verdict.GONE and not seen[c.before].fresh]
        again = [release for release in dict.fromkeys([*again, *_too_quiet(seen)]) if release not in tried]
        if not again:
            break
        tried |= set(again)
        for release, outcome in zip(again, session.rerun([(record, r) for r in again]), strict=True):
            if seen[release].judgement.verdict is Verdict.REPRODUCES and outcome.judgement.verdict not in KNOWN:
                lost.append(release)
            seen[release] = outcome
    fresh = sum(outcome.fresh for outcome in seen.values())
    return Bisection(record, tuple(over), seen, tuple(found), fresh, tuple(lost))
