"""From runs to verdicts and events: the tables of the contract, and the first promise under all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedback_ledger.model import Cut, Judgement, Matcher, Observation, Reproducer, Signature
from feedback_ledger.verdict import compare, judge_one, judge_runs, unmet
from feedback_ledger.vocabulary import NONZERO, OUTPUT_LIMIT, TIMEOUT, Event, Status, Verdict

SIGNATURE = Signature(
    control=Matcher(stdout="^guest started$"),
    reproduces=Matcher(stdout="^LATE$"),
    gone=Matcher(exit=0, stdout="^in time$"),
)


def run(stdout: str = "", exit: int | str = 0, stderr: str = "", duration_s: float = 1.0, cut: int = 0) -> Observation:
    return Observation(
        exit=exit, duration_s=duration_s, stdout=stdout.encode(), stderr=stderr.encode(), cut=Cut(stdout=cut)
    )


SHOWS, FREE = run("guest started\nLATE\n"), run("guest started\nin time\n")
OTHER, FAILED = run("guest started\nsomething else\n"), run("", 1, "ModuleNotFoundError: No module named 'x'")


@pytest.mark.parametrize(
    ("seen", "verdict", "reason"),
    [
        (SHOWS, Verdict.REPRODUCES, ""),
        (FREE, Verdict.GONE, ""),
        (OTHER, Verdict.DRIFTED, "neither reproduces nor gone holds"),
        (FAILED, Verdict.BROKEN, "ModuleNotFoundError"),
        (run("LATE\n"), Verdict.BROKEN, "control does not hold: stdout lacks '^guest started$'"),
        (run("in time\n"), Verdict.BROKEN, "control does not hold"),
        (run(""), Verdict.BROKEN, "it printed nothing"),
        (run("guest started\nLATE\nin time\n"), Verdict.BROKEN, "ambiguous"),
        (run("guest started\nin time\n", exit=1), Verdict.DRIFTED, "exit 1"),
        (run("guest started\n", exit=TIMEOUT, duration_s=60), Verdict.BROKEN, "hit its time limit after 60.0 s"),
        (run("guest started\nLATE\n", exit=TIMEOUT), Verdict.REPRODUCES, ""),
        (run("guest started\nLATE\n", exit=OUTPUT_LIMIT), Verdict.BROKEN, "would not stop printing"),
        (run("guest started\nin time\n", exit="SIGKILL"), Verdict.DRIFTED, "exit SIGKILL"),
    ],
)
def test_one_run(seen: Observation, verdict: Verdict, reason: str) -> None:
    judgement = judge_one(SIGNATURE, seen)
    assert judgement.verdict is verdict
    assert reason in judgement.reason


def test_half_a_run_is_no_proof_of_a_fix() -> None:
    lenient = Signature(reproduces=Matcher(stdout="^LATE$"), gone=Matcher(stdout="^in time$"))
    hung = run("in time\n", exit=TIMEOUT)
    assert judge_one(lenient, hung).verdict is Verdict.BROKEN
    asks = Signature(reproduces=Matcher(stdout="^LATE$"), gone=Matcher(exit=TIMEOUT, stdout="^in time$"))
    assert judge_one(asks, hung).verdict is Verdict.GONE


@pytest.mark.parametrize("exit", [1, 3, "SIGSEGV", "SIGKILL"])
def test_a_run_that_failed_is_gone_only_if_the_signature_asks_for_that_end(exit: int | str) -> None:
    shows, gone = Matcher(stdout="^LATE$"), Matcher(stdout="^in time$")
    crashed = run("in time\n", exit=exit)
    judgement = judge_one(Signature(reproduces=shows, gone=gone), crashed)
    assert judgement.verdict is Verdict.DRIFTED
    assert judgement.reason == f"gone holds, but for how it ended; exit {exit}"
    for asked in (Matcher(exit=exit, stdout="^in time$"), Matcher(exit=NONZERO, stdout="^in time$")):
        assert judge_one(Signature(reproduces=shows, gone=asked), crashed).verdict is Verdict.GONE
    assert (
        judge_one(Signature(control=Matcher(exit=exit), reproduces=shows, gone=gone), crashed).verdict is Verdict.GONE
    )


@pytest.mark.parametrize(
    ("reproduces", "verdict"),
    [
        (Matcher(stdout="^LATE$"), Verdict.BROKEN),
        (Matcher(output="^LATE$"), Verdict.BROKEN),
        (Matcher(stdout="^LATE$", exit=1), Verdict.GONE),
        (Matcher(stderr="^LATE$"), Verdict.GONE),
    ],
)
def test_what_was_cut_may_have_shown_it(reproduces: Matcher, verdict: Verdict) -> None:
    signature = Signature(reproduces=reproduces, gone=Matcher(exit=0, stdout="^in time$"))
    judgement = judge_one(signature, run("head\nin time\n", cut=5))
    assert judgement.verdict is verdict
    assert ("was cut" in judgement.reason) is (verdict is Verdict.BROKEN)


def test_a_reason_does_nothing_to_a_terminal() -> None:
    judgement = judge_one(SIGNATURE, run("guest started\n", exit=1, stderr="\x1b[2JError: \x07 \u202e\n"))
    assert judgement.reason.endswith(r"exit 1: \x1b[2JError: \x07 \u202e")


def test_a_hang_that_the_signature_asks_for_reproduces() -> None:
    hangs = Signature(reproduces=Matcher(exit=TIMEOUT), gone=Matcher(exit=0, stdout="done"))
    assert judge_one(hangs, run("", exit=TIMEOUT)).verdict is Verdict.REPRODUCES


@pytest.mark.parametrize(
    ("matcher", "seen", "holds"),
    [
        ({"exit": 3}, run(exit=3), True),
        ({"exit": 3}, run(exit="SIGABRT"), False),
        ({"exit": NONZERO}, run(exit=1), True),
        ({"exit": NONZERO}, run(exit="SIGSEGV"), True),
        ({"exit": NONZERO}, run(exit=0), False),
        ({"exit": NONZERO}, run(exit=TIMEOUT), False),
        ({"exit": "SIGABRT"}, run(exit="SIGABRT"), True),
        ({"stdout": "^b$"}, run("a\nb\nc\n"), True),
        ({"stderr": "b"}, run("b"), False),
        ({"output": "b"}, run("", stderr="b"), True),
        ({"not_output": "b"}, run("", stderr="b"), False),
        ({"not_stdout": "b"}, run("a", stderr="b"), True),
        ({"not_stdout": "b"}, run("a", cut=4096), False),
        ({"not_stderr": "b"}, run("a", cut=4096), True),
        ({"min_duration_s": 2.0}, run(duration_s=1.9), False),
        ({"max_duration_s": 2.0}, run(duration_s=1.9), True),
        ({"exit": 0, "stdout": "a", "stderr": "b"}, run("a", stderr="c"), False),
    ],
)
def test_conditions(matcher: dict[str, Any], seen: Observation, holds: bool) -> None:
    assert (unmet(Matcher(**matcher), seen) == "") is holds


def runs(*seen: tuple[Observation, int], min_hits: int | None = None) -> Judgement:
    total = sum(times for _, times in seen)
    return judge_runs(Reproducer(runs=total, min_hits=min_hits, signature=SIGNATURE), seen)


@pytest.mark.parametrize(
    ("seen", "min_hits", "expected"),
    [
        ([(SHOWS, 3)], None, (Verdict.REPRODUCES, 3)),
        ([(FREE, 3)], None, (Verdict.GONE, 0)),
        ([(SHOWS, 1), (FREE, 2)], None, (Verdict.FLAKY, 1)),
        ([(SHOWS, 1), (FREE, 19)], 1, (Verdict.REPRODUCES, 1)),
        ([(SHOWS, 1), (FREE, 19)], 2, (Verdict.FLAKY, 1)),
        ([(FREE, 20)], 1, (Verdict.GONE, 0)),
        ([(FREE, 19), (OTHER, 1)], 1, (Verdict.DRIFTED, 0)),
        ([(SHOWS, 19), (FAILED, 1)], 1, (Verdict.BROKEN, 19)),
        ([(FREE, 19), (FAILED, 1)], 1, (Verdict.BROKEN, 0)),
        ([(OTHER, 2), (FREE, 1)], None, (Verdict.FLAKY, 0)),
    ],
)
def test_several_runs(seen: list[tuple[Observation, int]], min_hits: int | None, expected: tuple[Verdict, int]) -> None:
    judgement = runs(*seen, min_hits=min_hits)
    assert (judgement.verdict, judgement.hits) == expected
    assert judgement.runs == sum(times for _, times in seen)


def test_a_flake_says_how_often() -> None:
    assert runs((SHOWS, 1), (FREE, 2)).reason == "1/3 runs show it"


def said(verdict: Verdict) -> Judgement:
    return Judgement(verdict, "why")


@pytest.mark.parametrize(
    ("status", "verdict", "event"),
    [
        (Status.OPEN, Verdict.REPRODUCES, Event.AS_RECORDED),
        (Status.FIXED, Verdict.GONE, Event.AS_RECORDED),
        (Status.INTENDED, Verdict.GONE, Event.AS_RECORDED),
        (Status.WONTFIX, Verdict.GONE, Event.AS_RECORDED),
        (Status.INTENDED, Verdict.REPRODUCES, Event.AS_RECORDED),
        (Status.WONTFIX, Verdict.REPRODUCES, Event.AS_RECORDED),
        (Status.FIXED, Verdict.REPRODUCES, Event.REGRESSED),
        *((status, Verdict.DRIFTED, Event.DRIFTED) for status in Status),
        *((status, Verdict.FLAKY, Event.FLAKY) for status in Status),
        *((status, Verdict.BROKEN, Event.NOT_JUDGED) for status in Status),
        *((status, Verdict.BLOCKED, Event.NOT_JUDGED) for status in Status),
    ],
)
def test_events(status: Status, verdict: Verdict, event: Event) -> None:
    assert compare(status, said(verdict))[0] is event


def test_fixed_upstream_takes_a_control_run_that_reproduces() -> None:
    gone = said(Verdict.GONE)
    assert compare(Status.OPEN, gone)[0] is Event.GONE_UNCONFIRMED
    for control in Verdict:
        event, reason = compare(Status.OPEN, gone, said(control))
        assert event is (Event.FIXED_UPSTREAM if control is Verdict.REPRODUCES else Event.GONE_UNCONFIRMED)
        assert control is Verdict.REPRODUCES or control.value in reason


@given(
    stdout=st.text(alphabet="guest startdLATEinime\n", max_size=60),
    exit=st.sampled_from([0, 1, 2, 127, TIMEOUT, OUTPUT_LIMIT, "SIGABRT", "SIGSEGV", "SIGKILL"]),
    stderr=st.text(max_size=20),
)
def test_gone_takes_the_control_and_a_clean_end(stdout: str, exit: int | str, stderr: str) -> None:
    """Whatever a run does: it is gone only if it said so in words, after its control, with exit 0."""
    if judge_one(SIGNATURE, run(stdout, exit, stderr)).verdict is Verdict.GONE:
        lines = stdout.split("\n")
        assert exit == 0 and "guest started" in lines and "in time" in lines and "LATE" not in lines
