"""What a sweep and a bisection print. Pure: the same verdicts give the same text, whatever time they took."""

from __future__ import annotations

from collections.abc import Sequence

from feedback_ledger.amend import spans_text
from feedback_ledger.compare import diff
from feedback_ledger.history import KNOWN
from feedback_ledger.matrix import UNTESTED
from feedback_ledger.ordering import in_order
from feedback_ledger.report import columns, public_reason, verdict_words
from feedback_ledger.sweep import Bisection, Row
from feedback_ledger.vocabulary import Disclosure, Verdict

_TELLING = (Verdict.BROKEN, Verdict.BLOCKED, Verdict.DRIFTED, Verdict.FLAKY)


def sweep_text(rows: Sequence[Row]) -> str:
    """A table for each target, why cells are what they are, and what records should say."""
    rows = sorted(rows, key=lambda row: row.record.finding.number)
    parts = [_table(target, [row for row in rows if row.record.finding.target == target]) for target in _targets(rows)]
    reasons = [line for row in rows for line in _reasons(row)]
    proposals = [line for row in rows for line in _proposal(row)]
    unseen = [row.record.finding.id for row in rows if all(o.judgement.verdict not in KNOWN for o in row.outcomes)]
    parts += ["\n".join(["why:", *reasons])] if reasons else []
    parts += ["\n".join(["affected, as it was seen:", *proposals])] if proposals else []
    parts += [f"on no release could it be told whether it shows: {', '.join(unseen)}"] if unseen else []
    parts += [] if proposals or unseen else ["every record says what was seen"]
    return "\n\n".join(parts)


def _targets(rows: Sequence[Row]) -> list[str]:
    return sorted({row.record.finding.target for row in rows})


def _table(target: str, rows: Sequence[Row]) -> str:
    releases = in_order({str(outcome.release) for row in rows for outcome in row.outcomes})
    lines = [("", *releases, "")]
    for row in rows:
        seen = {str(outcome.release): verdict_words(outcome) for outcome in row.outcomes}
        lines.append((row.record.finding.id, *(seen.get(release, UNTESTED) for release in releases), ""))
    return f"{target}\n{columns(lines)}"


def _reasons(row: Row) -> list[str]:
    """A line for each reason, with all releases that share it."""
    by_reason: dict[tuple[Verdict, str], list[str]] = {}
    for outcome in row.outcomes:
        if outcome.judgement.verdict in _TELLING:
            key = outcome.judgement.verdict, public_reason(outcome)
            by_reason.setdefault(key, []).append(str(outcome.release))
    finding = row.record.finding.id
    return [f"  {finding} {', '.join(releases)}: {verdict}: {why}" for (verdict, why), releases in by_reason.items()]


def _proposal(row: Row) -> list[str]:
    finding = row.record.finding
    lines = []
    if row.says_something_new:
        lines.append(f"  {finding.id}: {spans_text(row.proposed)}; the record says {spans_text(finding.affected)}")
    lines += [
        f"  {finding.id}: gone, unconfirmed in {release}: the release before it did not show it in this session"
        for release in row.unconfirmed
    ]
    return lines


def bisection_text(found: Bisection) -> str:
    """The neighbours of every change with the diff of their evidence, and how many runs it took."""
    name = f"{found.record.finding.id} {found.record.finding.target}"
    lines: list[str] = []
    for change in found.changes:
        lines.append(f"{name}: {change.was} in {change.before}, {change.became} in {change.after}")
        if change.unjudged:
            lines.append(f"  between them, and not judged: {', '.join(change.unjudged)}")
        if change.became is Verdict.GONE:
            fresh = found.seen[change.before].fresh
            lines.append(
                f"  control run on {change.before}: reproduces" if fresh else "  gone, unconfirmed: no control run"
            )
        before, after = found.seen[change.before].evidence, found.seen[change.after].evidence
        private = found.record.finding.disclosure is Disclosure.PRIVATE
        if before is not None and after is not None and not private:
            lines += [f"  {line}" for line in diff(before, after).splitlines()]
    if not found.changes:
        verdicts = {outcome.judgement.verdict for outcome in found.seen.values()}
        seen = ", ".join(sorted(verdict.value for verdict in verdicts)) or "nothing"
        lines.append(f"{name}: no change of verdict was found; seen: {seen}")
    for release, outcome in found.seen.items():
        if outcome.judgement.verdict in _TELLING:
            lines.append(f"  {release}: {outcome.judgement.verdict}: {public_reason(outcome)}")
    lines += [f"  gone, unconfirmed: {release} showed it before and does not show it now" for release in found.lost]
    tried = f"{found.runs} of {len(found.releases)} releases were run now"
    return "\n".join([*lines, tried if found.runs != 1 else tried.replace("releases were", "releases was")])
