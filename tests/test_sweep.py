"""Every finding on every release: what cells say and why, what `affected` should say, and that nothing else changes.

Releases are folders of binaries where only verdicts matter, and real wheels where installing them does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from feedback_ledger.cli import main
from feedback_ledger.store import EvidenceStore
from tests.ledgers import command, evidence, finding, reproducer_path, run_command, settings
from tests.wheels import make_folders, make_wheel, only_these, only_this_index, served, simple_index

Cli = Callable[..., tuple[int, str, str]]
SIGNATURE: Mapping[str, Any] = {
    "control": {"stdout": "^asked$"},
    "reproduces": {"stdout": "^late$"},
    "gone": {"stdout": "^in time$"},
}
PROGRAM = "echo asked\nthing\n"
LATE, IN_TIME = "echo late", "echo in time"
PYTHON_PROGRAM = """\
# /// script
# dependencies = ["thing"]
# ///
import thing

print("asked")
print(thing.said)
"""
PYPI = '[targets.thing]\necosystem = "pypi"\npackage = "thing"\n'
THREE = {"1.0": LATE, "1.1": LATE, "2.0": IN_TIME}
SPAN = {"introduced": "1.0", "last_affected": "1.1", "fixed": "2.0"}


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["--root", str(tmp_path), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def files(root: Path) -> dict[str, str]:
    """All that a ledger publishes."""
    found = [*root.glob("*.md"), *(root / "findings").rglob("*.yaml")]
    return {str(path.relative_to(root)): path.read_text() for path in sorted(found)}


def affected(root: Path, number: int = 1) -> Any:
    return yaml.safe_load((root / "findings" / f"F-{number:03d}-case.yaml").read_text()).get("affected")


def logged(root: Path, line: str) -> str:
    """The line, and a note outside the run that it was reached."""
    return f"echo ran >> {root}/log; {line}"


def runs(root: Path) -> int:
    log = root / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the wheels of `thing` go that the installer sees; the ledger has one finding about it."""
    only_these(monkeypatch, tmp_path / "wheels")
    settings(tmp_path, PYPI)
    finding(tmp_path, 1, PYTHON_PROGRAM, suffix=".py", signature=SIGNATURE)
    return tmp_path / "wheels"


def said(text: str) -> str:
    return f"said = {text!r}\n"


def test_every_release_has_a_cell_a_reason_and_evidence(tmp_path: Path, cli: Cli, wheels: Path) -> None:
    for version, source in {
        "0.9": "raise ImportError('not yet')\n",
        "1.0": said("late"),
        "1.10": said("late"),
        "1.9": said("maybe"),
        "2.0": said("in time"),
        "2.1": said("late"),
    }.items():
        make_wheel(wheels, version, source)
    make_wheel(wheels, "2.2", said("late"), needs=["nothing-of-that-name"])
    code, out, err = cli("sweep")
    assert (code, err) == (1, "")
    table, why, proposal = out.split("\n\n")
    assert [line.split() for line in table.splitlines()] == [
        ["thing"],
        ["0.9", "1.0", "1.9", "1.10", "2.0", "2.1", "2.2"],
        ["F-001", "broken", "reproduces", "drifted", "reproduces", "gone", "reproduces", "blocked"],
    ]
    assert "  F-001 0.9: broken: control does not hold: stdout lacks '^asked$'; exit 1: ImportError: not yet" in why
    assert "  F-001 1.9: drifted: neither reproduces nor gone holds" in why
    assert "  F-001 2.2: blocked: " in why and "nothing-of-that-name" in why
    assert proposal.splitlines()[1] == (
        '  F-001: [{introduced: "1.0", last_affected: "1.10", fixed: "2.0"}, {introduced: "2.1"}]; the record says []'
    )
    stored = EvidenceStore(tmp_path).read_all("F-001-case")
    assert sorted(map(str, stored)) == ["0.9", "1.0", "1.10", "1.9", "2.0", "2.1"]
    assert all(facts.versions.packages == {"thing": release} for release, facts in stored.items())


