"""What came of running one finding on one release. A value; other modules make it and print it."""

from __future__ import annotations

from dataclasses import dataclass

from feedback_ledger.compare import diff
from feedback_ledger.loader import Record
from feedback_ledger.model import Evidence, Judgement
from feedback_ledger.vocabulary import Event


@dataclass(frozen=True)
class Outcome:
    """What came of one finding on one release.

    `evidence` is what was judged; `stored` what was known of that release before; `baseline` what to hold it against;
    `control` the release and verdict of the control run, if one was made; `fresh` whether it was run now; `changed`
    whether evidence was written.
    """

    record: Record
    release: str | None
    judgement: Judgement
    event: Event
    reason: str
    duration_s: float = 0.0
    evidence: Evidence | None = None
    stored: Evidence | None = None
    baseline: Evidence | None = None
    control: tuple[str, Judgement] | None = None
    fresh: bool = True
    changed: bool = False

    @property
    def diff(self) -> str:
        """How what was judged differs from the baseline."""
        return diff(self.baseline, self.evidence) if self.baseline and self.evidence else ""
