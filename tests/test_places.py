"""Where our own code works around a finding: the markers that are found, and what the commands say of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from feedback_ledger.cli import main
from feedback_ledger.places import Place, find_places, ids_in
from feedback_ledger.unchanged import last_report
from tests.ledgers import finding, opened, run, settings

Cli = Callable[..., int]
MARKER = "# workaround: F-001\n"
HERE = Place("F-001", "src/a.py", 1)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return lambda *arguments: main(["--root", str(tmp_path), *arguments])


def write(root: Path, name: str, text: str | bytes = MARKER) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def ledger_with(root: Path, program: str, *, release: str = "2.0", source: str = MARKER, **fields: object) -> None:
    """A ledger with one finding about `thing`, run on the release under test, and code of its own."""
    write(root, "src/a.py", source)
    settings(root, f'workarounds = ["src"]\n[targets.thing]\nrelease = "{release}"\n')
    finding(root, 1, program, **fields)  # type: ignore[arg-type]
    run(root)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("# workaround: F-077", ["F-077"]),
        ("x = 1  # workaround:F-077 because", ["F-077"]),
        ("/* workaround: F-1077 */", ["F-1077"]),
        ("<!-- workaround:\tF-077. -->", ["F-077"]),
        ("# workaround: F-077, F-055,F-056 and more", ["F-077", "F-055", "F-056"]),
        ("# workaround: F-077-the-slug", ["F-077"]),
        ('@workaround("F-077")', ["F-077"]),
        ("x.workaround( 'F-077' , 'F-055' )", ["F-077", "F-055"]),
        ('workaround(\n    "F-077",\n    "F-055",\n)', ["F-077", "F-055"]),
        ("# workaround: F-077 // workaround: F-055", ["F-077", "F-055"]),
        ("# workaround for F-077", []),
        ("# see F-077; workaround: none", []),
        ("# workaround: F-77", []),
        ("# workaround: F-077x", []),
        ("# the_workaround: F-077", []),
        ("# workarounds: F-077", []),
        ("workaround(F_077)", []),
        ('def workaround(finding: str = "F-077"): ...', []),
    ],
)
def test_what_is_a_marker(text: str, named: list[str]) -> None:
    assert [identifier for identifier, _ in ids_in(text)] == named


def test_the_line_is_that_on_which_the_marker_begins() -> None:
    text = '\n# workaround: F-001, F-002\r\n\nworkaround(\n  "F-003"\n)\n'
    assert list(ids_in(text)) == [("F-001", 2), ("F-002", 2), ("F-003", 4)]


def test_places_are_found_once_and_in_order(tmp_path: Path) -> None:
    write(tmp_path, "src/b.js", "\n// workaround: F-002\n\n// workaround: F-010, F-001, F-010\n")
    write(tmp_path, "src/a.py")
    write(tmp_path, "src/deep/er/c", "workaround('F-002')")
    write(tmp_path, "elsewhere/d.py")
    assert find_places(tmp_path, ["src/deep", "src", "./src/"]) == [
        HERE,
        Place("F-002", "src/b.js", 2),
        Place("F-001", "src/b.js", 4),
        Place("F-010", "src/b.js", 4),
        Place("F-002", "src/deep/er/c", 1),
    ]
    assert find_places(tmp_path, []) == []
    assert str(HERE) == "src/a.py:1"


def test_text_of_another_encoding_is_read(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", "# café\n".encode("latin-1") + MARKER.encode())
    assert find_places(tmp_path, ["src"]) == [Place("F-001", "src/a.py", 2)]


@pytest.mark.parametrize("folder", [".git", ".venv/lib", "node_modules/part", "deep/__pycache__"])
def test_folders_that_are_hidden_or_hold_no_source_are_passed_over(tmp_path: Path, folder: str) -> None:
    write(tmp_path, f"src/{folder}/x.py")
    assert find_places(tmp_path, ["src"]) == []


def test_files_that_nobody_wrote_by_hand_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "src/binary", b"\0" + MARKER.encode())
    write(tmp_path, "src/large", MARKER + " " * 1024 * 1024)
    os.mkfifo(tmp_path / "src" / "pipe")
    assert find_places(tmp_path, ["src"]) == []


def test_links_lead_neither_out_of_the_root_nor_in_a_circle(tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.py")
    root = tmp_path / "root"
    write(root, "shared/x.py")
    (root / "src").mkdir()
    for name, target in {
        "out.py": "../../outside/secret.py",
        "out": "../../outside",
        "again": ".",
        "circle": "circle",
        "nowhere": "gone",
        "in.py": "../shared/x.py",
    }.items():
        (root / "src" / name).symlink_to(target)
    assert find_places(root, ["src"]) == [Place("F-001", "src/in.py", 1)]


def test_the_root_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    write(tmp_path, "root/src/a.py")
    (tmp_path / "link").symlink_to("root")
    assert find_places(tmp_path / "link", ["src"]) == [HERE]


def test_a_file_of_any_name_can_be_printed(tmp_path: Path) -> None:
    write(tmp_path, os.fsdecode(b"src/\x1b\xff\n.py"))
    (place,) = find_places(tmp_path, ["src"])
    assert place.file == "src/\\x1b\\xff .py"


def test_show_says_where(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    ledger_with(tmp_path, "echo shown", source=f"{MARKER}\n\n{MARKER}# workaround: F-002\n")
    finding(tmp_path, 2, "echo shown")
    finding(tmp_path, 3, "echo shown")
    assert cli("show", "F-001") == 0
    assert capsys.readouterr().out.endswith("\n\nWorkaround in: src/a.py:1\nWorkaround in: src/a.py:4\n")
    assert cli("show", "F-002") == 0
    assert capsys.readouterr().out.endswith("\n\nWorkaround in: src/a.py:5\n")
    assert cli("show", "F-003") == 0
    assert "Workaround in" not in capsys.readouterr().out


def test_nothing_is_searched_unless_the_settings_say_so(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "src/a.py", "# workaround: F-001, F-009\n")
    finding(tmp_path, 1, "echo shown")
    for command in (["show", "F-001"], ["doctor"]):
        assert cli(*command) == 0
        assert "src/a.py" not in capsys.readouterr().out


def test_the_page_does_not_tell_where(tmp_path: Path, cli: Cli) -> None:
    ledger_with(tmp_path, "echo shown", source="")
    assert cli("render") == 0
    before = (tmp_path / "FEEDBACK.md").read_bytes()
    write(tmp_path, "src/a.py")
    assert cli("render", "--check") == 0
    assert (tmp_path / "FEEDBACK.md").read_bytes() == before


def test_a_marker_of_no_finding_is_a_problem(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    ledger_with(tmp_path, "echo shown", source=f"{MARKER}# workaround: F-009\n")
    assert cli("doctor") == 2
    out = capsys.readouterr().out
    assert "  1 in order, 1 problems\n" in out
    assert (
        "  src/a.py:2: workaround for F-009, which is no finding of this ledger; mend the id or remove the marker"
        in out
    )
    assert "src/a.py:1" not in out


def test_a_marker_of_a_finding_that_cannot_be_read_is_no_problem_of_its_own(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger_with(tmp_path, "echo shown")
    write(tmp_path, "findings/F-001-case.yaml", "id: F-001\n")
    assert cli("doctor") == 2
    assert "src/a.py" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "status", "why"),
    [
        ("echo shown", "open", None),
        ("echo shown", "wontfix", None),
        ("echo shown", "fixed", None),  # it came back, or the fix is newer than the release that is tested
        ("echo neither", "open", None),
        ("echo not shown", "open", "gone on thing 2.0"),
        ("echo not shown", "fixed", "gone on thing 2.0"),
        ("echo not shown", "wontfix", "gone on thing 2.0"),
        ("echo neither", "fixed", "recorded as fixed"),
    ],
)
def test_doctor_tells_what_can_be_removed(
    program: str, status: str, why: str | None, tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger_with(tmp_path, program, status=status)
    assert cli("doctor") == 0
    out = capsys.readouterr().out
    if why is None:
        assert "src/a.py" not in out
    else:
        assert f"  src/a.py:1: workaround for F-001, which is {why}; it can be removed" in out


def test_evidence_of_another_release_or_of_an_earlier_reproducer_does_not_count(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger_with(tmp_path, "echo not shown")
    settings(tmp_path, 'workarounds = ["src"]\n[targets.thing]\nrelease = "3.0"\n')
    assert cli("doctor") == 0
    assert "src/a.py" not in capsys.readouterr().out
    settings(tmp_path, 'workarounds = ["src"]\n[targets.thing]\nrelease = "2.0"\n')
    write(tmp_path, "reproducers/F-001-case.sh", "echo not shown # edited\n")
    assert cli("doctor") == 0
    assert "src/a.py" not in capsys.readouterr().out


def test_settings_may_not_name_a_folder_that_is_a_link_out_of_the_root(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    finding(root, 1, "echo shown")
    (root / "src").symlink_to("../outside")
    settings(root, 'workarounds = ["src"]\ntargets.thing = {}\n')
    assert main(["--root", str(root), "check"]) == 2
    said = '"src" is a link that leaves the ledger\'s root; name a folder inside of it'
    assert capsys.readouterr().err == f"ledger.toml:1: workarounds[0]: {said}\n"


def test_a_build_notices_that_a_folder_has_gone(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "src").mkdir()
    finding(tmp_path, 1, "echo shown")
    settings(tmp_path, 'workarounds = ["src"]\ntargets.thing = {}\n')
    assert opened(tmp_path).settings.workarounds == ("src",)
    assert cli("build") == 0
    assert cli("build") == 0
    assert last_report(["--root", str(tmp_path)]) is not None
    (tmp_path / "src").rmdir()
    assert last_report(["--root", str(tmp_path)]) is None
    assert cli("build") == 2
    assert 'there is no folder "src"' in capsys.readouterr().err
