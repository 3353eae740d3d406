"""The ledger of this repository keeps its own rules, and its evidence says what is known to be true."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import pytest

from feedback_ledger import ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.history import spans
from feedback_ledger.loader import Record
from feedback_ledger.ordering import in_order
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Status, Verdict
from feedback_ledger.workarounds import marked, unknown, unneeded

ROOT = Path(__file__).parents[1]
BOOK = ledger.open_ledger(ROOT)
RECORDS = {record.finding.id: record for record in BOOK.records}

# Where each came and went, by running it: the oldest release that shows it, and the first that is free of it again.
KNOWN = {
    "F-029": [("0.1.0", "0.2.0")],
    "F-030": [("0.1.0", "0.2.0")],
    "F-062": [("0.1.0", "0.3.0")],
    "F-047": [("0.1.0", "0.1.2")],
    "F-048": [("0.2.0", None)],
    "F-049": [("0.2.0", None)],
    "F-042": [("0.1.0", None)],
    "F-043": [("0.1.0", None)],
    "F-050": [("2.0.0", None)],
    "F-051": [("2.1.0", None)],
    "F-052": [("1.30.0", "2.1.0")],
    "F-053": [("1.29.1", "1.30.0"), ("2.0.0", "2.2.0")],
    "F-054": [("1.30.0", "2.3.0")],
    "F-055": [("1.30.0", None)],
    "F-058": [("1.31.5", None)],
    "F-057": [("1.29.8", "1.31.6")],
    "F-056": [("1.29.8", None)],
    "F-060": [("0.13.0", "0.14.0")],
    "F-061": [("0.10.0", "0.14.0")],
}


def verdicts(record: Record) -> dict[str, Verdict]:
    captures, stale = current_captures(BOOK, record)
    assert not stale
    return {str(r): judge(record.finding, captures[r]).verdict for r in in_order(r for r in captures if r is not None)}


def test_the_ledger_is_in_order() -> None:
    assert BOOK.problems == ()
    assert not ledger.feedback_is_stale(BOOK, ledger.feedback_text(BOOK)), "run `make ledger`"


@pytest.mark.parametrize("name", KNOWN)
def test_evidence_says_what_is_known_to_be_true(name: str) -> None:
    seen = spans(list(verdicts(RECORDS[name]).items()))
    assert [(span.introduced, span.fixed) for span in seen] == KNOWN[name]


@pytest.mark.parametrize("name", RECORDS)
def test_the_record_says_what_evidence_says(name: str) -> None:
    finding, seen = RECORDS[name].finding, verdicts(RECORDS[name])
    said = [(span.introduced, span.fixed) for span in finding.affected]
    assert said == [(span.introduced, span.fixed) for span in spans(list(seen.items()))]
    assert set(finding.recorded_releases) <= set(seen), "`affected` names only releases that were run"
    if finding.status is Status.FIXED:
        last = finding.affected[-1]
        assert seen[last.last_affected or last.introduced] is Verdict.REPRODUCES, "the control evidence of the fix"
        assert last.fixed is not None and seen[last.fixed] is Verdict.GONE


@pytest.mark.parametrize("name", RECORDS)
def test_no_signature_is_weak(name: str) -> None:
    signature = RECORDS[name].finding.reproducer.signature
    assert signature.control is not None and signature.gone is not None
    assert signature.control.expects_text and signature.gone.expects_text and signature.gone.exit == 0
    assert signature.reproduces.expects_text


def test_every_marked_workaround_has_a_finding() -> None:
    assert BOOK.settings.workarounds, "where our own code may mark workarounds"
    assert [str(problem) for problem in unknown(BOOK, marked(BOOK))] == []


def test_no_workaround_outlives_its_finding() -> None:
    assert [str(problem) for problem in unneeded(BOOK, marked(BOOK))] == []


def test_reproducers_are_short_and_stand_alone() -> None:
    lengths = []
    for record in BOOK.records:
        program = record.reproducer.read_text(encoding="utf-8")
        lengths.append(len(program.splitlines()))
        assert lengths[-1] <= 60, record.stem
        assert "feedback_ledger" not in program and "servers." not in program, record.stem
        if record.reproducer.suffix == ".py":
            assert ast.get_docstring(ast.parse(program)), record.stem
    assert statistics.median(lengths) <= 42


def test_no_registry_and_no_machine_is_named() -> None:
    named = re.compile(r"pyp[i]\.org|pythonhoste[d]\.org|npmj[s]\.(?:org|com)|/wor[k]/|/roo[t]/")
    for folder in ("findings", "reproducers", "servers", "templates"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                found = named.search(path.read_text(encoding="utf-8"))
                assert found is None, f"{path.name}: {found}"
