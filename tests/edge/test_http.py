"""What a request must pass: Host, Origin, tokens, limits; and the routes beside MCP."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from servers.edge import app, guards, patience
from servers.edge.settings import Database, Scope, Token
from servers.edge.tools import Desk, EdgeServer
from tests.edge.running import (
    ERAS,
    Postgres,
    ask,
    environment,
    free_port,
    in_process,
    post,
    program,
    settings_for,
    tool_call,
    until,
)

READER, WRITER, JOBS = "reader-0123456789abcdef", "writer-0123456789abcdef", "jobs-0123456789abcdefgh"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ROUTES = [("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/healthz"), ("POST", "/jobs/prune"), ("GET", "/nothing")]


def error_of(answer: httpx2.Response) -> Any:
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "hint"} and error["hint"]
    return error


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_foreign_hosts_and_origins_get_nowhere(url: str, method: str, path: str) -> None:
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "[::1].evil"):
        answer = httpx2.request(method, url + path, headers={"Host": host})
        assert answer.status_code == 421 and error_of(answer)["code"] == "not_allowed"
    for origin in ("http://evil.example", "null", "https://localhost.evil.example", "file://localhost", "localhost"):
        answer = httpx2.request(method, url + path, headers={"Origin": origin})
        assert answer.status_code == 403 and error_of(answer)["code"] == "not_allowed"


def test_own_hosts_and_origins_get_in(database: Database) -> None:
    settings = settings_for(database, hosts=("app.example.com",), origins=("https://console.example.com",))
    with in_process(settings) as url:
        for host in ("app.example.com", "App.Example.Com:443", "localhost:1", "127.0.0.1", "[::1]:80"):
            assert post(url, LIST, {"Host": host}).status_code == 200, host
        for origin in ("https://app.example.com", "https://console.example.com", "http://localhost:5173"):
            assert post(url, LIST, {"Origin": origin}).status_code == 200, origin
        assert post(url, LIST, {"Origin": "http://app.example.com"}).status_code == 403


@pytest.mark.parametrize("version", [None, "2025-11-25", "2026-07-28"])
def test_mcp_takes_posts_only(url: str, version: str | None) -> None:
    headers = {"Accept": "text/event-stream"} | ({"MCP-Protocol-Version": version} if version else {})
    for method in ("GET", "DELETE", "PUT", "HEAD", "OPTIONS"):
        answer = httpx2.request(method, f"{url}/mcp", headers=headers, timeout=5)
        assert answer.status_code == 405 and answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/mcp/x", 404), ("POST", "/mcp/", 404), ("POST", "/healthz", 405)],
)
def test_what_is_not_there_is_said_in_the_one_grammar(url: str, method: str, path: str, status: int) -> None:
    answer = httpx2.request(method, url + path)
    assert answer.status_code == status and "MCP is POST /mcp" in error_of(answer)["hint"]
    assert error_of(answer)["code"] == ("not_found" if status == 404 else "not_allowed")


def test_tokens_and_what_they_allow(database: Database) -> None:
    tokens = (Token.of(READER, Scope.READ), Token.of(WRITER, Scope.WRITE))
    with in_process(settings_for(database, tokens=tokens)) as url:
        for header in ({}, {"Authorization": READER}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}):
            answer = post(url, LIST, header)
            assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
            assert error_of(answer)["code"] == "not_allowed"
        assert httpx2.get(f"{url}/healthz").status_code == 200
        for mode in ERAS:
            number = ask(url, "store_echo", {"text": "x"}, mode, WRITER)["id"]
            assert ask(url, "get_echo", {"id": number}, mode, READER)["text"] == "x"
            for tool, arguments in (
                ("store_echo", {"text": "y"}),
                ("record_feedback", {"area": "sdk", "severity": "minor", "title": "t", "what_happened": "w"}),
            ):
                error = ask(url, tool, arguments, mode, READER)["error"]
                assert error["code"] == "not_allowed" and "may only read" in error["message"]
        assert [one["text"] for one in ask(url, "list_echoes", token=READER)["echoes"]] == ["x", "x"]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_five_megabytes_is_refused(url: str, chunked: bool) -> None:
    body = json.dumps(tool_call("store_echo", {"text": "x" * 5_000_000})).encode()
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    content = (body[at : at + 65_536] for at in range(0, len(body), 65_536)) if chunked else body
    with contextlib.suppress(httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):
        answer = httpx2.post(f"{url}/mcp", content=content, headers=headers, timeout=30)
        assert answer.status_code == 413 and error_of(answer)["code"] == "too_large"
    assert "echoes" in ask(url, "list_echoes")


def test_the_longest_note_fits(url: str) -> None:
    text = "🎉" * 20_000  # twelve bytes each, as JSON may write them
    number = ask(url, "store_echo", {"text": text})["id"]
    assert ask(url, "get_echo", {"id": number})["text"] == text


def test_a_body_that_does_not_come_is_given_up(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "BODY_S", 0.3)
    settings = settings_for(database)
    with in_process(settings), socket.create_connection(("127.0.0.1", settings.port), 10) as slow:
        slow.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert b" 408 " in slow.recv(65_536)


def test_a_caller_who_does_nothing_is_hung_up_on(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "STALL_S", 0.3)
    settings = settings_for(database)
    with in_process(settings):
        for said in (
            b"",
            b"POST /mcp HTTP/1.1\r\nHost: local",
            b"GET /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", settings.port), 10) as slow:
                slow.sendall(said)
                with contextlib.suppress(ConnectionResetError):
                    while slow.recv(65_536):
                        pass


@contextlib.contextmanager
def reading_a_long_answer(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Of more than 16,000,000 bytes, as each note has 80,000 and is there twice."""
    settings = settings_for(database)
    with in_process(settings) as url:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        with httpx2.Client(headers=headers) as http:
            for _ in range(100):
                http.post(f"{url}/mcp", json=tool_call("store_echo", {"text": "🎉" * 20_000}))
        monkeypatch.setattr(patience, "STALL_S", 0.3)
        body = json.dumps(tool_call("list_echoes", {"limit": 100}))
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 100_000)
            reader.settimeout(10)
            reader.connect(("127.0.0.1", settings.port))
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            reader.sendall(f"{head}\r\n{body}".encode())
            yield reader


