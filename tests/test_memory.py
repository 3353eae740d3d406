"""What was read before is not read again, and never instead of what is there now."""

from __future__ import annotations

from pathlib import Path

import pytest

from feedback_ledger import memory
from feedback_ledger.memory import Memory

TEXT = "a: 1.10\nb: [x, null, true]\n"


def test_a_text_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Memory(tmp_path / "parsed.json")
    parsed = first.parse(TEXT, binary=False)
    first.save()
    monkeypatch.setattr(memory, "parse", None)
    again = Memory(tmp_path / "parsed.json").parse(TEXT, binary=False)
    assert again.data == parsed.data
    assert (again.line(("b", 1)), again.raw["a",]) == (2, "1.10")


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2\n", "a: &x 1\n"])
def test_what_is_wrong_is_read_again(tmp_path: Path, text: str) -> None:
    known = Memory(tmp_path / "parsed.json")
    problems = known.parse(text, binary=False).problems
    known.save()
    assert Memory(tmp_path / "parsed.json").parse(text, binary=False).problems == problems != ()


def test_what_no_longer_matters_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "parsed.json"
    for text in ("a: 1\n", "a: 2\n"):
        known = Memory(path)
        known.parse(text, binary=False)
        known.save()
    assert '"a": 2' in path.read_text()
    assert '"a": 1' not in path.read_text()


@pytest.mark.parametrize("said", ["", "{", "[]", '{"version": "0", "documents": {}}', '{"documents": 3}'])
def test_a_file_that_makes_no_sense_is_no_memory(tmp_path: Path, said: str) -> None:
    path = tmp_path / "parsed.json"
    path.write_text(said)
    assert Memory(path).parse(TEXT, binary=True).data == {"a": 1.1, "b": ["x", None, True]}


def test_bytes_are_not_kept(tmp_path: Path) -> None:
    known = Memory(tmp_path / "parsed.json")
    assert known.parse("a: !!binary aGk=\n", binary=True).data == {"a": b"hi"}
    known.save()
    assert "aGk" not in (tmp_path / "parsed.json").read_text()
