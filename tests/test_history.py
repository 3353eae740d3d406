"""What verdicts over releases say, and how few runs it takes to know."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedback_ledger.history import chance_of_silence, changes, next_probe, runs_for_silence, spans
from feedback_ledger.model import Span
from feedback_ledger.vocabulary import Verdict

R, G, X, B = Verdict.REPRODUCES, Verdict.GONE, Verdict.BROKEN, Verdict.BLOCKED
LETTERS = {"R": R, "G": G, "X": X, "B": B, "D": Verdict.DRIFTED, "F": Verdict.FLAKY}


def history(letters: str) -> list[tuple[str, Verdict]]:
    return [(f"1.{number}", LETTERS[letter]) for number, letter in enumerate(letters)]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("", []),
        ("GGG", []),
        ("RRR", [("1.0", None, None)]),
        ("RRG", [("1.0", "1.1", "1.2")]),
        ("GRR", [("1.1", None, None)]),
        ("GRG", [("1.1", "1.1", "1.2")]),
        ("RGRRGR", [("1.0", "1.0", "1.1"), ("1.2", "1.3", "1.4"), ("1.5", None, None)]),
        ("XRXBRXG", [("1.1", "1.4", "1.6")]),
        ("RXG", [("1.0", "1.0", "1.2")]),
        ("XXX", []),
        ("RDFG", [("1.0", "1.0", "1.3")]),
    ],
)
def test_spans(letters: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    wanted = tuple(Span(introduced=a, last_affected=b, fixed=c) for a, b, c in expected)
    assert spans(history(letters)) == wanted


def bisect(letters: str, *, thorough: bool = False) -> tuple[dict[str, Verdict], list[str]]:
    truth = dict(history(letters))
    releases, known, order = list(truth), dict[str, Verdict](), list[str]()
    while (probe := next_probe(releases, known, thorough=thorough)) is not None:
        assert probe not in known
        known[probe] = truth[probe]
        order.append(probe)
    return known, order


@pytest.mark.parametrize("length", range(2, 40))
def test_one_change_takes_the_ends_and_a_halving(length: int) -> None:
    for place in range(1, length):
        letters = "R" * place + "G" * (length - place)
        known, order = bisect(letters)
        (change,) = changes(list(dict(history(letters))), known)
        assert (change.before, change.after) == (f"1.{place - 1}", f"1.{place}")
        assert len(order) <= 2 + math.ceil(math.log2(length - 1)) if length > 2 else 2


def test_eight_releases_take_at_most_five_runs() -> None:
    assert max(len(bisect("R" * place + "G" * (8 - place))[1]) for place in range(1, 8)) == 5


def test_no_change_takes_two_runs() -> None:
    assert bisect("RRRRRRRR")[1] == ["1.0", "1.7"]


@given(st.text(alphabet="RGXB", min_size=1, max_size=24))
def test_thorough_finds_every_change(letters: str) -> None:
    truth = dict(history(letters))
    known, _ = bisect(letters, thorough=True)
    assert changes(list(truth), known) == changes(list(truth), truth)


@given(st.text(alphabet="RGXB", min_size=1, max_size=24))
def test_every_change_that_is_named_is_between_neighbours(letters: str) -> None:
    truth = dict(history(letters))
    known, order = bisect(letters)
    assert len(order) == len(set(order))
    for change in changes(list(truth), known):
        assert all(truth[release] in (X, B) for release in change.unjudged)


def test_it_came_and_went() -> None:
    known, _ = bisect("GGGRRGGG", thorough=True)
    found = changes([f"1.{n}" for n in range(8)], known)
    assert [(c.before, c.after, c.was, c.became) for c in found] == [("1.2", "1.3", G, R), ("1.4", "1.5", R, G)]


@pytest.mark.parametrize(("hits", "runs", "enough"), [(30, 30, 1), (0, 30, 1), (4, 30, 33), (1, 20, 90), (1, 2, 7)])
def test_runs_for_silence(hits: int, runs: int, enough: int) -> None:
    assert runs_for_silence(hits, runs) == enough
    if 0 < hits < runs:
        assert chance_of_silence(hits, runs, enough) < 0.01 <= chance_of_silence(hits, runs, enough - 1)
