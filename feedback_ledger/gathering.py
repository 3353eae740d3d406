"""How many runs of a finding are enough, and what they come to as one piece of evidence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger.compare import outcome_facts
from feedback_ledger.fields import MOST_RUNS
from feedback_ledger.history import runs_for_silence
from feedback_ledger.model import Evidence, Observation, OtherOutcome, Reproducer, Signature
from feedback_ledger.options import Options
from feedback_ledger.verdict import judge_one
from feedback_ledger.vocabulary import Verdict


@dataclass(frozen=True)
class Enough:
    """When to stop running a finding: after the runs that were asked for, and for one that is flaky only after so many
    quiet runs that it is unlikely to be there still.
    """

    reproducer: Reproducer
    options: Options
    rate: tuple[int, int] | None

    def more(self, seen: Sequence[Observation]) -> bool:
        """Whether another run is wanted after those that were made."""
        verdicts = [judge_one(self.reproducer.signature, run).verdict for run in seen]
        hits = verdicts.count(Verdict.REPRODUCES)
        if not self.options.write and self.reproducer.min_hits is not None and hits >= self.reproducer.min_hits:
            return False  # a check needs no rate
        if len(seen) < (self.options.runs or self.reproducer.runs):
            return True
        quiet = all(verdict is Verdict.GONE for verdict in verdicts)
        return quiet and self.rate is not None and len(seen) < min(runs_for_silence(*self.rate), MOST_RUNS)


def rate_of(current: Mapping[str | None, Evidence]) -> tuple[int, int] | None:
    """Hits and runs of the rarest showing that evidence has of a finding that does not show in every run."""
    seen = [(evidence.hits, evidence.runs) for evidence in current.values() if 0 < evidence.hits < evidence.runs]
    return min(seen, key=lambda rate: rate[0] / rate[1]) if seen else None


def grouped(runs: Sequence[Observation], signature: Signature) -> tuple[Observation, tuple[OtherOutcome, ...], int]:
    """The run to show (one that shows the finding, if any does), each outcome that differs from it, and the number of
    hits.
    """
    hits = [run for run in runs if judge_one(signature, run).verdict is Verdict.REPRODUCES]
    shown = (hits or runs)[0]
    outcomes: dict[tuple[object, ...], list[Observation]] = {}
    for run in runs:
        outcomes.setdefault(outcome_facts(run), []).append(run)
    del outcomes[outcome_facts(shown)]
    others = tuple(OtherOutcome(**dict(same[0]), times=len(same)) for same in outcomes.values())
    return shown, others, len(hits)
