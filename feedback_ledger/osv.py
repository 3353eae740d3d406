"""Findings in the Open Source Vulnerability format (OSV), schema 1.7: what tools that know releases and ranges can
read. Pure.

Not every finding is a vulnerability; `database_specific` says what each is. Private findings are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from feedback_ledger.model import Evidence, Finding, Span
from feedback_ledger.ordering import in_order
from feedback_ledger.targets import Target
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Disclosure, Ecosystem, Status, Verdict

SCHEMA_VERSION = "1.7.0"
_NAMES = {Ecosystem.PYPI: "PyPI", Ecosystem.NPM: "npm"}
_NEVER = "1970-01-01T00:00:00Z"


@dataclass(frozen=True)
class Source:
    """One finding with its target's settings, its captures by release, and how its reproducer is named."""

    finding: Finding
    target: Target
    captures: Mapping[str | None, Evidence]
    reproducer: str


def as_osv(sources: Iterable[Source]) -> str:
    """A JSON array with one OSV record for each public finding; the same findings give the same text."""
    records = [_record(source) for source in sources if source.finding.disclosure is Disclosure.PUBLIC]
    return json.dumps(records, indent=2) + "\n"


def _record(source: Source) -> dict[str, Any]:
    finding = source.finding
    dates = [evidence.captured.isoformat() for evidence in source.captures.values()]
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "id": f"x_ledger-{finding.id}",
        "modified": f"{max(dates)}T00:00:00Z" if dates else _NEVER,
        "summary": finding.title,
        "details": _details(finding),
        "affected": [_affected(source)],
        "references": _references(finding),
        "database_specific": {
            "nature": finding.nature.value,
            "severity": finding.severity.value,
            "status": finding.status.value,
            "verified": bool(source.captures),
            "reproducer": source.reproducer,
        },
    }
    if finding.status is Status.WITHDRAWN:
        record["withdrawn"] = record["modified"]
    return record


def _details(finding: Finding) -> str:
    parts = [("", finding.summary), ("Expected: ", finding.expected), ("Actual: ", finding.actual)]
    return "\n\n".join(label + text.strip() for label, text in [*parts, ("Impact: ", finding.impact)])


def _affected(source: Source) -> dict[str, Any]:
    finding, target = source.finding, source.target
    shown = [
        release
        for release, evidence in source.captures.items()
        if release is not None and judge(finding, evidence).verdict is Verdict.REPRODUCES
    ]
    affected: dict[str, Any] = {"database_specific": {"target": finding.target}}
    if (name := _NAMES.get(target.ecosystem)) is not None:
        affected["package"] = {"ecosystem": name, "name": target.package}
    if finding.affected:
        affected["ranges"] = [{"type": "ECOSYSTEM", "events": _events(span)} for span in finding.affected]
    if shown:
        affected["versions"] = in_order(shown)
    return affected


def _events(span: Span) -> list[dict[str, str]]:
    """OSV takes either the fix or the last affected release, and prefers the fix."""
    events = [{"introduced": span.introduced}]
    if span.fixed:
        events.append({"fixed": span.fixed})
    elif span.last_affected:
        events.append({"last_affected": span.last_affected})
    return events


def _references(finding: Finding) -> list[dict[str, str]]:
    known = [("REPORT", finding.upstream.issue), ("FIX", finding.upstream.fixed_by)]
    return [{"type": kind, "url": address} for kind, address in known if address and "://" in address]
