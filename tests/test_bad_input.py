"""Broken ledgers, and the exact words that a person must get for each. A case changes the good ledger in data/bad/base:

--- change FILE     lines to take out (-) and put in (+), as in a diff; a blank line parts two places
--- file FILE       a file's whole text            --- remove FILE      a file or folder that is not there
--- arguments       instead of `check`             --- says             all of stderr

FILE may be followed by `in ENCODING`. {{root}} stands for the ledger's folder; _WORDS has what no file should hold as
it is.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from feedback_ledger.cli import main

BAD = Path(__file__).parent / "data" / "bad"
CASES = sorted(BAD.glob("*.case"))
_WORDS = {
    "{{token}}": f"ghp_{'a1B2' * 9}",
    "{{bell}}": "\a",
    "{{digits}}": "9" * 5_000,
    "{{parentheses}}": f"{'(' * 5_000}late{')' * 5_000}",
    "{{brackets}}": "[" * 900 + "]" * 900,
    "{{deep}}": "[" * 100_000,
}


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """No input, however it is made, may keep the ledger busy."""

    def too_late(*_: object) -> None:
        raise AssertionError("still busy after ten seconds")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_says_what_where_and_what_to_do(case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = shutil.copytree(BAD / "base", tmp_path / "ledger")
    arguments, says = _prepared(case, root)
    before = _files(root)

    code = _main(root, arguments)

    out, err = capsys.readouterr()
    assert err.replace(str(root), "{{root}}") == says
    assert (code, out) == (2, "")
    assert _files(root) == before


def test_the_base_of_all_cases_is_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = shutil.copytree(BAD / "base", tmp_path / "ledger")
    assert _main(root, ["check"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["build", "run", "check", "render", "list", "show F-001", "issue F-001"])
def test_all_problems_are_told_together_and_nothing_is_written(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = shutil.copytree(BAD / "base", tmp_path / "ledger")
    good = (root / "findings" / "F-001-greets-late.yaml").read_text()
    _add(root, "F-004-fourth", good.replace("F-001", "F-004").replace("minor", "small").replace("open", "closed"))
    _add(root, "F-003-third", good.replace("F-001", "F-003").replace("timeout_s: 60", "timeout_s: 0"))
    _add(root, "F-002-second", good.replace("F-001", "F-009"))
    (root / "reproducers" / "F-005-alone.sh").write_text("echo asked\n")
    before = _files(root)

    assert _main(root, shlex.split(command)) == 2

    out, err = capsys.readouterr()
    assert [line.partition(": ")[0] for line in err.splitlines()] == [
        "findings/F-002-second.yaml:1",
        "findings/F-003-third.yaml:24",
        "findings/F-004-fourth.yaml:6",
        "findings/F-004-fourth.yaml:7",
        "reproducers/F-005-alone.sh",
    ]
    assert out == ""
    assert _files(root) == before


def _main(root: Path, arguments: list[str]) -> int | str | None:
    try:
        return main(["--root", str(root), *arguments])
    except SystemExit as stopped:
        return stopped.code


def _prepared(case: Path, root: Path) -> tuple[list[str], str]:
    """Makes the case's changes to the ledger in `root`; returns the arguments and what stderr must be."""
    _, *parts = re.split(r"^--- (\w+)(?: (\S+)(?: in (\S+))?)?\n", case.read_text("utf-8"), flags=re.MULTILINE)
    arguments, says = ["check"], ""
    for action, name, encoding, body in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True):
        text = body
        for word, meant in _WORDS.items():
            text = text.replace(word, meant)
        match action:
            case "change":
                (root / name).write_text(_changed((root / name).read_text("utf-8"), text), encoding or "utf-8")
            case "file":
                (root / name).write_text(text, encoding or "utf-8")
            case "remove":
                shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink()
            case "arguments":
                arguments = shlex.split(text.replace("{{root}}", str(root)))
            case "says":
                says = text
            case _:
                raise AssertionError(f"{case.name}: what is `--- {action}`?")
    return arguments, says


def _changed(text: str, change: str) -> str:
    for place in re.split(r"\n{2,}", change.rstrip("\n")):
        lines = place.split("\n")
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[0] in kinds) for kinds in (" -", " +"))
        assert f"\n{text}".count(f"\n{old}") == 1, f"not once in the file:\n{old}"
        text = f"\n{text}".replace(f"\n{old}", f"\n{new}")[1:]
    return text


def _add(root: Path, stem: str, record: str) -> None:
    (root / "findings" / f"{stem}.yaml").write_text(record)
    shutil.copy(root / "reproducers" / "F-001-greets-late.sh", root / "reproducers" / f"{stem}.sh")


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
