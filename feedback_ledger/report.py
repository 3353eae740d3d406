"""What commands print of outcomes and findings. Pure: text out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from feedback_ledger.model import Finding
from feedback_ledger.outcome import Outcome
from feedback_ledger.text import outcome as printed_by
from feedback_ledger.text import shortened
from feedback_ledger.vocabulary import Disclosure, Event, Verdict

_MOST_LINES = 40
_MOST_PRINTED = 2000
NEEDS_A_PERSON = frozenset({Event.FIXED_UPSTREAM, Event.GONE_UNCONFIRMED, Event.REGRESSED, Event.DRIFTED, Event.FLAKY})


def as_text(outcomes: Sequence[Outcome]) -> str:
    """A line for each outcome, what differs below it where a person has to look, and a line that counts."""
    rows = [
        (o.record.finding.id, where(o), verdict_words(o), o.event.value, _time(o), public_title(o.record.finding))
        for o in outcomes
    ]
    lines: list[str] = []
    for outcome, row in zip(outcomes, columns(rows).splitlines(), strict=True):
        lines += [row, *(f"    {line}" for line in details(outcome))]
    return "\n".join([*lines, summary_line(outcomes)])


def public_title(finding: Finding) -> str:
    """The claim, unless it is private: what commands print ends up in the logs of CI."""
    return finding.title if finding.disclosure is Disclosure.PUBLIC else "(private)"


def public_reason(outcome: Outcome) -> str:
    """Why an outcome is what it is, unless the finding is private, as its output and patterns tell what it is about."""
    if outcome.record.finding.disclosure is Disclosure.PUBLIC or not outcome.reason:
        return outcome.reason
    return f"private; `show {outcome.record.finding.id}` after a run tells more"


def details(outcome: Outcome) -> list[str]:
    """Why, what the control run said, and how the evidence differs: what a person needs in order to act."""
    lines = [public_reason(outcome)] if outcome.reason else []
    if outcome.record.finding.disclosure is Disclosure.PRIVATE:
        return lines
    if outcome.control is not None:
        release, judgement = outcome.control
        lines.append(
            f"control run on {release}: {judgement.verdict}" + (f" ({judgement.reason})" if judgement.reason else "")
        )
    if outcome.event in NEEDS_A_PERSON and outcome.diff:
        lines += _first(outcome.diff.splitlines())
    elif outcome.evidence is not None and outcome.judgement.verdict in (Verdict.DRIFTED, Verdict.BROKEN):
        printed = shortened(printed_by(outcome.evidence.observations[0][0]), _MOST_PRINTED).splitlines()
        lines += ["it printed:", *(f"  {line}" for line in _first(printed))]
    return lines


def _first(lines: Sequence[str]) -> Sequence[str]:
    left_out = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], f"[... {left_out:,} lines left out here ...]"] if left_out > 0 else lines


def where(outcome: Outcome) -> str:
    """The target and the release that were run."""
    target = outcome.record.finding.target
    return f"{target} {outcome.release}" if outcome.release else target


def verdict_words(outcome: Outcome) -> str:
    """The verdict, with k/n where there were several runs."""
    judgement = outcome.judgement
    several = judgement.runs > 1 and judgement.verdict in (Verdict.REPRODUCES, Verdict.FLAKY)
    return f"{judgement.verdict} {judgement.hits}/{judgement.runs}" if several else str(judgement.verdict)


def _time(outcome: Outcome) -> str:
    if not outcome.fresh:
        return "not rerun"
    return f"{outcome.duration_s:.1f} s" if outcome.evidence else ""


def summary_line(outcomes: Iterable[Outcome]) -> str:
    """How many outcomes there are of each event, such as `12 as recorded, 1 drifted`."""
    counts = Counter(outcome.event for outcome in outcomes)
    return ", ".join(f"{counts[event]} {event.value}" for event in Event if counts[event]) or "nothing to run"


def as_json(title: str, outcomes: Sequence[Outcome]) -> str:
    """The object of the contract, as one text: ASCII, which no encoding of a terminal or pipe can spoil."""
    counts = Counter(outcome.event.value for outcome in outcomes)
    said: dict[str, Any] = {
        "ledger": title,
        "findings": [_plain(outcome) for outcome in outcomes],
        "summary": {event.value: counts[event.value] for event in Event if counts[event.value]},
    }
    return json.dumps(said, indent=2)


def _plain(outcome: Outcome) -> dict[str, Any]:
    finding = outcome.record.finding
    plain: dict[str, Any] = {
        "id": finding.id,
        "stem": outcome.record.stem,
        "target": finding.target,
        "release": outcome.release,
        "status": finding.status.value,
        "verdict": outcome.judgement.verdict.value,
        "event": outcome.event.value,
        "reason": public_reason(outcome),
        "hits": outcome.judgement.hits,
        "runs": outcome.judgement.runs,
        "duration_s": round(outcome.duration_s, 2),
    }
    if finding.disclosure is Disclosure.PRIVATE:
        return plain
    if outcome.control is not None:
        release, judgement = outcome.control
        plain["control"] = {"release": release, "verdict": judgement.verdict.value, "reason": judgement.reason}
    if outcome.event in NEEDS_A_PERSON and outcome.diff:
        plain["diff"] = outcome.diff
    return plain


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of words, aligned; the last column is free."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return "\n".join(
        "  ".join([*(word.ljust(width) for word, width in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip()
        for row in rows
    )
