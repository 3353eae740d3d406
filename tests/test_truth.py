"""The first promise, end to end: real wheels of a thing that answers late and then in time, real environments, real
runs.

Whatever else breaks, nothing may read as fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from feedback_ledger.outcome import Outcome
from feedback_ledger.store import EvidenceStore
from feedback_ledger.vocabulary import Event, Verdict
from tests.ledgers import evidence, finding, reproducer_path, run, settings
from tests.wheels import make_wheel, only_these

LATE, IN_TIME = "def answer():\n    return 'late'\n", "def answer():\n    return 'in time'\n"
SIGNATURE = {
    "control": {"stdout": "^asked$"},
    "reproduces": {"exit": 0, "stdout": "^late$"},
    "gone": {"exit": 0, "stdout": "^in time$"},
}
PROGRAM = """\
# /// script
# requires-python = ">=3.11"
# dependencies = ["thing==1.0.0"]
# ///
import thing

print("asked", flush=True)
print(thing.answer())
"""


class World:
    """A ledger with one finding about `thing`, whose releases 1.0.0 and 1.1.0 answer late and 2.0.0 in time."""

    def __init__(self, root: Path, wheels: Path) -> None:
        self.root, self.wheels = root, wheels
        for version, source in (("1.0.0", LATE), ("1.1.0", LATE), ("2.0.0", IN_TIME)):
            make_wheel(wheels, version, source)
        self.test("1.1.0")
        self.record()

    def test(self, release: str) -> None:
        settings(self.root, f'[targets.thing]\necosystem = "pypi"\npackage = "thing"\nrelease = "{release}"\n')

    def record(self, program: str = PROGRAM, status: str = "open", **fields: object) -> str:
        given = {"affected": {"introduced": "1.0.0"}, "signature": SIGNATURE, **fields}
        return finding(self.root, 1, program, suffix=".py", status=status, **given)  # type: ignore[arg-type]

    def run(self, **options: Any) -> Outcome:
        (outcome,) = run(self.root, "F-001", **options)
        return outcome

    def check(self) -> Outcome:
        return self.run(write=False, fresh=True)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    only_these(monkeypatch, tmp_path / "wheels")
    return World(tmp_path / "ledger", tmp_path / "wheels")


def test_it_reproduces_and_the_release_under_test_overrides_the_pin(world: World) -> None:
    outcome = world.run()
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.REPRODUCES, Event.AS_RECORDED)
    facts = evidence(world.root, "F-001-case", "1.1.0")
    assert facts.versions.packages == {"thing": "1.1.0"}
    assert facts.versions.target == facts.release == "1.1.0"
    assert facts.command == "python F-001-case.py"
    assert facts.stdout == b"asked\nlate\n"


def test_fixed_upstream_takes_a_control_run_in_the_same_session(world: World) -> None:
    world.test("2.0.0")
    outcome = world.check()
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.GONE, Event.FIXED_UPSTREAM)
    assert outcome.control is not None
    assert (outcome.control[0], outcome.control[1].verdict) == ("1.0.0", Verdict.REPRODUCES)
    assert outcome.diff.startswith("--- thing 1.0.0\n+++ thing 2.0.0\n")
    assert "-stdout: late\n+stdout: in time" in outcome.diff


def test_the_control_run_is_on_the_last_release_known_to_be_affected(world: World) -> None:
    world.run()
    world.test("2.0.0")
    outcome = world.check()
    assert outcome.control is not None
    assert outcome.control[0] == "1.1.0"


def test_without_a_control_run_it_is_gone_but_unconfirmed(world: World) -> None:
    world.record(affected=[])
    world.test("2.0.0")
    outcome = world.check()
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.GONE, Event.GONE_UNCONFIRMED)
    assert "no older release" in outcome.reason


@pytest.mark.parametrize("source", ["raise MemoryError\n", IN_TIME, "def answer():\n    return 'maybe'\n", None])
def test_a_control_that_does_not_reproduce_confirms_nothing(world: World, source: str | None) -> None:
    if source is None:
        (world.wheels / "thing-1.0.0-py3-none-any.whl").unlink()
    else:
        make_wheel(world.wheels, "1.0.0", source)
    world.test("2.0.0")
    outcome = world.check()
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.GONE, Event.GONE_UNCONFIRMED)
    assert "1.0.0" in str(outcome.control)


def test_a_fixed_finding_that_shows_again_has_regressed(world: World) -> None:
    world.record(status="fixed", affected={"introduced": "1.0.0", "last_affected": "1.0.0", "fixed": "1.1.0"})
    outcome = world.check()
    assert outcome.event is Event.REGRESSED


def test_a_fixed_finding_is_also_run_on_the_last_release_that_showed_it(world: World) -> None:
    world.record(status="fixed", affected={"introduced": "1.0.0", "last_affected": "1.1.0", "fixed": "2.0.0"})
    world.test("2.0.0")
    outcomes = run(world.root, also_known_bad=True)
    assert [(o.release, o.judgement.verdict, o.event) for o in outcomes] == [
        ("2.0.0", Verdict.GONE, Event.AS_RECORDED),
        ("1.1.0", Verdict.REPRODUCES, Event.AS_RECORDED),
    ]


def test_between_two_affected_releases_it_must_show_and_before_them_it_need_not(world: World) -> None:
    make_wheel(world.wheels, "1.0.5", LATE)
    make_wheel(world.wheels, "0.9.0", IN_TIME)
    world.record(status="fixed", affected={"introduced": "1.0.0", "last_affected": "1.1.0", "fixed": "2.0.0"})
    assert world.run(release="1.0.5", write=False).event is Event.AS_RECORDED
    world.record()
    early = world.run(release="0.9.0", write=False)
    assert (early.judgement.verdict, early.event) == (Verdict.GONE, Event.AS_RECORDED)


def test_a_record_that_calls_a_good_release_affected_is_told(world: World) -> None:
    make_wheel(world.wheels, "3.0.0", IN_TIME)
    world.test("3.0.0")
    world.record(status="fixed", affected={"introduced": "1.0.0", "last_affected": "2.0.0", "fixed": "3.0.0"})
    outcomes = run(world.root, also_known_bad=True)
    assert outcomes[1].event is Event.GONE_UNCONFIRMED
    assert "calls 2.0.0 affected" in outcomes[1].reason


def test_a_release_that_cannot_be_installed_is_blocked_with_the_installers_reason(world: World) -> None:
    world.test("9.9.9")
    outcome = world.run()
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.BLOCKED, Event.NOT_JUDGED)
    assert outcome.reason.startswith("No solution found when resolving dependencies: Because ")
    assert "thing==9.9.9" in outcome.reason
    assert not (world.root / "findings" / "evidence").exists()


def test_a_wheel_for_another_platform_is_blocked(world: World) -> None:
    make_wheel(world.wheels, "3.0.0", IN_TIME, tag="py3-none-win_amd64")
    world.test("3.0.0")
    assert world.run().judgement.verdict is Verdict.BLOCKED


def test_an_interpreter_that_is_not_here_is_blocked(world: World) -> None:
    world.record(PROGRAM.replace(">=3.11", ">=3.99"))
    outcome = world.run()
    assert outcome.judgement.verdict is Verdict.BLOCKED
    assert "3.99" in outcome.reason


def edited(old: str, new: str) -> Callable[[World], object]:
    return lambda world: world.record(PROGRAM.replace(old, new))


def remove(pattern: str) -> Callable[[World], None]:
    def apply(world: World) -> None:
        world.run()
        for found in world.root.glob(f".ledger/environments/*/{pattern}"):
            found.unlink()

    return apply


FAULTS: dict[str, tuple[Callable[[World], object], Verdict]] = {
    "a typo in an import": (edited("import thing", "import thong"), Verdict.BROKEN),
    "a syntax error": (edited("import thing", "import thing ("), Verdict.BROKEN),
    "another banner": (edited('"asked"', '"asking"'), Verdict.BROKEN),
    "another word for the outcome": (
        edited("print(thing.answer())", "print('it was', thing.answer())"),
        Verdict.DRIFTED,
    ),
    "an exit code after all": (
        edited("print(thing.answer())", "print(thing.answer())\nraise SystemExit(3)"),
        Verdict.DRIFTED,
    ),
    "nothing printed at all": (edited(PROGRAM, ""), Verdict.BROKEN),
    "killed in mid-run": (
        edited("print(thing", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nprint(thing"),
        Verdict.DRIFTED,
    ),
    "a hang": (lambda w: w.record(PROGRAM + "while True: pass\n", timeout_s=1.0), Verdict.BROKEN),
    "a full disk": (
        edited('print("asked', 'open("/dev/full", "w").write("x" * 9999)\nprint("asked'),
        Verdict.BROKEN,
    ),
    "a missing wheel": (lambda w: (w.wheels / "thing-2.0.0-py3-none-any.whl").unlink(), Verdict.BLOCKED),
    "a missing companion": (edited('["thing==1.0.0"]', '["thing==1.0.0", "nothing"]'), Verdict.BLOCKED),
    "a header that is no TOML": (edited('["thing==1.0.0"]', '["thing==1.0.0"'), Verdict.BROKEN),
    "a module gone from the environment": (remove("lib/python*/site-packages/thing.py"), Verdict.BROKEN),
    "a wheel that is no wheel": (
        lambda w: (w.wheels / "thing-2.0.0-py3-none-any.whl").write_bytes(b"garbage"),
        Verdict.BLOCKED,
    ),
    "another signature": (
        lambda w: w.record(signature={**SIGNATURE, "gone": {"exit": 0, "stdout": "^punctual$"}}),
        Verdict.DRIFTED,
    ),
    "a control that asks for more": (
        lambda w: w.record(signature={**SIGNATURE, "control": {"stdout": "^asked twice$"}}),
        Verdict.BROKEN,
    ),
    "a signature that fits both": (
        lambda w: w.record(signature={**SIGNATURE, "reproduces": {"stdout": "^in time$"}}),
        Verdict.BROKEN,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_reads_as_fixed(world: World, name: str) -> None:
    """On 2.0.0, where the thing is well, so that only the fault stands between the run and `fixed upstream`."""
    world.test("2.0.0")
    spoil, verdict = FAULTS[name]
    spoil(world)
    outcome = world.check()
    assert outcome.judgement.verdict is verdict, outcome.reason
    assert outcome.event in (Event.NOT_JUDGED, Event.DRIFTED)
    assert outcome.reason


def test_without_uv_nothing_is_judged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feedback_ledger.environment.find_uv", lambda: None)
    world.test("2.0.0")
    outcome = world.check()
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.BROKEN, Event.NOT_JUDGED)


def test_a_run_that_broke_never_replaces_evidence_that_was_judged(world: World) -> None:
    world.run()
    (module,) = world.root.glob(".ledger/environments/*/lib/python*/site-packages/thing.py")
    module.unlink()
    outcome = world.run(fresh=True)
    assert outcome.judgement.verdict is Verdict.BROKEN
    assert not outcome.changed
    assert evidence(world.root, "F-001-case", "1.1.0").stdout == b"asked\nlate\n"


def test_what_ran_and_is_as_recorded_is_not_run_again(world: World) -> None:
    assert world.run().fresh
    assert not world.run().fresh
    assert world.run(fresh=True).fresh


@pytest.mark.parametrize("change", ["program", "signature", "evidence", "settings"])
def test_a_change_makes_it_run_again(world: World, change: str) -> None:
    world.run()
    match change:
        case "program":
            world.record(PROGRAM + "# a comment\n")
        case "signature":
            world.record(signature={**SIGNATURE, "reproduces": {"stdout": "^late$"}})
        case "evidence":
            path = EvidenceStore(world.root).path("F-001-case", "thing", "1.1.0")
            path.write_text(path.read_text().replace("late", "later"))
        case "settings":
            settings(
                world.root,
                'output_limit = 4096\n[targets.thing]\necosystem = "pypi"\npackage = "thing"\nrelease = "1.1.0"\n',
            )
    assert world.run().fresh


def test_durations_and_dates_alone_are_no_news(world: World) -> None:
    program = PROGRAM + "import time\nprint(f'took {time.perf_counter_ns() % 97 + 1} ms at {time.time_ns():#x}')\n"
    world.record(program)
    world.run()
    path = EvidenceStore(world.root).path("F-001-case", "thing", "1.1.0")
    before = path.read_text()
    assert not world.run(fresh=True).changed
    assert path.read_text() == before
    assert world.run(fresh=True, recapture=True).changed
    assert path.read_text() != before


def test_how_often_a_warning_is_repeated_is_no_news(world: World) -> None:
    mark = world.root / "mark"
    warn = f"print('careful\\n' * (2 + pathlib.Path({str(mark)!r}).exists()), file=sys.stderr)"
    world.record(f"{PROGRAM}import pathlib, sys\n{warn}\n")
    world.run()
    mark.touch()
    assert not world.run(fresh=True).changed


def test_drift_shows_what_changed(world: World) -> None:
    world.run()
    (module,) = world.root.glob(".ledger/environments/*/lib/python*/site-packages/thing.py")
    module.unlink()  # a link to the installer's own copy
    module.write_text("def answer():\n    return 'too late'\n")
    outcome = world.run(fresh=True)
    assert outcome.event is Event.DRIFTED
    assert "-stdout: late\n+stdout: too late" in outcome.diff


def test_equal_sets_of_packages_share_one_environment(world: World) -> None:
    finding(world.root, 2, PROGRAM + "# another\n", suffix=".py", signature=SIGNATURE)
    run(world.root, jobs=2)
    environments = [path for path in (world.root / ".ledger" / "environments").iterdir() if path.is_dir()]
    assert len(environments) == 1


def test_a_flaky_finding_is_told_with_its_rate(world: World) -> None:
    # every other run finds the mark that the run before it has left
    mark = world.root.parent / "mark"
    program = f"m={mark}\necho asked\nif [ -e $m ]; then rm $m; echo in time; else : > $m; echo late; fi\n"
    reproducer_path(world.root, "F-001-case", ".py").unlink()
    finding(world.root, 1, program, signature=SIGNATURE, runs=4)
    outcome = world.run()
    assert (outcome.event, outcome.reason) == (Event.FLAKY, "2/4 runs show it")
    facts = evidence(world.root, "F-001-case", "1.1.0")
    assert (facts.runs, facts.hits, [other.times for other in facts.others]) == (4, 2, [2])
    assert facts.stdout == b"asked\nlate\n"
    finding(world.root, 1, program, signature=SIGNATURE, runs=4, min_hits=1)
    assert world.run().event is Event.AS_RECORDED
    assert not reproducer_path(world.root, "F-001-case", ".py").exists()
