"""What the system refuses is told in a line, and never taken for a verdict: no traceback, nothing half written."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from feedback_ledger import cli, files
from feedback_ledger.options import Options
from feedback_ledger.progress import Progress
from feedback_ledger.redact import Redactor
from feedback_ledger.report import details
from feedback_ledger.session import Session
from feedback_ledger.vocabulary import Verdict
from tests.ledgers import TODAY, command, finding, opened, run, run_command, settings


def shell(root: Path, line: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A line for sh in which `"$@"` is the ledger's command."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *command(root, *arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    finding(tmp_path, 1, "echo shown", title="It is caf\u00e9 late")
    return tmp_path


def without_reader(root: Path, *arguments: str) -> tuple[int, bytes]:
    """How a command ends, and its standard error, when nobody reads its output any more from the start."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stdout:
        asked = command(root, *arguments)
        done = subprocess.run(asked, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False)
    return done.returncode, done.stderr


def test_a_reader_that_has_gone_is_no_matter(root: Path) -> None:
    assert without_reader(root, "list") == (0, b"")


@pytest.mark.parametrize("count", [1, 80])
def test_a_check_whose_reader_has_gone_ends_as_it_would_have(tmp_path: Path, count: int) -> None:
    """However much of its report had been taken by then."""
    for number in range(1, count + 1):
        finding(tmp_path, number, "echo not shown", title="long " * 20)
    assert without_reader(tmp_path, "check") == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output_is_one_line(root: Path) -> None:
    done = shell(root, '"$@" >/dev/full', "list")
    assert (done.returncode, done.stderr) == (2, "No space left on device\n")


@pytest.mark.parametrize("line", ['"$@" >&-', '"$@" 2>&-', '"$@" >&- 2>&- <&-'])
def test_closed_streams_are_no_matter(root: Path, line: str) -> None:
    done = shell(root, line, "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert (root / "findings" / "evidence" / "F-001-case" / "thing.yaml").is_file()


def test_a_terminal_without_the_characters_is_shown_escapes(root: Path) -> None:
    done = run_command(root, "list", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("It is caf\\xe9 late\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a folder in use cannot be removed, or is still found")
@pytest.mark.parametrize("arguments", [[], ["list"]])
def test_a_working_folder_that_is_gone_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = 'cd "$0" && rmdir "$0" && exec "$@"'
    program = [sys.executable, "-m", "feedback_ledger", *arguments]
    done = subprocess.run(
        ["sh", "-c", line, str(gone), *program],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "the working folder is gone; change to one that is there\n")


def test_a_file_that_cannot_be_written_is_named(root: Path) -> None:
    (root / "FEEDBACK.md").mkdir()
    done = run_command(root, "render")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{root.resolve() / 'FEEDBACK.md'}: Is a directory\n"
    assert not [path for path in root.iterdir() if path.name.endswith(".draft")]


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "page.md"
    path.write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        files.write_whole(path, "after")
    assert caught.value.filename == str(path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("page.md", "before")]


def test_a_run_that_cannot_be_prepared_is_broken(root: Path) -> None:
    (root / ".ledger").write_text("a file where a folder should be")
    finding(root, 2, "print('not shown')", suffix=".py")
    (outcome,) = run(root, "F-002", write=False)
    assert outcome.judgement.verdict is Verdict.BROKEN
    assert outcome.reason.startswith("the run could not be prepared: ")


def test_a_header_that_is_wrong_is_one_readable_line(root: Path) -> None:
    finding(root, 2, '# /// script\n# dependencies = ["no name"]\n# ///\n', suffix=".py")
    (outcome,) = run(root, "F-002", write=False)
    assert outcome.reason.endswith(
        "header is wrong: Expected semicolon (after name with no version specifier) or end: no name"
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_programs_read_does_not_depend_on_an_encoding(root: Path, encoding: str) -> None:
    settings(root, 'title = "Caf\u00e9"\n[targets.thing]\n')
    env = {"PYTHONIOENCODING": encoding}
    said = json.loads(run_command(root, "check", "--format", "json", env=env).stdout)
    assert said["ledger"] == "Caf\u00e9"
    (suite,) = ET.fromstring(run_command(root, "check", "--format", "junit", env=env).stdout)
    assert (suite.get("name"), suite[0].get("name")) == ("Caf\u00e9", "F-001: It is caf\u00e9 late")
    (record,) = json.loads(run_command(root, "export", "--format", "osv", env=env).stdout)
    assert record["summary"] == "It is caf\u00e9 late"


def test_notes_of_what_was_built_and_run_may_be_anything(root: Path) -> None:
    stem = finding(root, 1, "print('shown')", suffix=".py", slug="python")
    for path in (*root.glob("findings/F-001-case.*"), *root.glob("reproducers/F-001-case.*")):
        path.unlink()
    run(root)
    for note in (*root.glob(".ledger/environments/*/ready.json"), *root.glob(".ledger/runs/*/*.json")):
        note.write_text("[]")
    assert run(root)[0].judgement.verdict is Verdict.REPRODUCES
    # a reproducer that cannot be read any more; a folder stands for one that is somebody else's
    book = opened(root)
    program = root / "reproducers" / f"{stem}.py"
    program.unlink()
    program.mkdir()
    with Session(book, Options(jobs=1), TODAY) as session:
        (outcome,) = session.run(book.records)
    assert outcome.reason == "the reproducer cannot be read: Is a directory"


def test_a_folder_of_an_unknown_user_is_not_here(root: Path) -> None:
    settings(root, '[targets.thing]\necosystem = "command"\nfolders = {"1" = "~no-such-user/bin"}\n')
    (outcome,) = run(root)
    assert (outcome.judgement.verdict, outcome.reason) == (Verdict.BLOCKED, "the folder of release 1 is not here")


def test_nobody_needs_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does where nobody knows the home
    assert "[HOME]" not in {rule.placeholder for rule in Redactor.here().rules if "~" in rule.signs}


def test_both_names_of_the_temporary_folder_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS it is reached through a link."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(link))
    assert Redactor.here().text(f"{link}/a {real}/b") == "[TMP]/a [TMP]/b"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (b"{{ nope }}", "templates/FEEDBACK.md.j2: 'nope' is undefined"),
        (b"\n{% if %}", "templates/FEEDBACK.md.j2:2: Expected an expression, got 'end of statement block'"),
        (b"\xff", "templates/FEEDBACK.md.j2:1: not UTF-8 (byte 0); save it as UTF-8"),
    ],
)
def test_a_template_that_is_wrong_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], template: bytes, said: str
) -> None:
    (root / "templates").mkdir()
    (root / "templates" / "FEEDBACK.md.j2").write_bytes(template)
    assert cli.main(["--root", str(root), "render"]) == 2
    assert capsys.readouterr().err == said + "\n"


