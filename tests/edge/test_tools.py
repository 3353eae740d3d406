"""What the tools do, over both wires, with a real database."""

from __future__ import annotations

from typing import Any

import pytest

from servers.edge.cursors import seal
from servers.edge.settings import Database
from tests.edge.running import (
    ERAS,
    ask,
    in_process,
    post,
    post_modern,
    session,
    settings_for,
    tool_call,
    whole_session,
)

NASTY = [
    "'; DROP TABLE edge_echoes; --",
    "100% of _all_ \\ back\\slashes",
    ":tag $1 %s {} \"quoted\" 'single' $$dollar$$ -- /* comment",
    "\u0001\u001f\u2028\ufeff\u202e",
    "日本語の文章 🎉👨‍👩‍👧 é e\u0301",
    '{"a": 1}',
    "null",
]


@pytest.mark.parametrize("mode", ERAS)
def test_a_whole_session(database: Database, mode: str) -> None:
    with in_process(settings_for(database, region="here")) as url:
        session(url, mode, whole_session)


@pytest.mark.parametrize("text", NASTY)
def test_texts_come_back_as_they_were(url: str, text: str) -> None:
    stored = ask(url, "store_echo", {"text": text, "tag": text[:20]})
    assert ask(url, "get_echo", {"id": stored["id"]})["text"] == text
    (found,) = ask(url, "list_echoes", {"tag": text[:20]})["echoes"]
    assert found["id"] == stored["id"]


def test_wildcards_in_a_search_are_characters(database: Database) -> None:
    with in_process(settings_for(database)) as url:
        for text in ("100% sure", "100 sure", "a_underscore", "abunderscore", "back\\slash", "backslash"):
            ask(url, "store_echo", {"text": text})

        def found(text: str) -> list[str]:
            return [one["text"] for one in ask(url, "list_echoes", {"text": text})["echoes"]]

        assert found("100%") == ["100% sure"]
        assert found("a_under") == ["a_underscore"]
        assert found("back\\slash") == ["back\\slash"]
        assert found("ÉTÉ") == []
        ask(url, "store_echo", {"text": "un été chaud"})
        assert found("ÉTÉ") == ["un été chaud"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("store_echo", {}, "text: field required"),
    ("store_echo", {"text": ""}, "text: must have from 1 to 20000 characters, and has 0"),
    ("store_echo", {"text": " \n"}, "text: must hold more than white space"),
    ("store_echo", {"text": "x" * 20_001}, "text: must have from 1 to 20000 characters, and has 20001"),
    ("store_echo", {"text": 7}, "text: input should be a valid string"),
    ("store_echo", {"text": None}, "text: input should be a valid string"),
    ("store_echo", {"text": "a\0b"}, "text: must not hold the character NUL"),
    ("store_echo", {"text": "x", "tag": "a\0b"}, "tag: must not hold the character NUL"),
    ("store_echo", {"text": "x", "tag": "t" * 101}, "tag: must have from 0 to 100 characters"),
    ("store_echo", {"text": "x", "tags": "t"}, "tags: no such argument"),
    ("get_echo", {"id": 0}, "id: input should be greater than or equal to 1"),
    ("get_echo", {"id": 2**63}, "id: input should be less than or equal to 9223372036854775807"),
    ("get_echo", {"id": "1"}, "id: input should be a valid integer"),
    ("get_echo", {"id": True}, "id: input should be a valid integer"),
    ("get_echo", {"id": 1.5}, "id: input should be a valid integer"),
    ("list_echoes", {"limit": 0}, "limit: input should be greater than or equal to 1"),
    ("list_echoes", {"limit": 101}, "limit: input should be less than or equal to 100"),
    ("list_echoes", {"text": "ab"}, "text: must hold at least three letters or digits in a row"),
    ("list_echoes", {"text": "%_%_%"}, "text: must hold at least three letters or digits in a row"),
    ("list_echoes", {"text": "x" * 201}, "text: must have from 0 to 200 characters"),
    ("list_echoes", {"cursor": "x" * 201}, "cursor: must have from 0 to 200 characters"),
    ("list_echoes", {"cursor": "no cursor at all"}, "cursor: not one that this listing gave"),
    ("list_feedback", {"area": "nowhere"}, "area: must be one of '', 'sdk', 'edge'"),
    ("list_feedback", {"severity": "null"}, "severity: must be one of '', 'blocker'"),
    ("record_feedback", {"area": "sdk"}, "severity: field required; title: field required"),
    (
        "record_feedback",
        {"area": "SDK", "severity": "bad", "title": "t" * 201, "what_happened": " ", "versions": {"": "1"}},
        "area: must be one of",
    ),
    (
        "record_feedback",
        {"area": "sdk", "severity": "minor", "title": "t", "what_happened": "w", "versions": {"a": 1}},
        "versions.a: input should be a valid string",
    ),
    (
        "record_feedback",
        {
            "area": "sdk",
            "severity": "minor",
            "title": "t",
            "what_happened": "w",
            "versions": {str(n): "1" for n in range(21)},
        },
        "versions: must have at most 20 entries, and has 21",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "problem"), REFUSED)
