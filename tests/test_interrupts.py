"""The ledger is ended in mid-run: what was finished is kept, nothing else is left, and the next run goes on from it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from feedback_ledger.environment import folder_of
from feedback_ledger.packages import Wanted
from feedback_ledger.store import EvidenceStore
from feedback_ledger.vocabulary import Ecosystem
from tests.ledgers import alive, command, evidence, finding, run_command, survivors

SOON_S = 20.0
"""More than ending takes, on a machine that is busy with other things; much less than the slow reproducer takes."""


def within(condition: Callable[[], bool], what: str, seconds: float = SOON_S) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not within {seconds:g} s: {what}"
        time.sleep(0.01)


DRAFT = re.compile(r"^\..+\.(?:ya?ml|json)\..+$")


@dataclass
class Place:
    """A ledger with a quick and a slow reproducer, and what is known of the processes that run it."""

    base: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.base / "ledger"

    @property
    def tmp(self) -> Path:
        return self.base / "tmp"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    def quick(self, number: int) -> str:
        """A reproducer that notes each of its runs."""
        return finding(self.root, number, f"echo run >> '{self.outside}/quick-{number}'\necho shown\n")

    def slow(self, number: int) -> str:
        """A reproducer that notes its process and its parent, and does not end before it is let go."""
        program = (
            f"echo run >> '{self.outside}/slow-{number}'\n"
            f"sleep 600 &\necho $$ $PPID $! > '{self.outside}/pids.new'\n"
            f"mv '{self.outside}/pids.new' '{self.outside}/pids-{number}'\n"
            f"while ! [ -e '{self.outside}/go' ]; do sleep 0.05; done\necho shown\n"
        )
        return finding(self.root, number, program, timeout_s=600)

    def let_go(self) -> None:
        (self.outside / "go").touch()

    def runs_of(self, name: str) -> int:
        return len((self.outside / name).read_text().split())

    def pids(self, number: int) -> list[int]:
        return [int(word) for word in (self.outside / f"pids-{number}").read_text().split()]

    def noted(self, stem: str) -> bool:
        """Whether the run is finished: its evidence is written, and that it need not be made again."""
        return any((self.root / ".ledger" / "runs" / stem).glob("*.json"))

    def start(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            argv,
            env={**os.environ, "TMPDIR": str(self.tmp)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_command(self.root, *arguments, env={"TMPDIR": str(self.tmp)})

    def drafts(self) -> list[str]:
        """Files that a write has left behind before it was complete."""
        found = (path for path in self.root.rglob(".*") if DRAFT.match(path.name))
        return sorted(str(path.relative_to(self.root)) for path in found)

    def evidence_is_whole(self) -> None:
        store = EvidenceStore(self.root)
        for record in (self.root / "findings").glob("F-*.yaml"):
            for kept in store.read_all(record.stem).values():
                assert (kept.exit, kept.stdout, kept.stderr) == (0, b"shown\n", b"")

    def nothing_runs(self, *pids: int) -> None:
        within(lambda: not any(map(alive, pids)), f"the processes {pids} have ended")
        within(lambda: survivors(self.tmp) == [], "every process of a run has ended")
        within(lambda: list(self.tmp.iterdir()) == [], "the folders of the runs are removed")
        assert stat.S_IMODE(self.tmp.stat().st_mode) == 0o1777, "the temporary folder itself was changed"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    # a test run in the background of a shell has SIGINT ignored, and so would have what it starts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    here = Place(tmp_path)
    for folder in (here.root, here.tmp, here.outside):
        folder.mkdir()
    here.tmp.chmod(0o1777)
    yield here
    signal.signal(signal.SIGINT, before)
    for process in here.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    within(lambda: survivors(here.tmp) == [], "every process of a run has ended")


def interrupted(place: Place, number: signal.Signals, times: int = 1) -> tuple[int, bytes, str, str]:
    """Sends a signal in mid-run; returns how the ledger ended, what it said, and the stems of both findings."""
    quick, slow = place.quick(1), place.slow(2)
    process = place.start(command(place.root, "run", "--jobs", "2"))
    within(lambda: place.noted(quick) and (place.outside / "pids-2").exists(), "one is done and one runs")
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.05 if times > 1 else 0)
    _, said = process.communicate(timeout=SOON_S)
    return process.returncode, said, quick, slow


def assert_goes_on(place: Place, quick: str, slow: str) -> None:
    """The next run does the rest, and only that."""
    place.evidence_is_whole()
    assert evidence(place.root, quick).stdout == b"shown\n"
    assert list((place.root / "findings" / "evidence").glob(f"{slow}/*")) == []
    assert place.drafts() == []
    place.let_go()
    again = place.run("run", "--jobs", "2")
    assert again.returncode == 0, again.stderr
    assert "2 as recorded" in again.stdout
    assert (place.runs_of("quick-1"), place.runs_of("slow-2")) == (1, 2)
    assert evidence(place.root, slow).stdout == b"shown\n"
    place.evidence_is_whole()
    place.nothing_runs()


@pytest.mark.parametrize("times", [1, 4], ids=["once", "by somebody impatient"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_an_interrupt_keeps_what_was_finished(place: Place, number: signal.Signals, times: int) -> None:
    code, said, quick, slow = interrupted(place, number, times)
    assert b"Traceback" not in said, said.decode()
    # who goes on interrupting when all is done may hit a Python that no longer listens; to a shell that is the same
    assert code == 130 or (times > 1 and code == -number)
    assert said == b"interrupted; what was finished is kept\n"
    place.nothing_runs(*place.pids(2))
    assert_goes_on(place, quick, slow)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP], ids=lambda number: number.name)
def test_a_killed_ledger_leaves_nothing_behind(place: Place, number: signal.Signals) -> None:
    code, _, quick, slow = interrupted(place, number)
    assert code in (-number, 128 + number, 130)
    place.nothing_runs(*place.pids(2))
    assert_goes_on(place, quick, slow)


def test_a_ledger_killed_in_the_middle_of_a_write_leaves_no_half_file(place: Place) -> None:
    quick = place.quick(1)
    process = place.start(patched(f"{DIE}os.fsync = die", "--root", str(place.root), "run"))
    process.communicate(timeout=SOON_S)
    assert process.returncode == -signal.SIGKILL
    assert place.runs_of("quick-1") == 1
    assert list((place.root / "findings").rglob("*.yaml")) == [place.root / "findings" / f"{quick}.yaml"]

    again = place.run("run")
    assert again.returncode == 0, again.stderr
    place.evidence_is_whole()
    assert place.drafts() == [], "the next run should clear away what the killed one left"


def test_a_ledger_killed_at_any_moment_leaves_only_whole_evidence(place: Place) -> None:
    stems = [place.quick(number) for number in range(1, 25)]
    for finished in (1, 5, 12):
        process = place.start(command(place.root, "run", "--jobs", "2"))
        until = time.monotonic() + SOON_S
        while sum(map(place.noted, stems)) < finished and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.kill()
        process.communicate(timeout=SOON_S)
        place.evidence_is_whole()
    done = [number for number, stem in enumerate(stems, start=1) if place.noted(stem)]
    before = {number: place.runs_of(f"quick-{number}") for number in done}
    last = place.run("run", "--jobs", "2")
    assert last.returncode == 0, last.stderr
    assert "24 as recorded" in last.stdout
    assert {number: place.runs_of(f"quick-{number}") for number in done} == before
    assert all(map(place.noted, stems))
    place.evidence_is_whole()
    within(lambda: survivors(place.tmp) == [], "every process of a run has ended")


def patched(patch: str, *arguments: str) -> list[str]:
    """The ledger's command line with something in it replaced."""
    main = "import sys; from feedback_ledger.cli import main; sys.exit(main(sys.argv[1:]))"
    return [sys.executable, "-c", f"{textwrap.dedent(patch)}\n{main}", *arguments]


