"""What verdicts over releases say: in which stretches a finding shows, where it came and went, what to run next.
Pure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger.model import Span
from feedback_ledger.vocabulary import Verdict

SILENCE = 0.01
"""The chance of a silent pass that a claim of `gone` may leave for a flaky finding."""
KNOWN = (Verdict.REPRODUCES, Verdict.GONE)


def spans(verdicts: Sequence[tuple[str, Verdict]]) -> tuple[Span, ...]:
    """The stretches in which it shows, from verdicts in the order of releases.

    Only releases that were judged count: one that is broken or blocked neither ends a stretch nor belongs to it.
    """
    found: list[Span] = []
    first = last = None
    for release, verdict in verdicts:
        if verdict is Verdict.REPRODUCES:
            first, last = first or release, release
        elif verdict is Verdict.GONE and first is not None:
            found.append(Span(introduced=first, last_affected=last, fixed=release))
            first = last = None
    if first is not None:
        found.append(Span(introduced=first))
    return tuple(found)


@dataclass(frozen=True)
class Change:
    """Two releases, neighbours among those that can be judged, whose verdicts differ; and those between that can't
    be.
    """

    before: str
    after: str
    was: Verdict
    became: Verdict
    unjudged: tuple[str, ...] = ()


def changes(releases: Sequence[str], verdicts: Mapping[str, Verdict]) -> list[Change]:
    """Every change between neighbours of the releases that were judged."""
    judged = [release for release in releases if verdicts.get(release) in KNOWN]
    found = []
    for before, after in itertools.pairwise(judged):
        if verdicts[before] is not verdicts[after]:
            between = releases[releases.index(before) + 1 : releases.index(after)]
            found.append(Change(before, after, verdicts[before], verdicts[after], tuple(between)))
    return found


def next_probe(releases: Sequence[str], verdicts: Mapping[str, Verdict], *, thorough: bool = False) -> str | None:
    """The release to run next in order to find every change with the fewest runs; None when there is nothing to find.

    First the two ends; then the middle of the widest gap between neighbours that differ. With `thorough`, also the
    middle of the widest gap between neighbours that agree, where a finding may have come and gone. A release that
    could not be
    judged is stepped over to the nearest one that was not tried.
    """
    untried = [index for index, release in enumerate(releases) if release not in verdicts]
    judged = [index for index, release in enumerate(releases) if verdicts.get(release) in KNOWN]
    if not untried:
        return None
    if not judged or untried[0] < judged[0]:
        return releases[untried[0]]
    if untried[-1] > judged[-1]:
        return releases[untried[-1]]
    gaps = []
    for low, high in itertools.pairwise(judged):
        inside = [index for index in untried if low < index < high]
        differ = verdicts[releases[low]] is not verdicts[releases[high]]
        if inside and (differ or thorough):
            gaps.append((differ, len(inside), low, inside))
    if not gaps:
        return None
    _, _, _, inside = max(gaps, key=lambda gap: (gap[0], gap[1], -gap[2]))
    return releases[inside[len(inside) // 2]]


def runs_for_silence(hits: int, runs: int) -> int:
    """How many runs without a hit make a finding seen in `hits` of `runs` runs unlikely to be there still.

    With p = hits / runs, the least n with (1 - p) ** n < SILENCE. One run is enough for what showed in every run.
    """
    if not 0 < hits < runs:
        return 1
    return math.floor(math.log(SILENCE) / math.log(1 - hits / runs)) + 1


def chance_of_silence(hits: int, runs: int, quiet: int) -> float:
    """The chance that `quiet` runs in a row miss a finding that shows in `hits` of `runs`."""
    return (1 - hits / runs) ** quiet if 0 < hits < runs else 0.0
