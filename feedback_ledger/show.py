"""Findings on a terminal: the list, and one of them with all that is known. Pure but for the evidence and
markers it reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures, tested_evidence
from feedback_ledger.loader import Record
from feedback_ledger.matrix import matrices
from feedback_ledger.ordering import in_order
from feedback_ledger.report import columns
from feedback_ledger.verdict import judge
from feedback_ledger.workarounds import marked


def list_text(book: Ledger, records: Sequence[Record]) -> str:
    """A line for each finding: id, target, severity, status, verdict on the tested release, title."""
    rows = [
        (
            r.finding.id,
            r.finding.target,
            r.finding.severity.value,
            r.finding.status.value,
            _tested(book, r),
            r.finding.title,
        )
        for r in records
    ]
    return columns(rows) if rows else "no findings yet; `new` starts one"


def matrix_text(book: Ledger, records: Sequence[Record]) -> str:
    """Findings by releases from stored evidence, a table for each target."""
    made = matrices([(record.finding, current_captures(book, record)[0]) for record in records])
    tables = []
    for matrix in made:
        rows = [("", *matrix.releases, ""), *((name, *cells, "") for name, cells in matrix.rows)]
        tables.append(f"{matrix.target}\n{columns(rows)}")
    return "\n\n".join(tables) or "no target was run on more than one release; `sweep` does that"


def _tested(book: Ledger, record: Record) -> str:
    evidence, stale = tested_evidence(book, record)
    if evidence is not None:
        return str(judge(record.finding, evidence).verdict)
    return "stale" if stale else "not run"


def show_text(book: Ledger, record: Record) -> str:
    """One finding: what it claims, what it needs, the verdict on each release that was run, and where it is worked
    around.
    """
    finding = record.finding
    captures, stale = current_captures(book, record)
    facts = [
        ("claim", finding.title),
        ("about", f"{finding.target}, {finding.area}"),
        ("is", f"{finding.nature.value}, {finding.severity.value}, {finding.status.value}, {finding.disclosure.value}"),
        ("record", str(record.path.relative_to(book.root))),
        ("reproducer", str(record.reproducer.relative_to(book.root))),
        ("needs", "; ".join(book.needed(finding)) or "nothing"),
    ]
    lines = [finding.id, *columns(facts).splitlines(), "", finding.summary.strip(), "", "seen:"]
    order = [release for release in captures if release is None] + in_order(r for r in captures if r is not None)
    for release in order:
        evidence = captures[release]
        judgement = judge(finding, evidence)
        runs = f", {judgement.hits}/{judgement.runs} runs" if judgement.runs > 1 else ""
        why = f" ({judgement.reason})" if judgement.reason else ""
        lines.append(
            f"  {finding.target} {release or ''}".rstrip() + f": {judgement.verdict}{runs}{why}, {evidence.captured}"
        )
    if stale:
        lines.append("  and evidence of an earlier state of the reproducer, which counts for nothing: run it again")
    elif not captures:
        lines.append("  nothing yet")
    places = [place for place in marked(book) if place.finding == finding.id]
    if places:
        lines += ["", *(f"Workaround in: {place}" for place in places)]
    return "\n".join(lines)
