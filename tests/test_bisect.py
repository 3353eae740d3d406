"""Since when and until when, by running as few releases as it takes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from feedback_ledger.cli import main
from tests.ledgers import command, finding, run_command, settings
from tests.wheels import make_folders, make_wheel, only_these

Cli = Callable[..., tuple[int, str, str]]
SIGNATURE: Mapping[str, Any] = {"reproduces": {"stdout": "^late$"}, "gone": {"stdout": "^in time$"}}
WORDS = {"R": "late", "G": "in time", "D": "maybe"}


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["--root", str(tmp_path), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def history(root: Path, letters: str, **fields: Any) -> None:
    """A ledger with one finding whose releases 1.0, 1.1, ... show it or not, and note each run; X is not there."""
    lines = {f"1.{n}": f"echo 1.{n} >> {root}/log; echo {WORDS.get(each, '')}" for n, each in enumerate(letters)}
    make_folders(root, lines)
    for number, letter in enumerate(letters):
        if letter == "X":
            (root / "bin" / f"1.{number}").rename(root / f"gone-{number}")
    finding(root, 1, "thing\n", signature=SIGNATURE, **fields)


def ran(root: Path) -> list[str]:
    """The releases that were run since this was last asked, in that order."""
    log = root / "log"
    lines = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def test_it_names_both_neighbours_shows_what_differs_and_takes_the_fewest_runs(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "RRRRRGGG")
    code, out, err = cli("bisect", "F-001")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "F-001 thing: reproduces in 1.4, gone in 1.5",
        "  control run on 1.4: reproduces",
        "  --- thing 1.4",
        "  +++ thing 1.5",
        "  @@ -1,2 +1,2 @@",
        "   exit: 0",
        "  -stdout: late",
        "  +stdout: in time",
        "5 of 8 releases were run now",
    ]
    assert len(ran(tmp_path)) == 5


def test_releases_are_ordered_as_versions(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "R" * 11 + "G")
    assert "reproduces in 1.10, gone in 1.11" in cli("bisect", "F-001")[1]


def test_a_finding_that_came_and_went_is_found_by_looking_everywhere(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "GGGRRGGG")
    code, out, _ = cli("bisect", "F-001")
    assert (code, out) == (
        0,
        "F-001 thing: no change of verdict was found; seen: gone\n2 of 8 releases were run now\n",
    )
    _, out, _ = cli("bisect", "F-001", "--thorough")
    assert "F-001 thing: gone in 1.2, reproduces in 1.3\n" in out
    assert "F-001 thing: reproduces in 1.4, gone in 1.5\n  control run on 1.4: reproduces\n" in out


def test_releases_that_cannot_be_run_are_stepped_over_and_said(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "XRRXDGGX")
    code, out, _ = cli("bisect", "F-001")
    assert code == 0
    assert "F-001 thing: reproduces in 1.2, gone in 1.5\n  between them, and not judged: 1.3, 1.4\n" in out
    for release in ("1.0", "1.3", "1.7"):
        assert f"  {release}: blocked: the folder of release {release} is not here\n" in out
    assert "  1.4: drifted: neither reproduces nor gone holds\n" in out


def test_a_release_that_cannot_be_installed_is_stepped_over_and_said(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    only_these(monkeypatch, wheels)
    settings(tmp_path, '[targets.thing]\necosystem = "pypi"\npackage = "thing"\n')
    for version, word in (("1.0", "late"), ("1.1", "late"), ("2.0", "in time")):
        make_wheel(wheels, version, f"said = {word!r}\n", needs=["nothing-at-all"] if version == "1.1" else [])
    finding(tmp_path, 1, "import thing\nprint(thing.said)\n", suffix=".py", signature=SIGNATURE)
    code, out, _ = cli("bisect", "F-001")
    assert code == 0
    assert "F-001 thing: reproduces in 1.0, gone in 2.0\n  between them, and not judged: 1.1\n" in out
    assert "  1.1: blocked: " in out and "nothing-at-all" in out


@pytest.mark.parametrize(("letters", "seen"), [("XXX", "blocked"), ("R", "reproduces"), ("DD", "drifted")])
def test_without_a_change_it_says_what_was_seen(tmp_path: Path, cli: Cli, letters: str, seen: str) -> None:
    history(tmp_path, letters)
    code, out, _ = cli("bisect", "F-001")
    assert code == 0
    assert out.startswith(f"F-001 thing: no change of verdict was found; seen: {seen}\n")


def test_only_some_releases(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "RGGGRRGG")
    _, out, _ = cli("bisect", "F-001", "--releases", "1.3..1.5")
    assert "gone in 1.3, reproduces in 1.4" in out
    assert set(ran(tmp_path)) == {"1.3", "1.4", "1.5"}


def test_a_second_time_only_the_control_is_run(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "RRRRRGGG")
    _, first, _ = cli("bisect", "F-001")
    ran(tmp_path)
    code, second, _ = cli("bisect", "F-001")
    assert (code, ran(tmp_path)) == (0, ["1.4"])
    assert second.splitlines()[:-1] == first.splitlines()[:-1]
    assert second.splitlines()[-1] == "1 of 8 releases was run now"


def test_a_killed_bisection_goes_on_where_it_was(tmp_path: Path) -> None:
    history(tmp_path, "RRRRRGGG")
    program = tmp_path / "bin" / "1.4" / "thing"
    text = program.read_text()
    wait = f"echo begun > {tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"
    program.write_text(text.replace("#!/bin/sh\n", f"#!/bin/sh\n{wait}\n"))
    arguments = command(tmp_path, "bisect", "F-001")
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, start_new_session=True) as killed:
        until = time.monotonic() + 30
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(killed.pid, signal.SIGKILL)
    before = ran(tmp_path)
    (tmp_path / "go").touch()
    again = run_command(tmp_path, "bisect", "F-001")
    after = ran(tmp_path)
    assert not set(before) & set(after)
    assert "1.4" in after
    assert again.stdout.startswith("F-001 thing: reproduces in 1.4, gone in 1.5\n  control run on 1.4: reproduces\n")


def test_two_bisections_print_the_same(tmp_path: Path) -> None:
    outs = []
    for name in ("one", "other"):
        history(tmp_path / name, "GRRXRGGR")
        outs.append(run_command(tmp_path / name, "bisect", "F-001", "--thorough").stdout)
    assert outs[0] == outs[1] and outs[0].count("F-001 thing: ") == 3


@pytest.mark.parametrize("now", ["echo maybe", "sleep 60"])
def test_a_fix_whose_control_shows_nothing_now_is_unconfirmed(tmp_path: Path, cli: Cli, now: str) -> None:
    history(tmp_path, "RRG", timeout_s=1.0)
    assert cli("bisect", "F-001")[0] == 0
    for release in ("1.0", "1.1"):
        (tmp_path / "bin" / release / "thing").write_text(f"#!/bin/sh\n{now}\n")
    code, out, _ = cli("bisect", "F-001")
    assert code == 1
    assert "unconfirmed" in out


def test_a_control_that_moves_the_change_makes_it_look_on(tmp_path: Path, cli: Cli) -> None:
    history(tmp_path, "RRRRRRGG")
    cli("bisect", "F-001")
    history(tmp_path, "RRRGGGGG")
    code, out, _ = cli("bisect", "F-001")
    assert (code, out.splitlines()[:2]) == (
        0,
        ["F-001 thing: reproduces in 1.2, gone in 1.3", "  control run on 1.2: reproduces"],
    )


def test_a_flaky_finding_is_not_called_gone_after_too_few_runs(tmp_path: Path, cli: Cli) -> None:
    """It shows in one run of four, and was not seen in the first release."""
    count = f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); echo $((n+1)) > {tmp_path}/n"
    quiet = f"echo ran >> {tmp_path}/log; echo in time"
    flaky = f"{count}; if [ $((n % 4)) = 0 ]; then echo late; else echo in time; fi"
    make_folders(tmp_path, {"1.0": quiet, "1.1": flaky})
    finding(tmp_path, 1, "thing\n", signature=SIGNATURE, runs=4, min_hits=1)
    code, out, _ = cli("bisect", "F-001")
    assert code == 0 and "gone in 1.0, reproduces in 1.1" in out
    assert len(ran(tmp_path)) >= 17
