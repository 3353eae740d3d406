"""A proposal changes what it is about, and no other character."""

from __future__ import annotations

import pytest
import yaml

from feedback_ledger.amend import with_affected
from feedback_ledger.model import Span

BEFORE, AFTER = (
    "# a remark\nid: F-001   # kept\nstatus: open  # this too\n",
    "summary: |\n  text: affected: no\n\n# the end\n",
)
ONE = (Span(introduced="0.1.0", last_affected="0.1.2", fixed="0.2.0"),)
TWO = (*ONE, Span(introduced="1.10"))
FLOW = '{introduced: "0.1.0", last_affected: "0.1.2", fixed: "0.2.0"}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('affected: {introduced: "0.1.0"}\n', f"affected: {FLOW}\n"),
        ('affected: {introduced: "0.1.0"}   # why\n', f"affected: {FLOW}   # why\n"),
        ("affected: []           # nothing yet\n", f"affected: {FLOW}           # nothing yet\n"),
        ("affected:\n", f"affected: {FLOW}\n"),
        ('affected:\n  introduced: "0.1.0"\n  fixed: "9"  # why\n# next\n', f"affected: {FLOW}  # why\n# next\n"),
        ('affected:\n- introduced: "0.1.0"\n- {introduced: "0.3"}\n\n', f"affected: {FLOW}\n\n"),
        ('affected:   [{introduced: "0.1.0"},\n  {introduced: "0.3"}]\n', f"affected: {FLOW}\n"),
        ("affected: null\n", f"affected: {FLOW}\n"),
        ("", f"affected: {FLOW}\n"),
    ],
)
def test_only_affected_changes(old: str, new: str) -> None:
    assert with_affected(BEFORE + old + AFTER, ONE) == BEFORE + new + AFTER


def test_several_spans_and_none() -> None:
    text = with_affected(BEFORE + "affected: []\n" + AFTER, TWO)
    assert yaml.safe_load(text)["affected"] == [
        {"introduced": "0.1.0", "last_affected": "0.1.2", "fixed": "0.2.0"},
        {"introduced": "1.10"},
    ]
    assert with_affected(text, ()) == BEFORE + "affected: []\n" + AFTER