def test_an_answer_that_nobody_reads_is_dropped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with reading_a_long_answer(database, monkeypatch) as lazy:
        read = len(lazy.recv(1000))
        time.sleep(2)
        with contextlib.suppress(ConnectionResetError):
            while more := len(lazy.recv(1_000_000)):
                read += more
    assert read < 16_000_000


def test_an_answer_that_is_read_slowly_is_not_dropped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with reading_a_long_answer(database, monkeypatch) as slow:
        read = 0
        while more := len(slow.recv(200_000)):
            read += more
            time.sleep(0.02)
    assert read > 16_000_000


def test_who_has_waited_for_long_may_think_for_a_while() -> None:
    ended: list[bool] = []
    transport = SimpleNamespace(abort=lambda: ended.append(True), get_write_buffer_size=lambda: 0)
    request = SimpleNamespace(response_started=False)
    one: Any = SimpleNamespace(cycle=request, transport=transport, _seen=None, _look=None)
    one.loop = SimpleNamespace(call_later=lambda *_: None)
    patience.Connection._look(one)
    request.response_started = True  # only now, after a call of almost STALL_S
    patience.Connection._look(one)
    assert not ended
    patience.Connection._look(one)
    assert ended


def test_a_call_that_takes_long_is_not_hung_up_on(
    server: Postgres, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "STALL_S", 0.1)
    with in_process(settings_for(database, timeout_s=10)) as url:
        kept = ask(url, "store_echo", {"text": "x"})["id"]
        answers: list[Any] = []
        calling = threading.Thread(target=lambda: answers.append(ask(url, "get_echo", {"id": kept})))
        with server.locked(database.name):
            calling.start()
            until(lambda: server.waiting(database.name), "the call waits for the lock")
            time.sleep(0.5)
        calling.join(30)
        assert answers[0]["text"] == "x"


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_failure_outside_of_the_tools_is_an_answer_too(
    database: Database, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("a secret of the server")

    with in_process(settings_for(database)) as url:
        monkeypatch.setattr(StreamableHTTPSessionManager, "handle_request", broken)
        monkeypatch.setattr(Desk, "state", broken)
        for answer in (post(url, LIST, {"MCP-Protocol-Version": version}), httpx2.get(f"{url}/healthz")):
            assert answer.status_code == 500 and error_of(answer)["code"] == "internal"
            assert "secret" not in answer.text
        monkeypatch.undo()
        assert post(url, LIST).status_code == 200


def test_a_failure_in_the_middle_of_an_answer_ends_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: object, scope: AsgiScope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        raise RuntimeError("it broke")

    with in_process(settings_for(database)) as url:
        monkeypatch.setattr(StreamableHTTPSessionManager, "handle_request", broken)
        with pytest.raises(httpx2.TransportError):
            post(url, LIST)
    assert "it broke" in caplog.text and "ASGI message" not in caplog.text


def test_no_text_of_a_caller_looks_like_a_record_of_the_log(database: Database, tmp_path: Path) -> None:
    port, forged = free_port(), "2000-01-01 00:00:00,000 ERROR servers.edge.app: forged"
    with program(tmp_path, environment(database, port), port) as one:
        params = {"name": f"x\n{forged} \x1b[31m\r{forged}"}
        post(one.url, {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params})
        said = one.log.read_bytes().decode()
        assert f"    {forged}" in said and f"\n{forged}" not in said
        assert "\x1b" not in said and "\r" not in said


def test_too_many_requests_are_slowed_down(database: Database) -> None:
    with in_process(settings_for(database, rate=1)) as url, httpx2.Client() as http:
        answers = [http.get(f"{url}/nothing") for _ in range(30)]
        assert [one.status_code for one in answers[:20]] == [404] * 20
        assert answers[-1].status_code == 429 and answers[-1].headers["retry-after"] == "1"
        assert error_of(answers[-1])["code"] == "busy"


def test_health(url: str) -> None:
    assert httpx2.get(f"{url}/healthz").json() == {"status": "ok", "database": {"reachable": True, "problem": None}}


def test_the_job_removes_what_is_old(server: Postgres, database: Database) -> None:
    settings = settings_for(database, jobs_token=Token.of(JOBS, Scope.WRITE))
    with in_process(settings) as url:
        for age in (0, 6, 8, 30):
            number = ask(url, "store_echo", {"text": f"{age} days old"})["id"]
            server.run(
                f"UPDATE edge_echoes SET created_at = now() - interval '{age} days' WHERE id = {number}", database.name
            )

        def prune(query: str = "", token: str = JOBS) -> httpx2.Response:
            return httpx2.post(f"{url}/jobs/prune{query}", headers={"Authorization": f"Bearer {token}"})

        for answer in (prune(token="wrong"), httpx2.post(f"{url}/jobs/prune?days=7")):
            assert answer.status_code == 401 and error_of(answer)["code"] == "not_allowed"
        for query in ("?days=0", "?days=-1", "?days=x", "?days=3651", "?days=7&days=8", "?day=7", "?days=", "?days=٧"):
            answer = prune(query)
            assert answer.status_code == 400 and "POST /jobs/prune?days=7" in error_of(answer)["hint"], query
        assert httpx2.get(f"{url}/jobs/prune").status_code == 405
        assert prune("?days=7").json() == {"days": 7, "deleted": 2}
        assert prune().json() == {"days": 7, "deleted": 0}
        assert [one["text"] for one in ask(url, "list_echoes")["echoes"]] == ["6 days old", "0 days old"]


def test_the_job_does_not_exist_for_strangers_without_a_token(database: Database) -> None:
    from dataclasses import replace

    with in_process(settings_for(database)) as url:
        assert httpx2.post(f"{url}/jobs/prune").json() == {"days": 7, "deleted": 0}
    with in_process(replace(settings_for(database), host="0.0.0.0")) as url:
        assert httpx2.post(f"{url}/jobs/prune").status_code == 404


@pytest.mark.parametrize("sdk", [None, "opentelemetry.sdk"])
def test_spans_are_made_where_somebody_may_collect_them(monkeypatch: pytest.MonkeyPatch, sdk: str | None) -> None:
    made = list[EdgeServer]()

    class Kept(EdgeServer):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings)
            made.append(self)

    monkeypatch.setattr(app, "EdgeServer", Kept)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: sdk if name == "opentelemetry.sdk" else None)
    app.create_app(settings_for(None))
    assert bool(made[0].middleware) is (sdk is not None)