def test_writing_changes_affected_and_no_other_character(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {**THREE, "2.1": LATE})
    stem = finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, affected={"introduced": "1.0"}, status="open")
    record = tmp_path / "findings" / f"{stem}.yaml"
    text = record.read_text().replace("affected:\n  introduced: '1.0'\n", "affected: {introduced: '1.0'}   # since?\n")
    record.write_text("# kept\n" + text.replace("target: thing", "target:   thing  # kept too") + "\n# the end\n")
    before = record.read_text().splitlines()
    code, out, _ = cli("sweep", "--write")
    assert code == 0 and out.endswith(f"written: findings/{stem}.yaml\n")
    changed = [(old, new) for old, new in zip(before, record.read_text().splitlines(), strict=True) if old != new]
    spans = '[{introduced: "1.0", last_affected: "1.1", fixed: "2.0"}, {introduced: "2.1"}]'
    assert changed == [("affected: {introduced: '1.0'}   # since?", f"affected: {spans}   # since?")]
    code, out, _ = cli("sweep")
    assert code == 0 and out.endswith("\n\nevery record says what was seen\n")


def test_without_write_records_stay_as_they_are(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    before = (tmp_path / "findings" / "F-001-case.yaml").read_text()
    assert cli("sweep")[0] == 1
    assert (tmp_path / "findings" / "F-001-case.yaml").read_text() == before


def test_a_sweep_that_could_judge_nothing_proposes_nothing(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    with (tmp_path / "ledger.toml").open("a") as file:
        file.write('[requirements.moon]\ncommand = "no-such-command"\n')
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, requires=["moon"], affected=SPAN)
    code, out, _ = cli("sweep", "--write")
    assert "F-001 1.0, 1.1, 2.0: blocked: moon: needs the command no-such-command" in out
    assert affected(tmp_path) == SPAN
    assert code == 0


def test_a_sweep_of_some_releases_takes_back_nothing_about_others(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, affected=SPAN)
    cli("sweep", "--write", "--releases", "2.0..")
    assert affected(tmp_path) == SPAN


def test_environments_are_shared_between_findings(tmp_path: Path, cli: Cli, wheels: Path) -> None:
    for version in ("1.0", "2.0"):
        make_wheel(wheels, version, said("late"))
    finding(tmp_path, 2, PYTHON_PROGRAM + "# another\n", suffix=".py", signature=SIGNATURE)
    cli("sweep", "--jobs", "4")
    assert len(list((tmp_path / ".ledger" / "environments").glob("*/ready.json"))) == 2


def test_releases_run_side_by_side(tmp_path: Path, cli: Cli) -> None:
    """Each of the two waits for the other."""
    wait = "i=0; while [ ! -e $there ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; [ -e $there ] && echo late"
    lines = {
        here: f": > {tmp_path}/{here}; there={tmp_path}/{there}; {wait}"
        for here, there in (("1.0", "1.1"), ("1.1", "1.0"))
    }
    make_folders(tmp_path, lines)
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    _, out, _ = cli("sweep", "--jobs", "2")
    assert out.split()[4:6] == ["reproduces", "reproduces"]


def test_the_binary_of_the_release_comes_first_on_the_path(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": "echo late; command -v thing | sed 's,.*/bin/,bin/,'", "1.1": LATE})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    cli("sweep")
    assert evidence(tmp_path, "F-001-case", "1.0").stdout == b"asked\nlate\nbin/1.0/thing\n"
    assert evidence(tmp_path, "F-001-case", "1.1").stdout == b"asked\nlate\n"


def test_a_folder_that_is_not_here_is_blocked(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    (tmp_path / "bin" / "1.1").rename(tmp_path / "elsewhere")
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    _, out, _ = cli("sweep")
    assert "F-001 1.1: blocked: the folder of release 1.1 is not here" in out


def test_a_second_sweep_runs_only_the_control_and_says_the_same(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {release: logged(tmp_path, line) for release, line in THREE.items()})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    first = cli("sweep"), files(tmp_path)
    assert runs(tmp_path) == 3
    assert (cli("sweep"), files(tmp_path)) == first
    assert runs(tmp_path) == 4
    assert (cli("sweep", "--fresh"), files(tmp_path)) == first
    assert runs(tmp_path) == 7


@pytest.mark.parametrize("now", ["echo else", "sleep 60"])
def test_a_fix_whose_control_shows_nothing_now_is_unconfirmed(tmp_path: Path, cli: Cli, now: str) -> None:
    make_folders(tmp_path, {**THREE, "2.1": IN_TIME})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, timeout_s=1.0, affected=SPAN)
    assert cli("sweep")[0] == 0
    make_folders(tmp_path, {"1.0": now, "1.1": now, "2.0": IN_TIME, "2.1": IN_TIME})
    code, out, _ = cli("sweep", "--fresh", "--write")
    assert (code, affected(tmp_path)) == (1, SPAN)
    assert "F-001: gone, unconfirmed in 2.0" in out


def test_when_the_control_moves_the_fix_the_release_before_it_is_the_next_control(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    cli("sweep")
    make_folders(tmp_path, {**THREE, "1.1": IN_TIME})
    _, out, _ = cli("sweep", "--write")
    assert "unconfirmed" not in out
    assert affected(tmp_path) == {"introduced": "1.0", "last_affected": "1.0", "fixed": "1.1"}


def now_and_then(root: Path, every: int) -> str:
    """Shows it in one run of `every`, beginning with the first, and notes each run."""
    count = f"n=$(cat {root}/n 2>/dev/null || echo 0); echo $((n+1)) > {root}/n"
    return f"{count}; if [ $((n % {every})) = 0 ]; then echo late; else echo in time; fi"


def test_a_flaky_finding_is_gone_only_after_so_many_quiet_runs_and_no_more(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": now_and_then(tmp_path, 4), "2.0": logged(tmp_path, IN_TIME)})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, runs=4, min_hits=1)
    assert cli("run", "--release", "1.0")[0] == 0
    facts = evidence(tmp_path, "F-001-case", "1.0")
    assert (facts.hits, facts.runs, [other.times for other in facts.others]) == (1, 4, [3])
    code, out, _ = cli("check", "--release", "2.0")
    assert (code, runs(tmp_path)) == (1, 17)
    assert "fixed upstream" in out
    assert "seen in 1 of 4 runs before; that all 17 runs miss it has a chance of 0.75%" in out


def test_a_sweep_shows_the_rate_and_calls_nothing_gone_after_too_few_runs(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": now_and_then(tmp_path, 4), "2.0": logged(tmp_path, IN_TIME)})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, runs=4, min_hits=1)
    _, out, _ = cli("sweep")
    assert out.splitlines()[2].split() == ["F-001", "reproduces", "1/4", "gone"]
    assert evidence(tmp_path, "F-001-case", "2.0").runs >= 17
    assert "reproduces 1/4  gone" in cli("list", "--matrix")[1]


def test_runs_that_disagree_without_a_rate_are_flaky(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": now_and_then(tmp_path, 2), "2.0": IN_TIME})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, runs=4)
    _, out, _ = cli("sweep")
    assert out.splitlines()[2].split() == ["F-001", "flaky", "2/4", "gone"]
    assert "F-001 1.0: flaky: 2/4 runs show it" in out
    assert not affected(tmp_path)


def test_a_drift_that_shows_another_finding_may_hide_this_one(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": LATE, "2.0": "echo crashed"})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    crash = {"control": {"stdout": "^asked$"}, "reproduces": {"stdout": "^crashed$"}, "gone": {"stdout": "^late$"}}
    finding(tmp_path, 2, PROGRAM, signature=crash)
    _, out, _ = cli("sweep")
    assert "F-001 2.0: drifted: neither reproduces nor gone holds; may be hidden by F-002" in out


def test_the_matrix_is_what_evidence_says_on_the_terminal_and_on_the_page(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    for number in (1, 2):
        finding(tmp_path, number, PROGRAM, signature=SIGNATURE)
    cli("sweep", "F-001")
    cli("run", "F-002", "--release", "1.1")
    cells = [line.split() for line in cli("list", "--matrix")[1].splitlines()]
    assert cells == [
        ["thing"],
        ["1.0", "1.1", "2.0"],
        ["F-001", "reproduces", "reproduces", "gone"],
        ["F-002", "untested", "reproduces", "untested"],
    ]
    cli("render")
    page = (tmp_path / "FEEDBACK.md").read_text()
    assert "| thing | 1.0 | 1.1 | 2.0 |\n|---|---|---|---|\n" in page
    assert "| [F-001](#f-001) | reproduces | reproduces | gone |\n" in page
    assert "| [F-002](#f-002) | untested | reproduces | untested |\n" in page


def test_evidence_of_an_earlier_reproducer_is_never_mixed_in(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    cli("sweep")
    with reproducer_path(tmp_path, "F-001-case").open("a") as file:
        file.write("# edited\n")
    cli("sweep", "--releases", "1.1..1.1")
    assert cli("list", "--matrix")[1].startswith("no target was run on more than one release")
    _, out, _ = cli("sweep", "--releases", "1.1..2.0")
    assert 'F-001: {introduced: "1.1", last_affected: "1.1", fixed: "2.0"}' in out


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    """The last release waits for a file that is there only the second time."""
    lines = {release: logged(tmp_path, line) for release, line in THREE.items()}
    waits = f"echo begun > {tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; {lines['2.0']}"
    make_folders(tmp_path, {**lines, "2.0": waits})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    arguments = command(tmp_path, "sweep", "--jobs", "1")
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, start_new_session=True) as killed:
        until = time.monotonic() + 30
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(killed.pid, signal.SIGKILL)
    assert runs(tmp_path) == 2
    (tmp_path / "go").touch()
    again = run_command(tmp_path, "sweep", "--jobs", "1")
    assert runs(tmp_path) == 4  # what was left, and the control of the fix
    here = files(tmp_path)
    whole = run_command(tmp_path, "sweep", "--fresh")
    assert (again.returncode, again.stdout, here) == (whole.returncode, whole.stdout, files(tmp_path))


def test_two_ledgers_that_are_swept_agree_byte_for_byte(tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("one", "other")]
    for root, jobs in zip(roots, ("1", "4"), strict=True):
        make_folders(root, {**THREE, "2.1": "echo maybe", "2.2": LATE})
        for number in (1, 2, 3):
            finding(root, number, f"{PROGRAM}# {number}\n", signature=SIGNATURE)
        done = run_command(root, "sweep", "--jobs", jobs, "--write")
        assert done.returncode == 0, done.stderr
        assert run_command(root, "render").returncode == 0
    one, other = (
        {name: [line for line in text.splitlines() if "duration_s: " not in line] for name, text in files(root).items()}
        for root in roots
    )
    assert one == other
    outs = [run_command(root, "sweep").stdout for root in roots]
    assert outs[0] == outs[1] and "every record says what was seen" in outs[0]


def test_companions_are_pinned_for_their_span_and_evidence_says_so(tmp_path: Path, cli: Cli, wheels: Path) -> None:
    source = "import part\nsaid = f'part {part.version}'\n"
    for version in ("1.0", "1.1", "2.0"):
        make_wheel(wheels, version, source, needs=["part"])
    for version in ("1.0", "2.0"):
        make_wheel(wheels, version, f"version = {version!r}\n", name="part")
    settings(tmp_path, PYPI + '[[targets.thing.companions]]\nreleases = "..1.1"\npackages = ["part<2"]\n')
    signature = {"reproduces": {"stdout": "^part 1"}, "gone": {"stdout": "^part 2"}}
    finding(tmp_path, 1, PYTHON_PROGRAM, suffix=".py", signature=signature)
    pinned = PYTHON_PROGRAM.replace('["thing"]', '["thing", "part==2.0"]')
    finding(tmp_path, 2, pinned, suffix=".py", signature=signature)
    _, out, _ = cli("sweep")
    rows = [line.split() for line in out.splitlines()[2:4]]
    assert rows == [["F-001", "reproduces", "reproduces", "gone"], ["F-002", "gone", "gone", "gone"]]
    in_force = {
        (stem, release): facts.versions.packages
        for stem in ("F-001-case", "F-002-case")
        for release, facts in EvidenceStore(tmp_path).read_all(stem).items()
    }
    assert in_force["F-001-case", "1.1"] == {"part": "1.0", "thing": "1.1"}
    assert in_force["F-002-case", "1.1"] == {"part": "2.0", "thing": "1.1"}


def test_a_sweep_begins_at_since_and_looks_at_what_the_record_names(tmp_path: Path, cli: Cli, wheels: Path) -> None:
    settings(tmp_path, PYPI + 'since = "1.2"\n')
    for version in ("1.0", "1.1", "1.2", "1.10", "2.0a1"):
        make_wheel(wheels, version, said("late"))
    finding(tmp_path, 1, PYTHON_PROGRAM, suffix=".py", signature=SIGNATURE, affected={"introduced": "1.0"})
    assert cli("sweep")[1].splitlines()[1].split() == ["1.0", "1.2", "1.10"]
    assert cli("sweep", "--releases", "1.2..1.2")[1].splitlines()[1].split() == ["1.2"]


def test_a_yanked_release_is_not_swept_unless_the_record_names_it(
    tmp_path: Path, cli: Cli, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.0", "1.1", "1.2"):
        make_wheel(wheels, version, said("late"))
    with served(simple_index(wheels, yanked=["1.1"])) as address:
        only_this_index(monkeypatch, address, tmp_path / "cache")
        assert cli("sweep")[1].splitlines()[1].split() == ["1.0", "1.2"]
        finding(tmp_path, 1, PYTHON_PROGRAM, suffix=".py", signature=SIGNATURE, affected={"introduced": "1.1"})
        lines = cli("sweep")[1].splitlines()
        assert (lines[1].split(), lines[2].split()) == (["1.0", "1.1", "1.2"], ["F-001", *["reproduces"] * 3])


@pytest.mark.parametrize("page", [b"\x00\xff garbage", b"{}", b"", b"<a href='thing.whl'>thing</a>"])
def test_an_index_that_answers_garbage_is_one_line(
    tmp_path: Path, cli: Cli, wheels: Path, monkeypatch: pytest.MonkeyPatch, page: bytes
) -> None:
    with served({"/simple/thing/": page}) as address:
        only_this_index(monkeypatch, address, wheels)
        code, out, err = cli("sweep")
    assert (code, out) == (2, "")
    assert err.startswith("the package index did not say the releases of thing: ") and err.count("\n") == 1
    assert not (tmp_path / "findings" / "evidence").exists()


def test_without_a_network_it_says_that_the_index_cannot_be_reached(
    tmp_path: Path, cli: Cli, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_index(monkeypatch, "http://127.0.0.1:9", wheels)
    monkeypatch.setenv("PIP_RETRIES", "1")
    code, out, err = cli("sweep")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "thing" in err and "Connection refused" in err


def test_without_pip_it_says_what_to_install(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that uv has installed has none."""
    settings(tmp_path, '[targets.thing]\necosystem = "pypi"\npackage = "thing"\n')
    finding(tmp_path, 1, "echo shown")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    line = "asking for the releases of thing takes pip, which is not beside this program; install it there\n"
    assert cli("sweep") == (2, "", line)


def test_a_client_that_is_not_there_is_one_line(
    tmp_path: Path, cli: Cli, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feedback_ledger.releases.sys.executable", str(tmp_path / "no-python"))
    code, _, err = cli("sweep")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("the package index can't be asked for the releases of thing: ")


@pytest.mark.parametrize(
    ("toml", "arguments", "line"),
    [
        ("[targets.thing]\n", ["sweep", "F-001"], "target thing has no releases; there is nothing to sweep"),
        ("[targets.thing]\n", ["bisect", "F-001"], "target thing has no releases; there is nothing to sweep"),
        ("[targets.thing]\n", ["sweep", "F-009"], "no finding F-009; `list` shows which there are"),
        ("[targets.thing]\n", ["bisect", "F-009"], "no finding F-009; `list` shows which there are"),
        ("[targets.thing]\n", ["sweep", "--target", "x"], "no target x; the settings define thing"),
        ("", ["sweep", "--releases", "3..4"], "no release of thing lies in 3..4"),
        ("", ["sweep", "--releases", "4"], "expected A..B, A.. or ..B, such as 0.2.0..0.4.0, found '4'"),
        ("", ["run", "--release", "../../x"], "expected a release such as 1.2.3, found '../../x'"),
        ("", ["sweep", "--jobs", "0"], "expected a whole number from 1 to 1000, found '0'"),
    ],
)
def test_what_cannot_be_swept_is_one_line(tmp_path: Path, cli: Cli, toml: str, arguments: list[str], line: str) -> None:
    make_folders(tmp_path, THREE)
    if toml:
        settings(tmp_path, toml)
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE)
    code, out, err = cli(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(line + "\n")


def test_a_sweep_of_all_leaves_out_targets_without_releases(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, THREE)
    with (tmp_path / "ledger.toml").open("a") as file:
        file.write("[targets.cloud]\n")
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, affected=SPAN)
    finding(tmp_path, 2, PROGRAM, signature=SIGNATURE, target="cloud")
    code, out, _ = cli("sweep")
    assert code == 0 and "F-002" not in out


def test_a_sweep_says_nothing_of_what_a_private_finding_is_about(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": LATE, "2.0": f"{IN_TIME}; echo a secret", "2.1": "echo a secret; exit 3"})
    finding(tmp_path, 1, PROGRAM, signature=SIGNATURE, disclosure="private", title="Hush")
    for arguments in (["sweep"], ["bisect", "F-001"], ["list", "--matrix"]):
        _, out, err = cli(*arguments)
        assert "Hush" not in out + err and "secret" not in out + err, arguments
