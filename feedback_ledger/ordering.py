"""Which of two releases comes first, and whether a release lies in a stretch of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import InvalidVersion, Version

from feedback_ledger.model import Finding, Span

Rank = tuple[int, Version, str]


def rank(release: str) -> Rank:
    """What releases are sorted by: as versions; what is no version number comes before all that are."""
    try:
        return 1, Version(release), release
    except InvalidVersion:
        return 0, Version("0"), release


def in_order(releases: Iterable[str]) -> list[str]:
    """Oldest first."""
    return sorted(releases, key=rank)


def is_affected(finding: Finding, release: str) -> bool:
    """Whether the record says that the finding shows on a release, named there or between two that are."""
    return any(_holds(span, release) for span in finding.affected)


def is_before_it(finding: Finding, release: str) -> bool:
    """Whether a release is older than any that the record calls affected."""
    return bool(finding.affected) and all(rank(release) < rank(span.introduced) for span in finding.affected)


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
