"""Findings by releases, a table for each target. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger.model import Evidence, Finding
from feedback_ledger.ordering import in_order
from feedback_ledger.verdict import judge

UNTESTED = "untested"


@dataclass(frozen=True)
class Matrix:
    """One target's findings by its releases; `rows` holds an id and a word for each release."""

    target: str
    releases: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def matrices(seen: Sequence[tuple[Finding, Mapping[str | None, Evidence]]]) -> list[Matrix]:
    """A matrix for each target of which more than one release was run, from captures by release."""
    made = []
    for target in sorted({finding.target for finding, _ in seen}):
        mine = [(finding, captures) for finding, captures in seen if finding.target == target and captures]
        releases = in_order({release for _, captures in mine for release in captures if release is not None})
        if len(releases) > 1:
            rows = tuple(
                (finding.id, tuple(_cell(finding, captures.get(r)) for r in releases)) for finding, captures in mine
            )
            made.append(Matrix(target, tuple(releases), rows))
    return made


def _cell(finding: Finding, evidence: Evidence | None) -> str:
    if evidence is None:
        return UNTESTED
    judgement = judge(finding, evidence)
    return (
        f"{judgement.verdict} {judgement.hits}/{judgement.runs}"
        if 0 < judgement.hits < judgement.runs
        else str(judgement.verdict)
    )
