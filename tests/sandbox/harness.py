"""A real `wasmer-sandbox` process over stdio, driven by a real client; and that nothing of it is left afterwards."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.from_thread
import psutil
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("wasmer-sandbox")
CACHE = ROOT / ".ledger" / "sandbox-cache"
WARM_S = 180.0
"""Compiling both runtimes for the first time takes some ten seconds for each, more on a machine that is busy."""
ANSWER_S = 60.0
SOON_S = 10.0
BURNING = 0.2
"""A share of a core: on a busy machine a guest in a loop gets no more than a part of one."""


def environment(folder: Path, env: dict[str, str], **limits: float) -> dict[str, str]:
    """What a server of the tests is given: its own TMPDIR, the suite's compiled modules, and limits by field name."""
    named = {f"WASMER_SANDBOX_{name.upper()}": f"{value:g}" for name, value in limits.items() if value % 1}
    named |= {f"WASMER_SANDBOX_{name.upper()}": str(int(value)) for name, value in limits.items() if not value % 1}
    return {"WASMER_SANDBOX_CACHE": str(CACHE), "TMPDIR": str(folder), **named, **env}


@dataclass
class Server:
    """A connected server. `folder` is its TMPDIR."""

    client: Client
    process: psutil.Process
    folder: Path
    log: Path
    seen: set[psutil.Process] = field(default_factory=set)

    @property
    def pid(self) -> int:
        return self.process.pid

    async def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def answer(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The payload of a call that has to succeed."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.structured_content or result.content
        return content(result)

    async def refusal(self, tool: str, /, **arguments: Any) -> dict[str, str]:
        """The error of a call that has to be refused."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        error: dict[str, str] = content(result)["error"]
        return error

    async def python(self, code: str, **more: Any) -> dict[str, Any]:
        return await self.answer("run_python", code=code, **more)

    async def slot(self, network: str = "disabled") -> dict[str, Any]:
        """What get_sandbox_info tells of one sandbox."""
        info = await self.answer("get_sandbox_info")
        (slot,) = [one for one in info["sandboxes"] if one["network"] == network]
        return dict(slot)

    async def ready(self, seconds: float = WARM_S) -> None:
        """Waits until both sandboxes are warm."""
        await self.until(self._are_ready, "both sandboxes are warm", seconds)
        self.workers()

    async def _are_ready(self) -> bool:
        info = await self.answer("get_sandbox_info")
        return all(one["health"] == "ready" for one in info["sandboxes"])

    async def until(self, condition: Any, what: str, seconds: float = SOON_S) -> None:
        """Waits for an async condition."""
        end = time.monotonic() + seconds
        while not await condition():
            assert time.monotonic() < end, f"not within {seconds:g} s: {what}; {self.log.read_text()[-2000:]}"
            await asyncio.sleep(0.05)

    def workers(self) -> set[int]:
        """The pids of its workers."""
        with contextlib.suppress(psutil.NoSuchProcess):
            found = {one for one in self.process.children(recursive=True) if _runs(one)}
            self.seen |= found
            return {one.pid for one in found}
        return set()

    async def burning(self, seconds: float = 0.5) -> dict[int, float]:
        """Processes of the server's that use much of a core: pid and share."""
        self.workers()
        before = {one: _cpu_s(one) for one in [self.process, *self.seen]}
        began = time.monotonic()
        await asyncio.sleep(seconds)
        passed = time.monotonic() - began
        shares = {one.pid: (_cpu_s(one) - then) / passed for one, then in before.items()}
        return {pid: share for pid, share in shares.items() if share > BURNING}

    async def quiet(self, seconds: float = SOON_S) -> None:
        """Waits until nothing of the server's burns; what starts anew does for a moment."""
        end = time.monotonic() + seconds
        while burning := await self.burning():
            assert time.monotonic() < end, f"still burning after {seconds:g} s: {burning}"

    def rss(self) -> dict[int, int]:
        """Bytes in memory of each of its processes."""
        held = {}
        for one in [self.process, *self.process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                held[one.pid] = one.memory_info().rss
        return held


def content(result: CallToolResult) -> dict[str, Any]:
    """What was answered, whether or not it is an error."""
    told: dict[str, Any] | None = result.structured_content
    assert told is not None, result.content
    return told


def _runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _cpu_s(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        used = process.cpu_times()
        return float(used.user + used.system)
    return 0.0


def within(condition: Callable[[], bool], what: str, seconds: float = SOON_S) -> None:
    """Waits for something that is not said by the server."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)


def gone(processes: Iterable[psutil.Process], seconds: float = SOON_S) -> None:
    """Waits until all of them have ended."""
    within(lambda: not any(_runs(one) for one in processes), f"all of {processes} ended", seconds)


@contextlib.asynccontextmanager
async def sandbox(
    env: dict[str, str] | None = None,
    *,
    mode: Any = "auto",
    warm: bool = True,
    command: Sequence[str] = (str(COMMAND),),
    **limits: float,
) -> AsyncIterator[Server]:
    """A server and its client. Afterwards no process of it runs, and its TMPDIR is empty."""
    CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as name:
        folder, log = Path(name, "tmp"), Path(name, "stderr")
        folder.mkdir()
        variables = environment(folder, env or {}, **limits)
        told = StdioServerParameters(command=command[0], args=list(command[1:]), env=variables)
        with log.open("w") as errors:
            client = Client(stdio_client(told, errlog=errors), mode=mode, read_timeout_seconds=ANSWER_S)
            async with client:
                server = Server(client, _started_with(folder), folder, log)
                if warm:
                    await server.ready()
                yield server
                server.workers()
        gone({server.process, *server.seen})
        assert not list(folder.iterdir()), "the server left something in its TMPDIR"


def _started_with(folder: Path) -> psutil.Process:
    """The child of ours that was given this TMPDIR: the client does not tell its server's pid."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if child.environ().get("TMPDIR") == str(folder):
                return child
    raise AssertionError("the server does not run")


@dataclass(frozen=True)
class Shared:
    """A server for many tests that are no coroutines; what is begun goes on beside them."""

    server: Server
    portal: anyio.from_thread.BlockingPortal

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Awaits a coroutine function of the server's, or one that takes it."""
        return self.portal.call(function, *args)

    def begin(self, tool: str, /, **arguments: Any) -> "Future[CallToolResult]":
        """Calls a tool, and does not wait for it."""
        return self.portal.start_task_soon(lambda: self.server.call(tool, **arguments))

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return self.portal.call(lambda: self.server.call(tool, **arguments))

    def answer(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self.portal.call(lambda: self.server.answer(tool, **arguments))

    def refusal(self, tool: str, /, **arguments: Any) -> dict[str, str]:
        return self.portal.call(lambda: self.server.refusal(tool, **arguments))

    def python(self, code: str, **more: Any) -> dict[str, Any]:
        return self.portal.call(lambda: self.server.python(code, **more))

    def slot(self, network: str = "disabled") -> dict[str, Any]:
        return self.portal.call(self.server.slot, network)


@contextlib.contextmanager
def shared(env: dict[str, str] | None = None, **options: Any) -> Iterator[Shared]:
    """`sandbox`, for a module's fixture: its client lives in one task of a thread of its own."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(sandbox(env, **options)) as server,
    ):
        yield Shared(server, portal)


class Wire:
    """The same server without a client: bytes in, bytes out. For what no client would send."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        self.workers: set[psutil.Process] = set()

    async def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        await asyncio.wait_for(self._process.stdin.drain(), ANSWER_S)

    async def ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        await self.send(request(number, method, **params))
        return await self.answer_to(number)

    async def answer_to(self, number: int) -> dict[str, Any]:
        """The answer to a request; what comes before it is passed over."""
        while (told := await self.receive()).get("id") != number:
            pass
        return told

    async def receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), ANSWER_S)
        assert line, "the server ended"
        told: dict[str, Any] = json.loads(line)
        return told

    async def initialize(self) -> None:
        who = {"name": "wire", "version": "1"}
        told = await self.ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
        assert "result" in told, told
        await self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def end(self) -> int:
        """Waits for the server's end."""
        return await asyncio.wait_for(self._process.wait(), SOON_S)


def request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def tool(number: int, name: str, **arguments: Any) -> bytes:
    return request(number, "tools/call", name=name, arguments=arguments)


@contextlib.asynccontextmanager
async def wire(env: dict[str, str] | None = None, **limits: float) -> AsyncIterator[Wire]:
    """A server that speaks with a pipe. Afterwards no process of it runs, and its TMPDIR is empty."""
    CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as name:
        process = await asyncio.create_subprocess_exec(
            str(COMMAND),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=64 << 20,
            env={"PATH": os.environ["PATH"]} | environment(Path(name), env or {}, **limits),
        )
        server, watched = Wire(process), psutil.Process(process.pid)
        try:
            yield server
        finally:
            with contextlib.suppress(psutil.NoSuchProcess):
                server.workers |= set(watched.children(recursive=True))
            if process.returncode is None:
                server.close()
                try:
                    await server.end()
                finally:
                    if process.returncode is None:
                        process.kill()
        gone(server.workers)
        assert not list(Path(name).iterdir()), "the server left something in its TMPDIR"
