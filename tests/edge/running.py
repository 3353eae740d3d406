"""Real servers for the tests: Postgres, and the echo server in this process or in one of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pg8000.native
import uvicorn
from mcp import Client
from starlette.types import ASGIApp

from servers.edge.app import create_app
from servers.edge.patience import Connection
from servers.edge.settings import Database, Settings, Tls

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
ERAS = ("legacy", "2026-07-28")
USER, PASSWORD = "tester", "throw-away-0123456789"
USUAL = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def until(holds: Callable[[], T], what: str, seconds: float = 15.0) -> T:
    """Waits until `holds` gives something true, and gives it."""
    end = time.monotonic() + seconds
    while True:
        if value := holds():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)


@dataclass
class Postgres:
    """A real one, of this test run; on a folder of its own it can be stopped and started again."""

    port: int
    base: Path
    tls: bool = False
    keep: bool = False
    process: subprocess.Popen[str] | None = None

    @property
    def folder(self) -> Path:
        return self.base / "kept" if self.keep else self.base / f"throwaway-postgres-{self.port}"

    @property
    def database(self) -> Database:
        tls = Tls.VERIFY if self.tls else Tls.DISABLE
        ca = str(self.folder / "ca.crt") if self.tls else ""
        return Database("127.0.0.1", self.port, "postgres", USER, PASSWORD, tls, ca)

    def start(self) -> None:
        command = [sys.executable, "-m", "servers.postgres", "--port", str(self.port), "--with-stdin"]
        command += ["--tls"] * self.tls + ["--keep", str(self.folder)] * self.keep
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"PGUSER": USER, "PGPASSWORD": PASSWORD, "TMPDIR": str(self.base)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == f"ready on 127.0.0.1:{self.port}\n"

    def stop(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None and self.process.stdout is not None
            self.process.stdin.close()
            self.process.wait(30)
            self.process.stdout.close()
            self.process = None

    def run(self, sql: str, database: str = "postgres", **values: Any) -> list[Any]:
        """As the superuser, on a connection of its own."""
        link = pg8000.native.Connection(
            USER, host="127.0.0.1", port=self.port, database=database, password=PASSWORD, ssl_context=False
        )
        try:
            return list(link.run(sql, **values) or [])
        finally:
            link.close()

    def waiting(self, name: str) -> list[int]:
        """The processes that wait for a lock in the database of that name."""
        sql = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = :name"
        return [pid for (pid,) in self.run(sql, name=name)]

    @contextlib.contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Somebody else holds the table of notes."""
        link = pg8000.native.Connection(
            USER, host="127.0.0.1", port=self.port, database=name, password=PASSWORD, ssl_context=False
        )
        try:
            link.run("BEGIN")
            link.run("LOCK TABLE edge_echoes")
            yield
        finally:
            with contextlib.suppress(pg8000.native.InterfaceError):  # the server may be gone by now
                link.close()

    def fresh(self, name: str) -> Database:
        """A new, empty database on it."""
        self.run(f"CREATE DATABASE {name}")
        return replace(self.database, name=name)


@contextlib.contextmanager
def postgres(base: Path, *, tls: bool = False, keep: bool = False) -> Iterator[Postgres]:
    one = Postgres(free_port(), base, tls, keep)
    one.start()
    try:
        yield one
    finally:
        one.stop()


@contextlib.contextmanager
def in_process(settings: Settings, app: ASGIApp | None = None) -> Iterator[str]:
    """The echo server in a thread of this process; gives its address."""
    server = uvicorn.Server(
        uvicorn.Config(
            app or create_app(settings),
            host=settings.host,
            port=settings.port,
            http=Connection,
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, "the server starts")
    try:
        yield f"http://127.0.0.1:{settings.port}"
    finally:
        server.should_exit = True
        thread.join(15)
        assert not thread.is_alive()


def settings_for(database: Database | None, **more: Any) -> Settings:
    return Settings(host="127.0.0.1", port=free_port(), database=database, **({"rate": 0} | more))


def environment(database: Database | None, port: int, **more: str) -> dict[str, str]:
    """What `main.py` is to find in its environment: nothing of the machine's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    said = {"PORT": str(port), "FASTMCP_HOST": "127.0.0.1", "RATE_LIMIT": "0", "PYTHONUNBUFFERED": "1"}
    if database:
        said |= {
            "DB_HOST": database.host,
            "DB_PORT": str(database.port),
            "DB_NAME": database.name,
            "DB_USERNAME": database.user,
            "DB_PASSWORD": database.password,
            "DB_SSL": database.tls,
            "DB_SSL_CA": database.ca,
        }
    return kept | said | more


@dataclass
class Program:
    """`main.py` in a process of its own."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str

    def said(self) -> str:
        return self.log.read_text()

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


@contextlib.contextmanager
def program(
    base: Path, env: Mapping[str, str], port: int, *, ready: bool = True, before: str = ""
) -> Iterator[Program]:
    """`before` is Python that runs first in the same process."""
    what = ["-c", f"{before}\nimport main\nmain.main()"] if before else ["main.py"]
    log = base / f"main-{port}-{time.monotonic_ns()}.log"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, *what], cwd=ROOT, env=env, stdout=out, stderr=out)
    one = Program(process, log, f"http://127.0.0.1:{port}")
    try:
        if ready:
            until(lambda: "Uvicorn running" in one.said() or process.poll() is not None, "main.py is ready", 60)
            assert process.poll() is None, one.said()
        yield one
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def session(url: str, mode: str, steps: Callable[[Client], Awaitable[T]], token: str = "") -> T:
    """Runs the steps as a real client over real HTTP."""

    async def run() -> T:
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=30) as client:
                return await steps(client)

    return asyncio.run(run())


