"""Which of two releases comes first, and whether a release lies in a stretch of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.version import InvalidVersion, Version

from feedback_ledger.model import Finding, Span

Rank = tuple[int, Version, str]
_PRE_RELEASE = re.compile(r"(\d+(?:\.\d+)*)-")


def rank(release: str) -> Rank:
    """What releases are sorted by: as versions; what is no version number comes before all that are. A pre-release in
    words of npm's, such as 1.2.0-canary.3, comes before the release that it leads to.
    """
    try:
        return 1, Version(release), release
    except InvalidVersion:
        leads_to = _PRE_RELEASE.match(release)
        return (1, Version(f"{leads_to[1]}.dev0"), release) if leads_to else (0, Version("0"), release)


def is_older(one: str, other: str) -> bool:
    """Whether a release comes before another, and is not just another spelling of it."""
    return rank(one) < rank(other) and not is_same(one, other)


def is_same(one: str, other: str) -> bool:
    """Whether two numbers name one release, as 1.0 and 1.0.0 do."""
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def in_order(releases: Iterable[str]) -> list[str]:
    """Oldest first."""
    return sorted(releases, key=rank)


def is_affected(finding: Finding, release: str) -> bool:
    """Whether the record says that the finding shows on a release, named there or between two that are."""
    return any(_holds(span, release) for span in finding.affected)


def comes_later(finding: Finding, release: str) -> bool:
    """Whether the record says that a release is free of it and a later one is not: one that is older than any affected
    release, or that lies between a fix and the release in which it came back.
    """
    before = [span for span in finding.affected if rank(span.introduced) <= rank(release)]
    return len(before) < len(finding.affected) and all(
        span.fixed is not None and rank(span.fixed) <= rank(release) for span in before
    )


def _holds(span: Span, release: str) -> bool:
    here = rank(release)
    if here < rank(span.introduced):
        return False
    if span.last_affected is not None and here > rank(span.last_affected):
        return False
    return span.fixed is None or here < rank(span.fixed)


def in_range(release: str, span: str) -> bool:
    """Whether a release lies in `A..B`, ends included; `..B` and `A..` are open, and `A` alone is just that release."""
    low, dots, high = span.partition("..")
    if not dots:
        return rank(release) == rank(low)
    here = rank(release)
    return (not low or rank(low) <= here) and (not high or here <= rank(high))
