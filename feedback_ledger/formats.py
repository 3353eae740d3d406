"""Outcomes for machines that run checks: JUnit's XML, GitHub's annotations and its step summary. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from feedback_ledger.outcome import Outcome
from feedback_ledger.report import (
    NEEDS_A_PERSON,
    details,
    public_reason,
    public_title,
    summary_line,
    verdict_words,
    where,
)
from feedback_ledger.text import cell, fenced
from feedback_ledger.vocabulary import Event

_NOT_IN_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


def as_junit(title: str, outcomes: Sequence[Outcome]) -> str:
    """A test suite with a case for each outcome: a failure where an event needs a person, skipped where nothing was
    judged.
    """
    failed = sum(outcome.event in NEEDS_A_PERSON for outcome in outcomes)
    skipped = sum(outcome.event is Event.NOT_JUDGED for outcome in outcomes)
    took = sum(outcome.duration_s for outcome in outcomes)
    suite = ET.Element(
        "testsuite",
        name=title,
        tests=str(len(outcomes)),
        failures=str(failed),
        errors="0",
        skipped=str(skipped),
        time=f"{took:.3f}",
    )
    for outcome in outcomes:
        _junit_case(suite, outcome)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return str(ET.tostring(root, encoding="us-ascii", xml_declaration=True), "ascii")


def _junit_case(suite: ET.Element, outcome: Outcome) -> None:
    finding = outcome.record.finding
    name = f"{finding.id}: {public_title(finding)}".translate(_NOT_IN_XML)
    case = ET.SubElement(suite, "testcase", classname=where(outcome), name=name, time=f"{outcome.duration_s:.3f}")
    if outcome.event in NEEDS_A_PERSON:
        failure = ET.SubElement(
            case, "failure", type=outcome.event.value, message=_said(outcome).translate(_NOT_IN_XML)
        )
        failure.text = "\n".join(details(outcome)).translate(_NOT_IN_XML)
    elif outcome.event is Event.NOT_JUDGED:
        ET.SubElement(case, "skipped", message=public_reason(outcome).translate(_NOT_IN_XML))


def _said(outcome: Outcome) -> str:
    return f"{outcome.event}: {verdict_words(outcome)} on {where(outcome)}, recorded as {outcome.record.finding.status}"


@dataclass(frozen=True)
class GitHub:
    """What a step prints for GitHub to annotate records with, and the Markdown of its summary."""

    annotations: str
    summary: str


def as_github(title: str, outcomes: Sequence[Outcome], folder: str) -> GitHub:
    """Annotations on the lines of records, errors where an event needs a person and warnings where nothing was judged.

    `folder` is the ledger's, from the repository's root, or empty.
    """
    told = [outcome for outcome in outcomes if outcome.event is not Event.AS_RECORDED]
    return GitHub("".join(f"{_annotation(outcome, folder)}\n" for outcome in told), _summary(title, outcomes, told))


def _claim(outcome: Outcome) -> str:
    return cell(public_title(outcome.record.finding))


def _annotation(outcome: Outcome, folder: str) -> str:
    record = outcome.record
    level = "warning" if outcome.event is Event.NOT_JUDGED else "error"
    file = f"{folder}/" if folder else ""
    place = f"file={_property(f'{file}findings/{record.path.name}')},line={record.line('status')}"
    head = f"{record.finding.id} {outcome.event}"
    message = "\n".join([f"{_said(outcome)}: {public_title(record.finding)}", *details(outcome)])
    return f"::{level} {place},title={_property(head)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _summary(title: str, outcomes: Sequence[Outcome], told: Sequence[Outcome]) -> str:
    lines = [f"### {title}", "", summary_line(outcomes), ""]
    if told:
        lines += ["| finding | release | verdict | event | claim |", "|---|---|---|---|---|"]
        lines += [
            f"| {' | '.join([o.record.finding.id, where(o), verdict_words(o), o.event, _claim(o)])} |" for o in told
        ]
        for outcome in told:
            if more := details(outcome):
                lines += ["", f"**{outcome.record.finding.id}**", "", fenced("\n".join(more), "diff")]
    return "\n".join(lines) + "\n"
