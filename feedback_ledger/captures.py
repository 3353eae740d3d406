"""Which stored evidence speaks of the reproducer as it is now."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from feedback_ledger import releases
from feedback_ledger.book import Ledger
from feedback_ledger.loader import Record
from feedback_ledger.model import Evidence


def current_captures(book: Ledger, record: Record) -> tuple[dict[str | None, Evidence], bool]:
    """The evidence of the reproducer as it is now, by release, and whether there is some of an earlier state of it."""
    stored = book.store.read_all(record.stem, record.finding.target)
    current = current_of(record, stored)
    return current, len(current) < len(stored)


def tested_evidence(book: Ledger, record: Record) -> tuple[Evidence | None, bool]:
    """The evidence on the release that is tested, and whether there is some of an earlier state of the reproducer."""
    captures, stale = current_captures(book, record)
    return captures.get(releases.tested(book.target(record.finding))), stale


def current_of(record: Record, stored: Mapping[str | None, Evidence]) -> dict[str | None, Evidence]:
    """The evidence that is of the reproducer and target as they are now; that of earlier ones says nothing any more."""
    try:
        digest = hashlib.sha256(record.reproducer.read_bytes()).hexdigest()
    except OSError:
        return {}
    now = (record.finding.target, digest)
    return {
        release: evidence
        for release, evidence in stored.items()
        if (evidence.target, evidence.reproducer_sha256) == now
    }