def test_what_does_not_fit_is_refused_with_a_hint(url: str, tool: str, arguments: dict[str, Any], problem: str) -> None:
    error = ask(url, tool, arguments)["error"]
    assert error["code"] == "invalid_arguments"
    assert problem in error["message"]
    assert tool in error["hint"]


def test_what_is_said_about_arguments_does_not_grow_with_them(url: str) -> None:
    for arguments in ({f"argument{n}": 1 for n in range(5000)}, {"x" * 100_000: 1, "a\nb": 1}):
        error = ask(url, "store_echo", arguments)["error"]
        assert error["message"].count("no such argument") == min(len(arguments), 19)
        assert len(error["message"]) < 1500 and error["message"].isprintable()
    error = post_modern(url, "get_server_info", {"\ud800": 1})["error"]
    assert error["hint"] == "Call get_server_info again. It takes no arguments."


@pytest.mark.parametrize("text", ["\ud800", "half \udc00 of a pair"])
def test_lone_surrogates_are_refused(url: str, text: str) -> None:
    for arguments in ({"text": text}, {"text": "x", "tag": text}):
        error = post_modern(url, "store_echo", arguments)["error"]
        assert error["code"] == "invalid_arguments" and "surrogate" in error["message"]
        answer = post(url, tool_call("store_echo", arguments))  # on the older wire they do not get that far
        assert answer.status_code == 400 and answer.json()["error"]["code"] == -32700


def test_an_unknown_tool_and_an_unknown_id(url: str) -> None:
    assert ask(url, "drop_table")["error"]["code"] == "unknown_tool"
    error = ask(url, "get_echo", {"id": 9_999_999})["error"]
    assert error["code"] == "not_found" and "list_echoes" in error["hint"]


def test_a_cursor_is_good_for_its_own_filters_only(url: str) -> None:
    for number in range(3):
        ask(url, "store_echo", {"text": f"paged {number}", "tag": "paged"})
        ask(url, "record_feedback", {"area": "cli", "severity": "minor", "title": "t", "what_happened": "w"})
    cursor = ask(url, "list_echoes", {"tag": "paged", "limit": 1})["next_cursor"]
    feedback = ask(url, "list_feedback", {"area": "cli", "limit": 1})["next_cursor"]
    forged = seal(b"another key", 1, {"of": "echoes", "tag": "paged", "text": ""})
    flipped = ("B" if cursor[5] != "B" else "C").join([cursor[:5], cursor[6:]])
    for wrong in (feedback, forged, flipped, cursor[:-1], cursor[:4], cursor + "AAAA", "=", "\u00e9", "%00"):
        error = ask(url, "list_echoes", {"tag": "paged", "cursor": wrong})["error"]
        assert error["code"] == "invalid_arguments" and "without a cursor" in error["hint"], wrong
    for filters in ({}, {"tag": "other"}, {"tag": "paged", "text": "paged"}):
        assert "error" in ask(url, "list_echoes", {"cursor": cursor} | filters)
    assert len(ask(url, "list_echoes", {"tag": "paged", "cursor": cursor, "limit": 100})["echoes"]) == 2


def test_a_text_that_is_rare_among_the_newest_is_found_further_back(database: Database) -> None:
    settings = settings_for(database)
    with in_process(settings) as url:
        ask(url, "store_echo", {"text": "the needle", "tag": "t"})
        from pg8000.native import Connection

        link = Connection(
            database.user,
            host=database.host,
            port=database.port,
            database=database.name,
            password=database.password,
            ssl_context=False,
        )
        link.run("INSERT INTO edge_echoes (text, tag) SELECT 'hay ' || n, 't' FROM generate_series(1, 1200) n")
        link.close()
        newest = ask(url, "store_echo", {"text": "another needle", "tag": "t"})["id"]
        page = ask(url, "list_echoes", {"text": "needle", "limit": 1})
        assert [one["id"] for one in page["echoes"]] == [newest]
        for tag in ("", "t"):
            both = ask(url, "list_echoes", {"text": "needle", "tag": tag})
            assert [one["text"] for one in both["echoes"]] == ["another needle", "the needle"]
        rest = ask(url, "list_echoes", {"text": "needle", "limit": 1, "cursor": page["next_cursor"]})
        assert [one["text"] for one in rest["echoes"]] == ["the needle"] and rest["next_cursor"] is None
        assert ask(url, "list_echoes", {"text": "needle", "tag": "other"})["echoes"] == []
        seen, cursor = 0, ""
        while cursor is not None:
            page = ask(url, "list_echoes", {"limit": 100, "cursor": cursor})
            seen, cursor = seen + len(page["echoes"]), page["next_cursor"]
        assert seen == 1202