DIE = "import os, signal\ndie = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
DIES_BEFORE = """
from feedback_ledger.processes import Supervisor
run, seen = Supervisor.run, []
def second(self, *arguments):
    seen.append(1)
    return die() if len(seen) == 2 else run(self, *arguments)
Supervisor.run = second
"""
DIES_AFTER = """
from feedback_ledger.redact import Redactor
Redactor.stream = die
"""


@pytest.mark.parametrize("patch", [DIES_BEFORE, DIES_AFTER], ids=["before it is run", "after it has ended"])
def test_a_ledger_killed_between_runs_leaves_no_folder(place: Place, patch: str) -> None:
    """Its supervisor is idle at that moment, and the only one that can still clear away."""
    place.quick(1)
    place.quick(2)
    process = place.start(patched(DIE + patch, "--root", str(place.root), "run", "--jobs", "1"))
    process.communicate(timeout=SOON_S)
    assert process.returncode == -signal.SIGKILL
    within(lambda: list(place.tmp.iterdir()) == [], "the folder of the run is removed", 5)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_an_interrupt_while_an_environment_is_built(place: Place, number: signal.Signals) -> None:
    stem = finding(place.root, 1, "print('shown')\n", suffix=".py")
    installer = place.outside / "uv"
    installer.write_text(
        '#!/bin/sh\nfor folder; do :; done\nmkdir -p "$folder/bin"\ntouch "$folder/pyvenv.cfg"\n'
        f"sleep 600 &\necho $$ $PPID $! > '{place.outside}/pids.new'\n"
        f"mv '{place.outside}/pids.new' '{place.outside}/pids-1'\nwait\n"
    )
    installer.chmod(0o755)
    patch = f"from feedback_ledger import environment\nenvironment.find_uv = lambda: {str(installer)!r}\n"
    process = place.start(patched(patch, "--root", str(place.root), "run"))
    within((place.outside / "pids-1").exists, "the installer runs")
    process.send_signal(number)
    _, said = process.communicate(timeout=SOON_S)
    assert process.returncode == (130 if number == signal.SIGINT else -number), said.decode()
    place.nothing_runs(*place.pids(1))
    again = place.run("run")
    assert again.returncode == 0, again.stderr
    assert evidence(place.root, stem).stdout == b"shown\n"


