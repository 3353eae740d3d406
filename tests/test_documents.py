"""YAML in and out: every byte comes back, every field has its line."""

from __future__ import annotations

import datetime
import random

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from feedback_ledger.documents import parse
from feedback_ledger.dumping import dump
from feedback_ledger.model import Cut, Evidence, OtherOutcome, Versions
from feedback_ledger.store import EvidenceStore, evidence_text

AWKWARD = [
    b"",
    b"plain\n",
    b"no newline at the end",
    b"\n",
    b"\n\n\nx\n\n\n",
    b"  indented first\n",
    b"\ttab first\n\tand more\n",
    b"trailing spaces   \nand tabs\t\n",
    b"\x1b[31mred\x1b[0m\n",
    b"nul \x00 and bell \x07\n",
    b"carriage\r\nreturns\r",
    b"invalid \xff\xfe utf-8\n",
    b"\xed\xa0\x80 a lone surrogate\n",
    "next line \x85, separators \u2028\u2029, bom \ufeff\n".encode(),
    b"--- \n...\n# no comment\n- no list\nno: mapping\n",
    b"null",
    b"true",
    b"1.10",
    b"2026-11-29",
    "emoji \N{GRINNING FACE}, \u00e9\n".encode(),
    bytes(range(256)),
]

YAML_PIECES = [
    *"&*[]{}:,?!|>-#'\"%@`\n\r\t 1a\x85\u2028\a\u00e9",
    "&a ",
    "*a ",
    ": ",
    "- ",
    "\n  ",
    "!!int ",
    "!!binary ",
]


def as_bytes(value: object) -> bytes:
    assert isinstance(value, str | bytes)
    return value.encode() if isinstance(value, str) else value


def back(stream: bytes) -> bytes:
    parsed = parse(dump({"deep": [{"stream": stream}], "after": 1}))
    assert not parsed.problems
    assert parsed.data["after"] == 1
    return as_bytes(parsed.data["deep"][0]["stream"])


@pytest.mark.parametrize("stream", AWKWARD)
def test_awkward_streams_come_back_byte_for_byte(stream: bytes) -> None:
    assert back(stream) == stream


@given(st.binary(max_size=80))
def test_any_bytes_come_back(stream: bytes) -> None:
    assert back(stream) == stream


@given(st.text(alphabet=" \t\n\r\x00\x1b\x85\u2028\ufeff#-:|>'\"\\%a\u00e9", max_size=24))
def test_any_text_comes_back(text: str) -> None:
    assert back(text.encode()) == text.encode()


def test_other_readers_see_the_same() -> None:
    text = dump({"stdout": b"a\tb  \n c\n", "exit": 0})
    assert text == "stdout: |\n  a\tb  \n   c\nexit: 0\n"
    assert yaml.safe_load(text) == {"stdout": "a\tb  \n c\n", "exit": 0}


def test_evidence_comes_back_from_its_file(tmp_path: object) -> None:
    from pathlib import Path

    store = EvidenceStore(Path(str(tmp_path)))
    streams = random.Random(1).sample(AWKWARD, len(AWKWARD))
    for number, stream in enumerate(streams):
        evidence = Evidence(
            finding=f"F-{number:03d}-x",
            target="t",
            release="1.10",
            captured=datetime.date(2026, 11, 29),
            command="python F-001-x.py",
            reproducer_sha256="0" * 64,
            versions=Versions(python="3.11.7", platform="linux x86_64", packages={"a": "1.10"}),
            runs=3,
            hits=2,
            exit="SIGABRT",
            duration_s=1.25,
            stdout=stream,
            stderr=streams[-number],
            cut=Cut(stdout=7),
            others=(OtherOutcome(exit=0, duration_s=0.5, stdout=stream, stderr=b"", times=1),),
        )
        store.write(evidence)
        assert store.read_all(evidence.finding) == {"1.10": evidence}
        assert "verdict" not in evidence_text(evidence)


def test_every_field_has_its_line() -> None:
    parsed = parse("a: 1\nb:\n  c: [x,\n    y]\n  d:\n  - e: 2\n")
    assert parsed.lines[("a",)] == 1
    assert parsed.lines["b", "c", 1] == 4
    assert parsed.lines["b", "d", 0, "e"] == 6


@given(st.lists(st.sampled_from(YAML_PIECES), max_size=12).map("".join), st.booleans())
def test_no_text_raises_and_no_node_is_shared(text: str, binary: bool) -> None:
    parsed = parse(text, binary=binary)
    assert all(line >= 1 for line in parsed.lines.values())
    assert set(parsed.raw) <= set(parsed.lines)


@pytest.mark.parametrize("laughs", ["a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "a: &a\nb: [*a]\n", "a: &a [*a]\n"])
def test_reading_ends_at_the_first_alias(laughs: str) -> None:
    parsed = parse(laughs)
    said = "anchors and aliases are not read; write the value out"
    assert [(line, message) for _, line, message in parsed.problems] == [
        (laughs[: laughs.index("*")].count("\n") + 1, said)
    ]
    assert (parsed.data, parsed.lines) == (None, {})


def test_numbers_beyond_what_python_reads_are_infinite_and_say_how_they_were_written() -> None:
    parsed = parse(f"a: {'9' * 5000}\nb: -{'9' * 5000}\n")
    assert parsed.data == {"a": float("inf"), "b": float("-inf")}
    assert parsed.raw["a",] == "9" * 5000


def test_binary_is_read_only_where_it_is_asked_for() -> None:
    assert parse("a: !!binary aGk=\n").data == {"a": b"hi"}
    assert parse("a: !!binary aGk=\n", binary=False).problems == (
        (("a",), 1, "tags are not read; write the value without !!binary"),
    )
    assert parse("a: !!binary a\n").problems == ((("a",), 1, "this is not base64; write the text itself"),)


def test_only_the_core_schema_is_read() -> None:
    parsed = parse("a: yes\nb: 1.10\nc: 2026-01-01\nd: 0x10\ne: 1_000\nf: 12:30\ng: ~\nh: on\ni: true\nj: 007\n")
    assert parsed.data == {
        "a": "yes",
        "b": 1.1,
        "c": "2026-01-01",
        "d": "0x10",
        "e": "1_000",
        "f": "12:30",
        "g": None,
        "h": "on",
        "i": True,
        "j": 7,
    }
    assert parsed.raw[("b",)] == "1.10"
