"""`wasmer-sandbox`: the sandbox as an MCP server over stdio."""

import argparse
import asyncio
import contextlib
import io
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.types import ToolAnnotations

from servers.local_tools import Tools, timed, version
from servers.refusal import Refusal
from servers.sandbox import limits, runtimes
from servers.sandbox.pool import Pool
from servers.toolserver import ToolServer, speakable
from servers.workarounds import BadVariable, switched_off, workaround

NAME = "wasmer-sandbox"
ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
INSTRUCTIONS = """Runs code that nobody has looked at yet, in WebAssembly, away from the machine: no host files, no
network unless you ask for it. Every call gets a fresh interpreter; only the files in /workspace stay. There are two
sandboxes, named by `network`: `disabled` (the default) and `host`. Each has files of its own."""


def _hints(*, reads: bool = False, destroys: bool = False, again: bool = False, world: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=reads, destructive_hint=destroys, idempotent_hint=again, open_world_hint=world
    )


def build(pool: Pool) -> ToolServer:
    """The MCP server on a pool, which it enters and leaves with each session's lifetime."""

    @contextlib.asynccontextmanager
    async def lifespan(_server: Any) -> AsyncIterator[None]:
        _end_on_signals(pool)
        async with pool:
            yield

    server = ToolServer(
        NAME,
        title="Wasmer sandbox",
        instructions=INSTRUCTIONS,
        version=version(),
        lifespan=lifespan,
        log_level="WARNING",
    )
    tools, allowed = Tools(pool), pool.limits
    for tool, title, hints in (
        (timed(tools.run_python, allowed), "Run Python", _hints(destroys=True, world=True)),
        (timed(tools.run_command, allowed), "Run a command", _hints(destroys=True, world=True)),
        (tools.write_sandbox_file, "Write a file", _hints(destroys=True, again=True)),
        (tools.read_sandbox_file, "Read a file", _hints(reads=True, again=True)),
        (tools.list_sandbox_dir, "List a folder", _hints(reads=True, again=True)),
        (tools.install_sandbox_package, "Install a package", _hints(again=True, world=True)),
        (tools.get_sandbox_info, "Sandbox information", _hints(reads=True, again=True)),
        (tools.reset_sandbox, "Reset a sandbox", _hints(destroys=True, again=True)),
    ):
        server.answering(title=title, hints=hints)(tool)
    return server


def _end_on_signals(pool: Pool) -> None:
    """A signal ends the workers first. The thread that reads stdin cannot be interrupted: the process just leaves."""
    loop = asyncio.get_running_loop()
    leaving: list[asyncio.Task[None]] = []

    async def leave(number: int) -> None:
        await pool.__aexit__(None, None, None)
        os._exit(128 + number)

    def on_signal(number: int) -> None:
        leaving.append(loop.create_task(leave(number)))

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # In-memory servers run outside of the main thread, where signals are somebody else's.
        with contextlib.suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, on_signal, number)


def main() -> None:
    """Serves MCP on stdin and stdout until stdin ends."""
    parser = argparse.ArgumentParser(
        NAME, description="An MCP server over stdio that runs code in WebAssembly sandboxes."
    )
    parser.add_argument("--version", action="version", version=f"{NAME} {version()}")
    parser.parse_args()
    found = runtimes.find()
    try:
        if isinstance(found, Refusal):
            raise SystemExit(_complaint(f"{found.message}. {found.hint}"))
        switched_off()
        server = build(Pool(limits.from_environment(), found))
    except (limits.BadLimit, BadVariable) as error:
        raise SystemExit(_complaint(str(error))) from None
    anyio.run(serve, server, backend_options={"use_uvloop": True})


async def serve(server: ToolServer) -> None:
    """As `run_stdio_async`, but a request with a lone surrogate is understood, where it would never be answered."""
    if not workaround("F-160"):
        await server.run_stdio_async()
        return
    text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    lines = cast(anyio.AsyncFile[str], _speakable_lines(anyio.wrap_file(text)))
    async with stdio_server(stdin=lines) as (read, write):
        inner = server._lowlevel_server
        await inner.run(read, write, inner.create_initialization_options())


async def _speakable_lines(lines: anyio.AsyncFile[str]) -> AsyncIterator[str]:
    async for line in lines:
        yield _speakable_line(line) if ESCAPED_SURROGATE.search(line) else line


def _speakable_line(line: str) -> str:
    try:
        return json.dumps(speakable(json.loads(line)))
    except ValueError:
        return line


def _complaint(text: str) -> int:
    print(f"{NAME}: {text}", file=sys.stderr)
    return 2