NO_PACKAGES = Wanted(Ecosystem.PYPI, "", (), ())


def test_an_interrupt_while_another_ledger_builds_the_environment(place: Place) -> None:
    """The lock of an environment may be held for minutes; waiting for it must not make the ledger deaf."""
    finding(place.root, 1, "print('shown')\n", suffix=".py")
    lock = folder_of(NO_PACKAGES, place.root / ".ledger" / "environments").with_suffix(".lock")
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = place.start(command(place.root, "run"))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.5)
        assert process.poll() is None, "it did not wait for the lock"
        process.send_signal(signal.SIGINT)
        try:
            process.wait(8)
        except subprocess.TimeoutExpired:
            pytest.fail("SIGINT did not end it while it waited for the lock")
    assert process.returncode == 130
    again = place.run("run")
    assert again.returncode == 0, again.stderr


def test_a_half_built_environment_is_not_taken_for_a_whole_one(place: Place) -> None:
    stem = finding(place.root, 1, "print('shown')\n", suffix=".py")
    half = folder_of(NO_PACKAGES, place.root / ".ledger" / "environments")
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").symlink_to("/bin/false")
    said = place.run("run")
    assert said.returncode == 0, said.stderr
    assert evidence(place.root, stem).stdout == b"shown\n"
    assert (half / "ready.json").exists()


def test_two_ledgers_at_once_share_environments_and_evidence(place: Place) -> None:
    stems = [finding(place.root, number, "print('shown')\n", suffix=".py") for number in range(1, 5)]
    stems += [place.quick(number) for number in range(5, 9)]
    both = [place.start(command(place.root, "run", "--jobs", "2")) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
        assert b"8 as recorded" in out
    assert len(list((place.root / ".ledger" / "environments").glob("*/ready.json"))) == 1
    assert all(map(place.noted, stems))
    place.evidence_is_whole()
    assert place.drafts() == []
    place.nothing_runs()
    third = place.run("run")
    assert third.stdout.count("not rerun") == len(stems)
