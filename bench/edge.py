"""The echo server against a bare `mcp` server with an empty tool, and pages and searches of a million notes.

A keep-alive client calls each in turn. From the calls of the echo server the time that the same statement takes on a
connection of its own is taken out, as the bare server has no database. What it takes to send the same answer at all is
seen by a tool of the bare server that has it in memory. `--rows` and `--calls` make it smaller.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.common import ratio
from servers.edge import store
from servers.edge.connections import Link
from servers.edge.embedded import Embedded
from servers.edge.migrations import Schema
from servers.edge.models import EchoPage
from servers.edge.settings import Database

ROOT = Path(__file__).parents[1]
PORTS = {"echo": 18_431, "bare": 18_432}
BARE = """
import json, sys, uvicorn
from typing import Any
from mcp.server import MCPServer
server = MCPServer("bare", log_level="WARNING")
answers = json.loads(sys.argv[2])
@server.tool()
async def empty() -> dict[str, Any]:
    "Nothing."
    return {}
@server.tool()
async def get_echo(id: int) -> dict[str, Any]:
    "A note."
    return answers["get_echo"]
@server.tool()
async def list_echoes() -> dict[str, Any]:
    "A page."
    return answers["list_echoes"]
app = server.streamable_http_app(stateless_http=True, json_response=True)
uvicorn.run(app, port=int(sys.argv[1]), http="h11", log_level="warning", access_log=False)
"""


@contextlib.contextmanager
def serving(database: Database, answers: dict[str, Any]) -> Iterator[None]:
    env = {"PATH": os.environ["PATH"], "PORT": str(PORTS["echo"]), "FASTMCP_HOST": "127.0.0.1", "RATE_LIMIT": "0"}
    env |= {"DB_HOST": database.host, "DB_PORT": str(database.port), "DB_NAME": database.name, "DB_SSL": "disable"}
    env |= {"DB_USERNAME": database.user, "DB_PASSWORD": database.password}
    quiet = {"cwd": ROOT, "stderr": subprocess.DEVNULL}
    processes = [
        subprocess.Popen([sys.executable, "main.py"], env=env, **quiet),  # type: ignore[call-overload]
        subprocess.Popen([sys.executable, "-c", BARE, str(PORTS["bare"]), json.dumps(answers)], **quiet),  # type: ignore[call-overload]
    ]
    try:
        for port in PORTS.values():
            until = time.monotonic() + 30
            while True:
                with contextlib.suppress(OSError):
                    http.client.HTTPConnection("127.0.0.1", port).connect()
                    break
                if time.monotonic() > until:
                    sys.exit(f"nothing serves port {port}")
                time.sleep(0.05)
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def calls_of(server: str, tool: str, arguments: dict[str, Any], count: int) -> Callable[[], float]:
    """Makes `count` calls over one connection; `count` times their median, in seconds."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
    meta = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    params = {
        "name": tool,
        "arguments": arguments,
        "_meta": {f"io.modelcontextprotocol/{k}": v for k, v in meta.items()},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    def run() -> float:
        took, answer = list[float](), b""
        connection = http.client.HTTPConnection("127.0.0.1", PORTS[server])
        for _ in range(count):
            begun = time.perf_counter()
            connection.request("POST", "/mcp", body, headers)
            answer = connection.getresponse().read()
            took.append(time.perf_counter() - begun)
        if b'"error"' in answer:
            sys.exit(f"{server}: {tool}: {answer!r}")
        connection.close()
        return statistics.median(took) * count

    run()
    return run


class TimedLink(Link):
    """Knows how long its last statement took, in seconds."""

    took = 0.0

    def run(self, sql: str, **values: Any) -> list[list[Any]]:
        """As of `Link`."""
        begun = time.perf_counter()
        try:
            return super().run(sql, **values)
        finally:
            self.took = time.perf_counter() - begun


def alone(
    link: TimedLink, work: Callable[[TimedLink], Any], count: int, between: Callable[[], Any] = lambda: None
) -> Callable[[], float]:
    """The median time of a statement, in seconds; with something done before each, it is not kept warm."""

    def run() -> float:
        took = []
        for _ in range(count):
            between()
            work(link)
            took.append(link.took)
        return statistics.median(took)

    run()
    return run


def fill(link: Link, rows: int) -> None:
    """Notes of a dozen made-up words each."""
    letters = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=6000))
    words = ",".join(letters[at : at + 6] for at in range(0, len(letters), 6))
    link.patience(3600)
    link.script("SET statement_timeout = 0; DROP INDEX edge_echoes_text")
    link.script(
        "INSERT INTO edge_echoes (text, tag)"
        f" SELECT (SELECT string_agg((cast('{{{words}}}' AS text[]))"
        "[1 + (cast(n AS bigint) * 7919 + i * 104729) % 1000], ' ')"
        f" FROM generate_series(1, 12) i), 'tag' || n % 100 FROM generate_series(1, {rows}) n"
    )
    link.script("CREATE INDEX edge_echoes_text ON edge_echoes USING gin (text gin_trgm_ops)")
    link.script("VACUUM ANALYZE edge_echoes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="notes in the large table")
    parser.add_argument("--calls", type=int, default=1000, help="calls in each of five rounds")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        embedded = Embedded(Path(folder) / "data")
        try:
            small = embedded.database()
            few = TimedLink(small, 60)
            few.script("CREATE DATABASE many")
            many = TimedLink(replace(small, name="many"), 60)
            for link, rows in ((few, 1000), (many, given.rows)):
                Schema().ensure(link)
                fill(link, rows)
            with serving(small, answers(few)):
                good = throughput(few, given.calls)
            good &= paging(few, many, given.rows)
            searching(many)
            few.close()
            many.close()
        finally:
            embedded.stop()
    return 0 if good else 1


NOTE, PAGE = 500, 20


def answers(link: Link) -> dict[str, Any]:
    """What the echo server answers to the calls that are measured."""
    page = EchoPage(echoes=store.echoes(link, store.NEWEST, "", "", PAGE), next_cursor="x" * 27)
    note = store.echo(link, NOTE)
    assert note is not None
    return {"get_echo": note.model_dump(mode="json"), "list_echoes": page.model_dump(mode="json")}


def throughput(link: TimedLink, calls: int) -> bool:
    empty, good = calls_of("bare", "empty", {}, calls), True
    for tool, arguments, work in (
        ("get_echo", {"id": NOTE}, lambda link: store.echo(link, NOTE)),
        ("list_echoes", {}, lambda link: store.echoes(link, store.NEWEST, "", "", PAGE + 1)),
    ):
        ours, same = calls_of("echo", tool, arguments, calls), calls_of("bare", tool, arguments, calls)
        statement = alone(link, work, calls, between=calls_of("bare", "empty", {}, 1))
        print(f"{tool}: its statement takes {statement() * 1e6:.0f} us, of {ours() / calls * 1e6:.0f} us for a call")
        for what, bare in (("an empty tool", empty), ("the same answer from memory", same)):
            name = f"{tool} less its statement / {what}, {calls} calls"
            good &= ratio(name, difference(ours, statement, calls), bare, 1 / 0.8)
    return good


def difference(one: Callable[[], float], other: Callable[[], float], times: int) -> Callable[[], float]:
    return lambda: one() - times * other()


def page(link: TimedLink, before: int) -> Callable[[], float]:
    return alone(link, lambda link: store.echoes(link, before, "", "", 21), 200)


def paging(few: TimedLink, many: TimedLink, rows: int) -> bool:
    first, back = page(many, store.NEWEST), min(10_000, rows // 25)
    good = ratio(f"page {back} / page 1, of {rows} notes", page(many, rows - 20 * back), first, 1.5)
    return ratio(f"page 1 of {rows} notes / of a thousand", first, page(few, store.NEWEST), 1.5) and good


def searching(link: TimedLink) -> None:
    (rare,) = link.script("SELECT substr(text, 1, 20) FROM edge_echoes WHERE id = 7")[0]
    scan = alone(link, lambda link: link.run("SELECT count(*) FROM edge_echoes WHERE text || '' LIKE '%x%y%z%'"), 1)()
    print(f"to read every note: {scan * 1000:.0f} ms")
    for what, text in (("nowhere", "no such text"), ("in one of 1000", rare), ("in every third", "abc"), ("so", "qzx")):
        work = functools.partial(store.echoes, before=store.NEWEST, tag="", text=text, count=21)
        took = alone(link, work, 5)()
        print(f"to search for {text!r}, which is {what}: {took * 1000:.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
