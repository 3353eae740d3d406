"""How many runs of a finding are enough, and what they come to as one piece of evidence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger.compare import outcome_facts
from feedback_ledger.fields import MOST_RUNS
from feedback_ledger.history import runs_for_silence
from feedback_ledger.model import Evidence, Judgement, Observation, OtherOutcome, Reproducer, Signature
from feedback_ledger.verdict import judge_one
from feedback_ledger.vocabulary import Verdict


@dataclass(frozen=True)
class Enough:
    """When to stop running a finding: after the runs that were asked for, and for one that is flaky only after so many
    quiet runs that it is unlikely to be there still. `hits_suffice` where nobody needs to know how often it shows.
    """

    reproducer: Reproducer
    runs: int
    hits_suffice: bool
    rate: tuple[int, int] | None

    def more(self, seen: Sequence[Observation]) -> bool:
        """Whether another run is wanted after those that were made."""
        verdicts = [judge_one(self.reproducer.signature, run).verdict for run in seen]
        hits = verdicts.count(Verdict.REPRODUCES)
        if self.hits_suffice and self.reproducer.min_hits is not None and hits >= self.reproducer.min_hits:
            return False
        if len(seen) < self.runs:
            return True
        quiet = all(verdict is Verdict.GONE for verdict in verdicts)
        return quiet and len(seen) < _quiet_runs(self.rate)


def too_quiet(judgement: Judgement, rate: tuple[int, int] | None) -> bool:
    """Whether a finding that shows now and then was called gone after fewer runs than that takes."""
    return judgement.verdict is Verdict.GONE and judgement.runs < _quiet_runs(rate)


def _quiet_runs(rate: tuple[int, int] | None) -> int:
    return min(runs_for_silence(*rate), MOST_RUNS) if rate else 0


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
