"""LEDGER_WITHOUT: each friction shows through the real server, and goes when its workaround is on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from servers.edge.settings import Database, Tls
from tests.edge.running import (
    Program,
    ask,
    environment,
    free_port,
    post,
    post_modern,
    postgres,
    program,
    tool_call,
    until,
)


@contextlib.contextmanager
def serving(base: Path, database: Database, without: str, **env: str) -> Iterator[Program]:
    port = free_port()
    with program(base, environment(database, port, LEDGER_WITHOUT=without, **env), port) as one:
        yield one


def shown(one: Program) -> dict[int, list[str]]:
    """What somebody reads who asks for the notes 1 to 6, each after a call that broke the driver."""
    for number in range(1, 7):
        assert ask(one.url, "store_echo", {"text": f"note {number}"})["id"] == number
    poison = {"area": "sdk", "severity": "minor", "title": "t", "what_happened": "w", "versions": {"a": "\ud800"}}
    post_modern(one.url, "record_feedback", poison)
    return {number: [str(ask(one.url, "get_echo", {"id": number}).get("text"))] for number in range(1, 7)}


def test_f056_somebody_elses_answer(database: Database, tmp_path: Path) -> None:
    with serving(tmp_path, database, "F-055,F-056", DB_POOL="1") as one:
        assert any(text != f"note {number}" for number, (text,) in shown(one).items())


def test_f055_alone_spoils_nothing(database: Database, tmp_path: Path) -> None:
    with serving(tmp_path, database, "F-055", DB_POOL="1") as one:
        assert shown(one) == {number: [f"note {number}"] for number in range(1, 7)}


def test_http_frictions(database: Database, tmp_path: Path) -> None:
    evil = {"Host": "evil.example", "Origin": "http://evil.example"}
    message = tool_call("list_echoes", {"nonsense": 1})
    with serving(tmp_path, database, "F-077,F-080,F-140", FASTMCP_HOST="0.0.0.0") as one:
        answer = post(one.url, message, evil)  # F-080: any Host; F-077: any argument
        assert answer.status_code == 200 and "echoes" in answer.json()["result"]["structuredContent"]
        headers = {"Accept": "text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        with (  # a stream that stays open
            pytest.raises(httpx2.ReadTimeout),
            httpx2.stream("GET", f"{one.url}/mcp", headers=headers, timeout=1) as stream,
        ):
            assert stream.status_code == 200
            stream.read()
    with serving(tmp_path, database, "F-142") as one:  # the SDK checks MCP, but not the routes beside it
        assert post(one.url, message, evil).status_code == 421
        assert httpx2.get(f"{one.url}/healthz", headers=evil).status_code == 200


def test_f013_anybody_is_believed(database: Database, tmp_path: Path) -> None:
    with postgres(tmp_path, tls=True) as secure:
        untrusted = replace(secure.database, ca="", tls=Tls.VERIFY)
        with serving(tmp_path, untrusted, "F-013") as one:
            state = ask(one.url, "get_server_info")["database"]
            assert state["reachable"] and not state["certificate_verified"]


def test_f009_the_port_is_ignored(database: Database, tmp_path: Path) -> None:
    port = free_port()
    env = environment(database, port, LEDGER_WITHOUT="F-009")
    with program(tmp_path, env, port, ready=False) as one:
        until(lambda: "on 127.0.0.1:8000/mcp" in one.said() or one.process.poll() is not None, "it starts", 30)
        assert "on 127.0.0.1:8000/mcp" in one.said()
