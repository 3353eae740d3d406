"""What it takes to say that something was fixed: a control run that can tell, and enough quiet runs."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from feedback_ledger import ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.cli import main
from feedback_ledger.outcome import Outcome
from feedback_ledger.vocabulary import Event, Verdict
from tests.ledgers import finding, opened, run, settings

SHOWS, FREE = "echo shown", "echo not shown"


def releases(root: Path, tested: str, **programs: str) -> None:
    """A target of which each release is a folder with the program `thing` in it; `r1` stands for release 1."""
    for name, program in programs.items():
        thing = root / name / "thing"
        thing.parent.mkdir(parents=True, exist_ok=True)
        thing.write_text(f"#!/bin/sh\n{program}\n")
        thing.chmod(0o755)
    folders = ", ".join(f'"{name[1:]}" = "{name}"' for name in programs)
    settings(root, f'[targets.thing]\necosystem = "command"\nrelease = "{tested}"\nfolders = {{{folders}}}\n')


def now_and_then(root: Path, every: int) -> str:
    """A program that shows its finding in each run of so many, and fills no other place than a file for its count."""
    count = root / "count"
    told = f'n=$(($(cat "{count}" 2>/dev/null || echo 0) + 1)); echo $n > "{count}"'
    return f"{told}; [ $((n % {every})) = 0 ] && {SHOWS} || {FREE}"


def checked(root: Path) -> Outcome:
    (outcome,) = run(root, write=False)
    return outcome


def test_a_later_release_that_shows_it_is_no_control(tmp_path: Path) -> None:
    """It was not fixed in 1: it came after that."""
    releases(tmp_path, "1", r1=FREE, r2=SHOWS, r3=FREE)
    finding(tmp_path, 1, "thing")
    run(tmp_path, release="2")
    outcome = checked(tmp_path)
    assert (outcome.event, outcome.control) == (Event.GONE_UNCONFIRMED, None)
    assert outcome.reason == "no older release is known to be affected, so no control run was possible"
    releases(tmp_path, "3", r1=FREE, r2=SHOWS, r3=FREE)
    assert checked(tmp_path).event is Event.FIXED_UPSTREAM


def test_a_control_run_of_another_program_tells_nothing(tmp_path: Path) -> None:
    releases(tmp_path, "2", r1=SHOWS, r2=FREE)
    reproducer = tmp_path / "reproducers" / "F-001-case.sh"
    finding(tmp_path, 1, f"thing; echo '# edited' >> '{reproducer}'", affected={"introduced": "1"})
    outcome = checked(tmp_path)
    assert (outcome.event, outcome.control) == (Event.GONE_UNCONFIRMED, None)
    assert outcome.reason.startswith("the reproducer was edited beside the control run")


def test_an_edit_during_the_control_run_spoils_the_quiet_runs_after_it(tmp_path: Path) -> None:
    reproducer = tmp_path / "reproducers" / "F-001-case.sh"
    edits = f"[ $n -lt 5 ] || echo '# edited' >> '{reproducer}'"
    releases(tmp_path, "2", r1=f"{now_and_then(tmp_path, 5)}; {edits}", r2=FREE)
    finding(tmp_path, 1, "thing\n", runs=5, min_hits=1, affected={"introduced": "1"})
    outcome = checked(tmp_path)
    assert (outcome.judgement.runs, outcome.event) == (21, Event.GONE_UNCONFIRMED)
    assert outcome.reason.startswith("the reproducer was edited beside the control run")


@pytest.mark.parametrize(
    ("release", "event"), [("1", "as recorded"), ("3", "as recorded"), ("4", "as recorded"), ("6", "fixed upstream")]
)
def test_between_a_fix_and_its_return_nothing_is_fixed_anew(tmp_path: Path, release: str, event: str) -> None:
    releases(tmp_path, "6", r1=FREE, r2=SHOWS, r3=FREE, r4=FREE, r5=SHOWS, r6=FREE)
    spans = [{"introduced": "2", "last_affected": "2", "fixed": "3"}, {"introduced": "5"}]
    finding(tmp_path, 1, "thing", affected=spans)
    (outcome,) = run(tmp_path, write=False, release=release)
    assert (outcome.judgement.verdict, outcome.event.value) == (Verdict.GONE, event)


def test_no_release_is_its_own_control_by_another_spelling(tmp_path: Path) -> None:
    releases(tmp_path, "1.0.0", **{"r1.0": SHOWS, "r1.0.0": FREE})
    finding(tmp_path, 1, "thing", affected={"introduced": "1.0"})
    outcome = checked(tmp_path)
    assert (outcome.event, outcome.control) == (Event.GONE_UNCONFIRMED, None)


def test_a_pre_release_in_words_of_npm_is_no_control_for_what_came_before_it(tmp_path: Path) -> None:
    releases(tmp_path, "1.0.0", **{"r1.0.0": FREE, "r1.1.0-canary.3": SHOWS, "r1.1.0": FREE})
    finding(tmp_path, 1, "thing")
    run(tmp_path, release="1.1.0-canary.3")
    assert checked(tmp_path).event is Event.GONE_UNCONFIRMED
    (outcome,) = run(tmp_path, write=False, release="1.1.0")
    assert (outcome.event, outcome.control and outcome.control[0]) == (Event.FIXED_UPSTREAM, "1.1.0-canary.3")


def test_a_control_that_shows_it_seldom_asks_for_more_quiet_runs(tmp_path: Path) -> None:
    releases(tmp_path, "2", r1=now_and_then(tmp_path, 5), r2=FREE)
    finding(tmp_path, 1, "thing", runs=10, min_hits=1, affected={"introduced": "1"})
    outcome = checked(tmp_path)
    assert outcome.event is Event.FIXED_UPSTREAM
    # It goes on after a hit: a rate that is taken at the first one would be too high.
    assert outcome.control is not None and (outcome.control[1].hits, outcome.control[1].runs) == (2, 10)
    assert outcome.judgement.runs == 21  # 0.8 ** 21 is the first below 1%
    assert outcome.reason == "seen in 2 of 10 runs before; that all 21 runs miss it has a chance of 0.92%"


def test_a_fix_on_record_is_as_recorded_only_after_as_many_quiet_runs(tmp_path: Path) -> None:
    releases(tmp_path, "2", r1=now_and_then(tmp_path, 5), r2=FREE)
    span = {"introduced": "1", "last_affected": "1", "fixed": "2"}
    finding(tmp_path, 1, "thing", runs=10, min_hits=1, status="fixed", affected=span)
    run(tmp_path, "F-001")
    (tested,) = run(tmp_path, "F-001")
    assert (tested.fresh, tested.judgement.runs) == (False, 10)  # nothing tells yet that it does not always show
    tested, known_bad = run(tmp_path, also_known_bad=True)
    assert (known_bad.judgement.hits, known_bad.judgement.runs) == (2, 10)
    assert (tested.fresh, tested.judgement.runs) == (True, 21)
    assert not any(outcome.fresh for outcome in run(tmp_path, also_known_bad=True))


def test_what_was_quiet_for_too_short_is_run_again(tmp_path: Path) -> None:
    releases(tmp_path, "2", r1=now_and_then(tmp_path, 5), r2=FREE)
    span = {"introduced": "1", "last_affected": "1", "fixed": "2"}
    finding(tmp_path, 1, "thing", runs=10, min_hits=1, status="fixed", affected=span)
    run(tmp_path)
    run(tmp_path, release="1")
    (tested,) = run(tmp_path)
    assert (tested.fresh, tested.judgement.runs) == (True, 21)


def test_more_runs_may_show_that_it_is_still_there(tmp_path: Path) -> None:
    releases(tmp_path, "2", r1=now_and_then(tmp_path / "r1", 5), r2=now_and_then(tmp_path / "r2", 12))
    finding(tmp_path, 1, "thing", runs=5, min_hits=1, affected={"introduced": "1"})
    outcome = checked(tmp_path)
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.REPRODUCES, Event.AS_RECORDED)


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ('ecosystem = "service"', "nothing here can choose release 9 of thing"),
        ('ecosystem = "command"', "nothing here can choose release 9 of thing"),
        ('ecosystem = "command"\nversion_command = ["echo", "1.0"]', "needs thing 9, found 1.0"),
        ('ecosystem = "command"\nversion_command = ["no-such-command"]', "needs thing 9, found no version"),
    ],
)
def test_no_run_goes_by_the_name_of_a_release_that_it_was_not_of(tmp_path: Path, toml: str, why: str) -> None:
    settings(tmp_path, f"[targets.thing]\n{toml}\n")
    finding(tmp_path, 1, FREE)
    (outcome,) = run(tmp_path, release="9")
    assert (outcome.judgement.verdict, outcome.reason) == (Verdict.BLOCKED, why)
    (outcome,) = run(tmp_path)
    assert outcome.judgement.verdict is Verdict.GONE


def test_a_release_may_be_written_shorter_than_its_command_does(tmp_path: Path) -> None:
    toml = '[targets.thing]\necosystem = "command"\nrelease = "1.0"\nversion_command = ["echo", "1.0.0"]\n'
    settings(tmp_path, toml)
    finding(tmp_path, 1, SHOWS)
    assert checked(tmp_path).event is Event.AS_RECORDED


def test_a_reproducer_in_another_language_cannot_choose_a_release(tmp_path: Path) -> None:
    settings(tmp_path, '[targets.thing]\necosystem = "npm"\npackage = "thing"\nrelease = "1"\n')
    finding(tmp_path, 1, "print('not shown')", suffix=".py")
    (outcome,) = run(tmp_path, release="9")
    assert outcome.reason == "nothing here can choose release 9 of thing"


def test_evidence_about_another_target_counts_for_nothing(tmp_path: Path) -> None:
    settings(tmp_path, '[targets.thing]\nrelease = "1"\n[targets.other]\nrelease = "1"\n')
    finding(tmp_path, 1, SHOWS)
    run(tmp_path)
    finding(tmp_path, 1, SHOWS, target="other")
    book = opened(tmp_path)
    assert current_captures(book, ledger.select(book)[0]) == ({}, True)


@pytest.mark.parametrize("target", ["other", "zother"])
def test_evidence_about_another_target_hides_none_of_the_same_release(tmp_path: Path, target: str) -> None:
    settings(tmp_path, f'[targets.thing]\nrelease = "1"\n[targets.{target}]\nrelease = "1"\n')
    finding(tmp_path, 1, SHOWS)
    run(tmp_path)
    finding(tmp_path, 1, SHOWS, target=target)
    run(tmp_path)
    book = opened(tmp_path)
    captures, _ = current_captures(book, ledger.select(book)[0])
    assert [evidence.target for evidence in captures.values()] == [target]
    (outcome,) = run(tmp_path)
    assert not outcome.fresh


def test_other_words_for_a_requirement_call_for_no_new_run(tmp_path: Path) -> None:
    toml = '[targets.thing]\n[requirements.shell]\ncommand = "sh"\nabout = "a shell"\n'
    settings(tmp_path, toml)
    finding(tmp_path, 1, SHOWS, requires=["shell"])
    run(tmp_path)
    settings(tmp_path, toml.replace("a shell", "any shell"))
    assert not run(tmp_path)[0].fresh
    settings(tmp_path, toml.replace('"sh"', '"cat"'))
    assert run(tmp_path)[0].fresh


def test_a_bisection_looks_where_the_record_says_that_something_changed(tmp_path: Path) -> None:
    """The two ends agree, so nothing else would lead there."""
    releases(tmp_path, "7", r1=FREE, r2=FREE, r3=FREE, r4=SHOWS, r5=FREE, r6=FREE, r7=FREE)
    finding(tmp_path, 1, "thing", affected={"introduced": "4", "last_affected": "4", "fixed": "5"})
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["--root", str(tmp_path), "bisect", "F-001"]) == 0
    assert "gone in 3, reproduces in 4\n" in out.getvalue() and "reproduces in 4, gone in 5\n" in out.getvalue()


def test_a_bisection_looks_where_evidence_shows_it(tmp_path: Path) -> None:
    releases(tmp_path, "6", r1=FREE, r2=FREE, r3=SHOWS, r4=FREE, r5=FREE, r6=FREE)
    finding(tmp_path, 1, "thing")
    run(tmp_path, release="3")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["--root", str(tmp_path), "bisect", "F-001"]) == 0
    assert "gone in 2, reproduces in 3\n" in out.getvalue() and "reproduces in 3, gone in 4\n" in out.getvalue()


def test_a_sweep_looks_at_what_was_run_before(tmp_path: Path) -> None:
    """As with a release that was yanked, and that somebody ran by name."""
    releases(tmp_path, "3", r1=FREE, r2=SHOWS, r3=FREE)
    finding(tmp_path, 1, "thing")
    run(tmp_path, release="2")
    settings(tmp_path, (tmp_path / "ledger.toml").read_text() + 'since = "3"\n')
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["--root", str(tmp_path), "sweep"])
    assert out.getvalue().splitlines()[1].split() == ["2", "3"]


def test_a_sweep_that_could_judge_nothing_says_so(tmp_path: Path) -> None:
    releases(tmp_path, "1", r1="exit 3")
    finding(tmp_path, 1, "thing")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["--root", str(tmp_path), "sweep"])
    assert out.getvalue().endswith("\n\non no release could it be told whether it shows: F-001\n")
