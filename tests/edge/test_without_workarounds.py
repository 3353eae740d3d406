"""LEDGER_WITHOUT: each friction shows through the real server, and goes when its workaround is on."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from servers.edge.settings import Database, Tls
from tests.edge.running import (
    USUAL,
    Postgres,
    Program,
    ask,
    environment,
    free_port,
    modern_call,
    post,
    post_modern,
    postgres,
    program,
    tool_call,
    until,
)


@contextlib.contextmanager
def serving(base: Path, database: Database, without: str, before: str = "", **env: str) -> Iterator[Program]:
    port = free_port()
    with program(base, environment(database, port, LEDGER_WITHOUT=without, **env), port, before=before) as one:
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


LEAVES = """
import sys
from servers.edge.tools import Desk

async def state(self):
    sys.exit(3)

Desk.state = state  # which get_server_info asks for
"""


def test_f078_a_tool_that_exits_takes_the_server_along(database: Database, tmp_path: Path) -> None:
    older, newer = tool_call("get_server_info", {}), modern_call("get_server_info", {})
    with serving(tmp_path, database, "F-078", LEAVES) as one:
        assert post(one.url, *newer).text == "Internal Server Error"
        assert one.process.poll() is None
        assert post(one.url, older).text == "Internal Server Error"
        assert one.process.wait(30) == 3
    with serving(tmp_path, database, "", LEAVES) as one:
        for answer in (post(one.url, *newer), post(one.url, older)):
            assert answer.json()["result"]["structuredContent"]["error"]["code"] == "internal"
        assert ask(one.url, "store_echo", {"text": "still here"})["id"] == 1


@pytest.mark.parametrize(("without", "kept"), [("F-141", ["first", "older", "newer", "last"]), ("", ["first", "last"])])
def test_f141_who_hangs_up_is_served_all_the_same(
    server: Postgres, database: Database, tmp_path: Path, without: str, kept: list[str]
) -> None:
    patience = "import servers.edge.connections\nservers.edge.connections.QUEUE_S = 60"
    with serving(tmp_path, database, without, patience, DB_POOL="1", DB_TIMEOUT="60") as one:
        ask(one.url, "list_echoes")
        with ThreadPoolExecutor() as others, server.locked(database.name):
            others.submit(ask, one.url, "store_echo", {"text": "first"})
            until(lambda: server.waiting(database.name), "the only connection is in use")
            hang_up_on(one, tool_call("store_echo", {"text": "older"}), {})
            hang_up_on(one, *modern_call("store_echo", {"text": "newer"}))
        ask(one.url, "store_echo", {"text": "last"})  # calls take turns, so the others have had theirs
        assert [echo["text"] for echo in ask(one.url, "list_echoes")["echoes"]] == kept[::-1]


def hang_up_on(one: Program, message: dict[str, Any], headers: dict[str, str]) -> None:
    """Sends a call; hangs up once it waits; returns when the server could have noticed."""
    caller = http.client.HTTPConnection(urlsplit(one.url).netloc, timeout=30)
    caller.request("POST", "/mcp", json.dumps(message), USUAL | headers)
    assert ask(one.url, "nothing")["error"]["code"] == "unknown_tool"  # came later, and is answered
    caller.close()
    assert ask(one.url, "nothing")["error"]["code"] == "unknown_tool"


INTERRUPTIBLE = """
import select, signal, socket, threading

class TimeLimit(BaseException):  # the time limits of gevent and dramatiq are none of Exception either
    pass

is_over = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: is_over.set())
read = socket.SocketIO.readinto

def readinto(self, buffer):
    print("waits for Postgres", flush=True)
    while not select.select([self], [], [], 0.05)[0]:
        if is_over.is_set():
            is_over.clear()
            raise TimeLimit
    return read(self, buffer)

socket.SocketIO.readinto = readinto
"""


@pytest.mark.parametrize(("without", "got"), [("F-111", "note 1"), ("", "note 2")])
def test_f111_an_answer_that_nobody_waited_for_goes_to_the_next(
    server: Postgres, database: Database, tmp_path: Path, without: str, got: str
) -> None:
    with serving(tmp_path, database, without, INTERRUPTIBLE, DB_POOL="1", DB_TIMEOUT="60") as one:
        for number in (1, 2):
            assert ask(one.url, "store_echo", {"text": f"note {number}"})["id"] == number
        assert ask(one.url, "get_echo", {"id": 1})["text"] == "note 1"
        with ThreadPoolExecutor() as callers, server.locked(database.name):
            interrupted = callers.submit(ask, one.url, "get_echo", {"id": 1})
            until(lambda: server.waiting(database.name), "Postgres works for the first call")
            one.process.send_signal(signal.SIGUSR1)
            assert interrupted.result()["error"]["code"] == "internal"
            waits = one.said().count("waits for Postgres")
            following = callers.submit(ask, one.url, "get_echo", {"id": 2})
            until(lambda: one.said().count("waits for Postgres") > waits, "the next call has asked")
        assert following.result()["text"] == got


NEWS = """
    CREATE FUNCTION news() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN LISTEN news; PERFORM pg_notify('news', 'caf\u00e9'); RETURN NULL; END $$;
    CREATE TRIGGER news AFTER INSERT ON edge_echoes EXECUTE FUNCTION news()
"""


@pytest.mark.parametrize(("without", "got"), [("F-112", [None, "note 1"]), ("", ["note 1", "note 2"])])
def test_f112_what_cannot_be_decoded_shifts_the_answers(
    server: Postgres, database: Database, tmp_path: Path, without: str, got: list[str | None]
) -> None:
    with serving(tmp_path, database, without, DB_POOL="1") as one:
        assert ask(one.url, "store_echo", {"text": "note 1"})["id"] == 1
        assert ask(one.url, "get_echo", {"id": 1})["text"] == "note 1"
        server.run(NEWS, database.name)  # somebody's trigger: its payload comes with the answer, and is no ASCII
        error = ask(one.url, "store_echo", {"text": "note 2"})["error"]
        assert error["code"] == "internal" and "whether it did is not known" in error["message"]
        assert [ask(one.url, "get_echo", {"id": number}).get("text") for number in (1, 2)] == got


@pytest.mark.parametrize("without", ["F-151", ""])
def test_f151_why_a_connection_ended_is_not_known(
    server: Postgres, database: Database, tmp_path: Path, without: str
) -> None:
    with serving(tmp_path, database, without, DB_POOL="1", DB_TIMEOUT="60") as one:
        ask(one.url, "store_echo", {"text": "x"})
        with ThreadPoolExecutor() as callers, server.locked(database.name):
            reading = callers.submit(ask, one.url, "get_echo", {"id": 1})
            (number,) = until(lambda: server.waiting(database.name), "the call waits for the lock")
            server.run("SELECT pg_terminate_backend(cast(:number AS int), 30000)", number=number)
        answer = reading.result()
        assert "InterfaceError: network error" in one.said()  # Postgres had said 57P01
        if without:
            assert answer["error"]["message"] == "the connection to the database was lost"
        else:
            assert answer["text"] == "x"  # to read again changes nothing