async def whole_session(client: Client) -> None:
    """Every tool, on an empty database, from a server of the region `here`."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "get_server_info",
        "store_echo",
        "get_echo",
        "list_echoes",
        "record_feedback",
        "list_feedback",
    ]
    for tool in tools:
        assert tool.title and tool.description and tool.annotations
        assert None not in tool.annotations.model_dump(exclude={"title"}).values()
        assert tool.input_schema["additionalProperties"] is False

    async def call(tool: str, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
        return result.structured_content

    info = await call("get_server_info")
    assert info["database"]["reachable"] and info["database"]["latency_ms"] > 0
    assert info["region"] == "here" and set(info["versions"]) == {"mcp", "pg8000", "python", "postgres"}
    ids = [(await call("store_echo", text=f"note number {n}", tag="ab"[n % 2]))["id"] for n in range(5)]
    assert (await call("get_echo", id=ids[0]))["text"] == "note number 0"
    assert [one["id"] for one in (await call("list_echoes"))["echoes"]] == ids[::-1]
    assert [one["id"] for one in (await call("list_echoes", tag="b"))["echoes"]] == [ids[3], ids[1]]
    assert [one["id"] for one in (await call("list_echoes", text="NUMBER 3"))["echoes"]] == [ids[3]]
    page = await call("list_echoes", limit=2)
    assert [one["id"] for one in page["echoes"]] == ids[:2:-1]
    rest = await call("list_echoes", limit=100, cursor=page["next_cursor"])
    assert [one["id"] for one in rest["echoes"]] == ids[2::-1] and rest["next_cursor"] is None
    made = await call(
        "record_feedback",
        area="sdk",
        severity="minor",
        title="It is slow",
        what_happened="I waited.",
        versions={"mcp": "2.3.0"},
    )
    await call("record_feedback", area="docs", severity="minor", title="x", what_happened="y")
    (only,) = (await call("list_feedback", area="sdk"))["feedback"]
    assert only.pop("created_at").endswith("Z")
    assert only == {
        "id": made["id"],
        "area": "sdk",
        "severity": "minor",
        "title": "It is slow",
        "what_happened": "I waited.",
        "versions": {"mcp": "2.3.0"},
    }
    assert len((await call("list_feedback", severity="minor", limit=1))["feedback"]) == 1


def ask(url: str, tool: str, arguments: dict[str, Any] | None = None, mode: str = "2026-07-28", token: str = "") -> Any:
    """One call's structured content, which must not differ from its text in kind."""

    async def steps(client: Client) -> Any:
        return (await client.call_tool(tool, arguments or {})).structured_content

    return session(url, mode, steps, token)


def post(url: str, message: dict[str, Any], headers: Mapping[str, str] | None = None) -> httpx2.Response:
    """One message of the older wire, without a client in between."""
    body = json.dumps(message)  # escapes what is no UTF-8, as other clients do
    return httpx2.post(f"{url}/mcp", content=body, headers=USUAL | dict(headers or {}), timeout=30)


def post_modern(url: str, tool: str, arguments: dict[str, Any]) -> Any:
    """The structured content of a call on the newer wire, whose text may be what no client would send."""
    return post(url, *modern_call(tool, arguments)).json()["result"]["structuredContent"]


def tool_call(tool: str, arguments: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def modern_call(tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The same on the newer wire: the message and its headers."""
    message, version, prefix = tool_call(tool, arguments), "2026-07-28", "io.modelcontextprotocol"
    message["params"]["_meta"] = {f"{prefix}/protocolVersion": version, f"{prefix}/clientCapabilities": {}}
    return message, {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": tool}
