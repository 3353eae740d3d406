"""What goes wrong with the database while the server serves: each is an answer, and the next call is right again."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from servers.edge import app as app_module
from servers.edge.connections import Link
from servers.edge.migrations import Schema, connections_to
from servers.edge.models import Stored
from servers.edge.outages import Outage
from servers.edge.settings import Database, Settings
from servers.edge.tools import ADDS, Desk, EdgeServer, add_tools
from servers.refusal import Refusal
from tests.edge.running import (
    PASSWORD,
    Postgres,
    ask,
    environment,
    free_port,
    in_process,
    post_modern,
    postgres,
    program,
    session,
    settings_for,
    tool_call,
    until,
)


def health(url: str) -> Any:
    return httpx2.get(f"{url}/healthz", timeout=30).json()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Postgres]:
    """A Postgres that the test may stop and start."""
    with postgres(tmp_path, keep=True) as one:
        yield one


def test_a_call_that_breaks_the_driver_spoils_no_other(database: Database, tmp_path: Path) -> None:
    # With the check of surrogates off, a text gets to the driver that it cannot encode: it raises in mid-protocol.
    port = free_port()
    env = environment(database, port, LEDGER_WITHOUT="F-055", DB_POOL="1")
    with program(tmp_path, env, port) as one:
        poison = {"area": "sdk", "severity": "minor", "title": "t", "what_happened": "w", "versions": {"a": "\ud800"}}
        ids = [ask(one.url, "store_echo", {"text": f"note {n}"})["id"] for n in range(5)]
        assert post_modern(one.url, "record_feedback", poison)["error"]["code"] == "internal"

        async def steps(client: Client) -> None:
            for call in range(100):
                got = (await client.call_tool("get_echo", {"id": ids[call % 5]})).structured_content
                assert got and got["text"] == f"note {call % 5}"

        session(one.url, "2026-07-28", steps)
        assert "UnicodeEncodeError" in one.said()


def test_a_connection_that_is_out_of_step_is_never_used_again(database: Database) -> None:
    connections = connections_to(lambda: database, settings_for(database, pool=1), Schema())

    def poison(link: Link) -> None:
        link._driver.run("SELECT cast(:value AS text)", value="\ud800")  # raises, with a reply of Postgres unread

    def undecodable(link: Link) -> None:
        link._driver.run("SELECT time '24:00:00'")

    def loud(link: Link) -> None:
        link.script("SELECT 1")
        raise KeyboardInterrupt

    for spoil in (poison, undecodable, loud):
        with pytest.raises((Outage, KeyboardInterrupt)):
            connections.use(spoil)
        for number in range(100):
            assert connections.use(functools.partial(Link.run, sql="SELECT cast(:n AS int)", n=number)) == [[number]]
    connections.close()


def test_postgres_is_restarted_between_calls(own: Postgres) -> None:
    with in_process(settings_for(own.database, pool=3)) as url:
        first = ask(url, "store_echo", {"text": "before"})["id"]
        own.stop()
        error = ask(url, "get_echo", {"id": first})["error"]
        assert error["code"] == "not_available" and "cannot be reached" in error["message"]
        assert health(url) == {
            "status": "degraded",
            "database": {"reachable": False, "problem": "the database cannot be reached"},
        }
        info = ask(url, "get_server_info")["database"]
        assert not info["reachable"] and info["problem"]["code"] == "not_available"
        own.start()
        assert ask(url, "get_echo", {"id": first})["text"] == "before"
        own.stop()
        own.start()  # the pool does not know of it: a write must not be lost on a connection that is gone
        assert ask(url, "store_echo", {"text": "after"})["id"] > first
        assert health(url)["status"] == "ok"


def test_the_server_starts_before_its_database(own: Postgres) -> None:
    own.stop()
    with in_process(settings_for(own.database)) as url:
        assert ask(url, "list_echoes")["error"]["code"] == "not_available"
        own.start()
        assert ask(url, "list_echoes") == {"echoes": [], "next_cursor": None}


def test_postgres_stops_in_mid_write(own: Postgres) -> None:
    with in_process(settings_for(own.database, timeout_s=20)) as url:
        ask(url, "list_echoes")
        with own.locked(own.database.name):
            answers: list[Any] = []
            calling = threading.Thread(target=lambda: answers.append(ask(url, "store_echo", {"text": "x"})))
            calling.start()
            until(lambda: own.waiting(own.database.name), "the call waits for the lock")
            own.stop()
            calling.join(30)
        (answer,) = answers
        own.start()
        kept = ask(url, "list_echoes")["echoes"]
        if "error" in answer:
            assert answer["error"]["code"] == "not_available" and "not known" in answer["error"]["message"]
        else:  # the lock went first
            assert [one["id"] for one in kept] == [answer["id"]]


def test_postgres_ends_a_connection_in_mid_call(server: Postgres, database: Database) -> None:
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with in_process(settings_for(database, timeout_s=10)) as url:
        kept = ask(url, "store_echo", {"text": "x"})["id"]
        answers: dict[str, Any] = {}
        calls: list[tuple[str, dict[str, Any]]] = [("get_echo", {"id": kept}), ("store_echo", {"text": "y"})]
        for tool, arguments in calls:
            with server.locked(database.name):
                calling = threading.Thread(target=lambda t=tool, a=arguments: answers.update({t: ask(url, t, a)}))
                calling.start()
                until(lambda: server.waiting(database.name), "the call waits for the lock")
                server.run(end)
                time.sleep(0.2)
            calling.join(30)
        assert answers["get_echo"]["text"] == "x"  # reading was tried again
        error = answers["store_echo"]["error"]
        assert error["code"] == "not_available" and "not known" in error["message"] and "Look" in error["hint"]
        assert len(ask(url, "list_echoes")["echoes"]) == 1


def test_a_slow_database_is_given_up(server: Postgres, database: Database) -> None:
    with in_process(settings_for(database, timeout_s=1, pool=1)) as url:
        assert ask(url, "store_echo", {"text": "x"})["id"] == 1
        with server.locked(database.name):
            begun = time.monotonic()
            error = ask(url, "store_echo", {"text": "y"})["error"]
            assert time.monotonic() - begun < 5
            assert error["code"] in ("not_available", "busy")
        assert ask(url, "store_echo", {"text": "z"})["id"] > 1
        assert [one["text"] for one in ask(url, "list_echoes")["echoes"]] == ["z", "x"]


def test_a_database_that_says_nothing_is_given_up(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servers.edge.connections.CONNECT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        elsewhere = replace(database, port=silent.getsockname()[1])
        with in_process(settings_for(elsewhere)) as url:
            assert "cannot be reached" in ask(url, "list_echoes")["error"]["message"]


def test_when_every_connection_is_in_use_the_call_is_told_so(server: Postgres, database: Database) -> None:
    with in_process(settings_for(database, timeout_s=10, pool=1)) as url:
        ask(url, "store_echo", {"text": "x"})
        with server.locked(database.name):
            calling = threading.Thread(target=lambda: ask(url, "store_echo", {"text": "y"}))
            calling.start()
            until(lambda: server.waiting(database.name), "the call waits for the lock")
            error = ask(url, "store_echo", {"text": "z"})["error"]
            assert error["code"] == "busy" and "connections to the database are in use" in error["message"]
        calling.join(30)
        assert [one["text"] for one in ask(url, "list_echoes")["echoes"]] == ["y", "x"]


def test_who_hangs_up_while_waiting_is_not_served(server: Postgres, database: Database) -> None:
    with in_process(settings_for(database, timeout_s=10, pool=1)) as url:
        ask(url, "store_echo", {"text": "first"})
        with server.locked(database.name):
            calling = threading.Thread(target=lambda: ask(url, "store_echo", {"text": "patient"}))
            calling.start()
            until(lambda: server.waiting(database.name), "the call waits for the lock")
            for header in ({}, {"MCP-Protocol-Version": "2025-11-25"}):
                headers = {"Accept": "application/json, text/event-stream"} | header
                with pytest.raises(httpx2.ReadTimeout):
                    httpx2.post(
                        f"{url}/mcp", json=tool_call("store_echo", {"text": "gone"}), headers=headers, timeout=0.4
                    )
            time.sleep(0.2)
        calling.join(30)
        assert [one["text"] for one in ask(url, "list_echoes")["echoes"]] == ["patient", "first"]


def test_the_database_has_no_connection_to_spare(server: Postgres, database: Database) -> None:
    server.run(f"ALTER DATABASE {database.name} CONNECTION LIMIT 0")
    server.run("CREATE ROLE many LOGIN PASSWORD 'throw-away' CONNECTION LIMIT 0")
    limited = replace(database, user="many", password="throw-away")
    with in_process(settings_for(limited)) as url:
        error = ask(url, "list_echoes")["error"]
        assert error["code"] == "busy" and "no connection to spare" in error["message"]


def test_a_read_only_database_can_be_read(server: Postgres, database: Database) -> None:
    with in_process(settings_for(database)) as url:
        ask(url, "store_echo", {"text": "kept"})
    server.run(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    with in_process(settings_for(database)) as url:
        assert [one["text"] for one in ask(url, "list_echoes")["echoes"]] == ["kept"]
        error = ask(url, "store_echo", {"text": "no"})["error"]
        assert error["code"] == "not_available" and "takes no changes" in error["message"]


@pytest.mark.parametrize("wrong", [{"password": "wrong-password-0123456789"}, {"name": "nowhere"}, {"user": "nobody"}])
def test_what_is_wrong_with_the_settings_is_said_without_the_secret(
    database: Database, tmp_path: Path, wrong: dict[str, str]
) -> None:
    mistaken, port = replace(database, **wrong), free_port()  # type: ignore[arg-type]
    with program(tmp_path, environment(mistaken, port), port) as one:
        error = ask(one.url, "list_echoes")["error"]
        assert error["code"] == "not_available"
        assert "refused" in error["message"] or "does not exist" in error["message"]
        httpx2.get(f"{one.url}/healthz", timeout=30)
        assert mistaken.password not in one.said() + str(error) and PASSWORD not in one.said()


def test_a_table_that_somebody_drops_comes_back(server: Postgres, database: Database) -> None:
    with in_process(settings_for(database, pool=1)) as url:
        ask(url, "store_echo", {"text": "x"})
        tables = "edge_echoes, edge_feedback, edge_keys, edge_migrations"
        server.run(f"DROP TABLE {tables}", database.name)
        assert ask(url, "list_echoes")["error"]["code"] == "busy"
        assert ask(url, "list_echoes")["echoes"] == []


@pytest.mark.parametrize("error", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "RuntimeError"])
def test_a_tool_that_leaves_takes_nobody_along(database: Database, monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    def with_one_more(server: EdgeServer, desk: Desk) -> None:
        add_tools(server, desk)

        @server.answering(title="Leave", hints=ADDS)
        async def leave() -> Stored | Refusal:
            """Leaves."""
            raise {
                "SystemExit": SystemExit(3),
                "KeyboardInterrupt": KeyboardInterrupt(),
                "GeneratorExit": GeneratorExit(),
            }.get(error, RuntimeError("a secret of the server"))

    monkeypatch.setattr(app_module, "add_tools", with_one_more)
    with in_process(settings_for(database)) as url:
        for mode in ("legacy", "2026-07-28"):
            refusal = ask(url, "leave", mode=mode)["error"]
            assert refusal["code"] == "internal" and "secret" not in str(refusal)
        assert ask(url, "store_echo", {"text": "still here"})["id"] == 1


def test_a_thousand_writes_at_sixty_four_at_a_time(database: Database) -> None:
    async def all_of_them(url: str) -> list[int]:
        limit = asyncio.Semaphore(64)
        usual = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=64)) as http:

            async def one(number: int) -> int:
                async with limit:
                    message = tool_call("store_echo", {"text": f"write {number}", "tag": "many"}, number)
                    answer = (await http.post(f"{url}/mcp", json=message, headers=usual)).json()
                    assert answer["id"] == number
                    return int(answer["result"]["structuredContent"]["id"])

            return await asyncio.gather(*map(one, range(1000)))

    settings = Settings(host="127.0.0.1", port=free_port(), database=database)  # with the limits that are the default
    with in_process(settings) as url:
        ids = asyncio.run(all_of_them(url))
        assert len(set(ids)) == 1000
        kept, cursor = [], ""
        while cursor is not None:
            page = ask(url, "list_echoes", {"tag": "many", "limit": 100, "cursor": cursor})
            kept += [(one["id"], one["text"]) for one in page["echoes"]]
            cursor = page["next_cursor"]
        assert kept == sorted(((number, f"write {n}") for n, number in enumerate(ids)), reverse=True)


def test_acknowledged_writes_survive_sigterm_in_mid_request(database: Database, tmp_path: Path) -> None:
    port, acknowledged = free_port(), list[str]()
    with program(tmp_path, environment(database, port), port) as one:

        def write(writer: int) -> None:
            with contextlib.suppress(httpx2.HTTPError), httpx2.Client(timeout=20) as http:
                for number in range(10_000):
                    text = f"writer {writer} number {number}"
                    headers = {"Accept": "application/json, text/event-stream"}
                    message = tool_call("store_echo", {"text": text})
                    answer = http.post(f"{one.url}/mcp", json=message, headers=headers)
                    if "id" in answer.json().get("result", {}).get("structuredContent", {}):
                        acknowledged.append(text)

        writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for writer in writers:
            writer.start()
        until(lambda: len(acknowledged) > 40, "some writes are done")
        assert one.end() in (0, -signal.SIGTERM), one.said()
        for writer in writers:
            writer.join(30)
        assert "Traceback" not in one.said()
    with in_process(settings_for(database)) as url:
        kept, cursor = set(), ""
        while cursor is not None:
            page = ask(url, "list_echoes", {"limit": 100, "cursor": cursor})
            kept |= {one["text"] for one in page["echoes"]}
            cursor = page["next_cursor"]
    assert set(acknowledged) <= kept
    assert len(kept) - len(acknowledged) <= 4  # at most what was under way