FIXTURE = """
    [targets.thing]
    [fixtures.web]
    command = ["python", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "{folder}", "{port}"]
    ready = "http://127.0.0.1:{PORT}/"
    ready_timeout_s = 30.0
"""


def test_a_fixture_on_this_machine_is_not_asked_for_at_a_proxy(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    settings(root, FIXTURE.replace("{PORT}", "{port}"))
    finding(root, 1, "echo shown", requires=["web"])
    (outcome,) = run(root)
    assert outcome.judgement.verdict is Verdict.REPRODUCES


def test_a_fixture_whose_address_is_wrong_is_a_reason(root: Path) -> None:
    settings(root, FIXTURE.replace("30.0", "0.1"))
    finding(root, 1, "echo shown", requires=["web"])
    (outcome,) = run(root)
    assert (outcome.judgement.verdict, outcome.reason) == (
        Verdict.BROKEN,
        "web: the fixture was not ready within 0.1 s",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["", "--target", "thing"], "TITLE is empty; write what you claim, as a sentence"),
        (["x", "--target", "A b"], '--target: expected a name of small letters, digits, ".", "_" and "-", found "A b"'),
    ],
)
def test_new_writes_nothing_that_would_be_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert cli.main(["--root", str(tmp_path), "new", *arguments]) == 2
    assert capsys.readouterr().err == said + "\n"
    assert not list(tmp_path.iterdir())


def test_an_issue_about_what_could_not_be_judged_does_not_say_that_it_is_gone(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finding(root, 1, "exit 3", signature={"control": {"exit": 0}, "reproduces": {"stdout": "^shown"}})
    assert cli.main(["--root", str(root), "issue", "F-001"]) == 1
    assert capsys.readouterr().err.startswith("F-001 could not be judged on thing: broken (control does not hold")
    count = root / "count"
    now_and_then = f'echo x >> "{count}"; [ $(wc -l < "{count}") = 2 ] && echo shown || echo not shown'
    finding(root, 1, now_and_then, runs=4, min_hits=2)
    assert cli.main(["--root", str(root), "issue", "F-001"]) == 1
    assert capsys.readouterr().err.startswith("F-001 could not be judged on thing: flaky (1/4 runs show it")


def test_a_record_that_was_renamed_leaves_evidence_that_doctor_points_at(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(root)
    for path in (*root.glob("findings/F-*"), *root.glob("reproducers/F-*")):
        path.rename(path.with_stem("F-001-other"))
    assert cli.main(["--root", str(root), "doctor"]) == 0
    said = "findings/evidence/F-001-case: there is no record of this name; run the finding again, and remove this"
    assert f"\n  {said}\n" in capsys.readouterr().out


def test_line_ends_of_a_record_stay_when_a_sweep_writes(root: Path) -> None:
    settings(root, '[targets.thing]\necosystem = "command"\nfolders = {"1" = "."}\n')
    record = root / "findings" / "F-001-case.yaml"
    record.write_bytes(record.read_bytes().replace(b"\n", b"\r\n"))
    lines = record.read_bytes().count(b"\r\n")
    assert cli.main(["--root", str(root), "sweep", "--write"]) == 0
    assert record.read_bytes().count(b"\r\n") == lines
    assert b'affected: {introduced: "1"}' in record.read_bytes()


def test_output_that_is_left_out_is_told(root: Path) -> None:
    finding(root, 1, "seq 100; exit 3")
    (outcome,) = run(root, write=False)
    assert details(outcome)[-2:] == ["  40", "  [... 61 lines left out here ...]"]


def test_progress_counts_what_is_due_and_no_more() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    progress = Progress(stream)
    for what, name in [("due", "F-001"), ("due", "F-002"), ("start", "F-001"), ("done", "F-001"), ("start", "F-002")]:
        progress(what, name)
    drawn = stream.getvalue().split("\r\x1b[K")[1:]
    assert drawn == [
        "0/1 done",
        "0/2 done",
        "0/2 done; running F-001",
        "1/2 done",
        "1/2 done; running F-002",
    ]
