"""Calls of `wasmer-sandbox` through MCP stdio against the bare SDK's `run` plus what MCP itself costs.

All of it in one process, in turn: the SDK with the same modules, a server whose tool does nothing and answers the same,
and the real server. Each pair is measured alike, with pauses or in a row, as a machine wakes up slower than it goes on.
Ratios are of medians; times are milliseconds of this machine. It ends with what a spare costs in memory and how
latency grows with the workspace.
"""

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import psutil
from mcp import Client, StdioServerParameters
from wasmer_sdk import PackageCommandDefinition, PackageDefinition, Sandbox, Wasmer

from servers.refusal import Refusal
from servers.sandbox import runtimes

SERVER = Path(sys.executable).with_name("wasmer-sandbox")
NOTHING = """
import anyio
from servers.local import _hints
from servers.local_answers import RanAnswer, ran_answer
from servers.refusal import Refusal
from servers.sandbox.outcome import Files, Outcome, Ran
from servers.toolserver import ToolServer
server = ToolServer("nothing", log_level="WARNING")
ran = Ran(Outcome.EXITED, 0, True, b"2", b"", 1, 0, 0.0, Files.KEPT, "")
async def nothing() -> RanAnswer | Refusal:
    return ran_answer(ran)
server.answering(title="Nothing", hints=_hints())(nothing)
anyio.run(server.run_stdio_async, backend_options={"use_uvloop": True})
"""
START = (Path(runtimes.__file__).parent / "guest" / "start.py").read_bytes()
PYTHON, JS = ["-c", "print(1+1)"], ["-e", "console.log(1+1)"]
PAUSE_S = 0.25
ROUNDS, IN_TURN, CALLS = 30, 10, 50
Call = Callable[[], Awaitable[object]]


async def bare(cache: Path) -> Sandbox:
    """The SDK with the runtimes as they come, without our limits."""
    found = runtimes.find()
    assert not isinstance(found, Refusal)
    modules = {one.command: Path(one.path).read_bytes() for one in found.modules}
    commands = {name: PackageCommandDefinition(module=name) for name in modules}
    client = Wasmer(cache_root=cache)
    definition = PackageDefinition(modules=modules, commands=commands, files={"/opt/start.py": START})
    return await client.sandboxes.create(packages=[await client.packages.create(definition)])


@contextlib.asynccontextmanager
async def connected(command: Path | str, args: list[str], cache: Path) -> AsyncIterator[Client]:
    """A client of a server over stdio."""
    env = {"WASMER_SANDBOX_CACHE": str(cache)}
    async with Client(StdioServerParameters(command=str(command), args=args, env=env)) as client:
        yield client


async def seconds(call: Call) -> float:
    """What one call takes."""
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


async def median(call: Call, pause_s: float = 0.0, rounds: int = ROUNDS) -> float:
    """The median of some calls, with a pause before each."""
    taken = []
    for _ in range(rounds):
        await asyncio.sleep(pause_s)
        taken.append(await seconds(call))
    return statistics.median(taken)


async def medians(these: Sequence[Call], pause_s: float = 0.0) -> list[float]:
    """The median of each. In turn, some calls of one at a time, as a machine is slower now and then."""
    taken: list[list[float]] = [[] for _ in these]
    for _ in range(ROUNDS // IN_TURN):
        for call, seen in zip(these, taken, strict=True):
            for _ in range(IN_TURN):
                await asyncio.sleep(pause_s)
                seen.append(await seconds(call))
    return [statistics.median(seen) for seen in taken]


def report(name: str, ours: float, theirs: float, most: float) -> bool:
    """Prints a ratio; whether it is at most `most`."""
    ratio = ours / theirs
    verdict = "within" if ratio <= most else "OVER"
    print(
        f"{name}: {ours * 1e3:.2f} ms against {theirs * 1e3:.2f} ms, ratio {ratio:.3f}, {verdict} {most:g}", flush=True
    )
    return ratio <= most


def tool(client: Client, name: str, **arguments: object) -> Call:
    """A call of a tool that has to succeed."""

    async def call() -> None:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content

    return call


async def calls(sandbox: Sandbox, nothing: Client, client: Client) -> bool:
    """Warm calls, spaced and in a row, and many at once."""
    python = tool(client, "run_python", code="print(1+1)")
    js = tool(client, "run_command", command="js", args=JS)
    transport = tool(nothing, "nothing")

    async def bare_python() -> None:
        await sandbox.command("python", PYTHON).run()

    async def bare_js() -> None:
        await sandbox.command("js", JS).run()

    for call in (python, js, transport, bare_python, bare_js):
        await median(call, rounds=3)
    good = True
    for name, ours, bare_run, apart, row in (
        ("run_python", python, bare_python, 0.3, 1.1),
        ("js", js, bare_js, 1.2, 1.2),
    ):
        for how, pause_s, most in ("apart", PAUSE_S, apart), ("in a row", 0.0, row):
            took, *theirs = await medians((ours, bare_run, transport), pause_s)
            good &= report(f"{name}, calls {how} / SDK run + MCP", took, sum(theirs), most)
    at_once = await seconds(lambda: asyncio.gather(*(python() for _ in range(CALLS))))
    return (
        report(f"run_python, {CALLS} at once / {CALLS} in a row", at_once, await seconds(in_a_row(python)), 1.0)
        and good
    )


def in_a_row(call: Call) -> Call:
    """Some calls, one after the other."""

    async def calls() -> None:
        for _ in range(CALLS):
            await call()

    return calls


async def first_call(sandbox: Sandbox, cache: Path) -> bool:
    """A fresh server's first answer, from its start, against the start of one that does nothing and one warm call."""

    async def fresh() -> None:
        async with connected(SERVER, [], cache) as client:
            await tool(client, "run_python", code="print(1+1)")()

    async def theirs() -> None:
        async with connected(sys.executable, ["-c", NOTHING], cache) as nothing:
            await tool(nothing, "nothing")()
            await sandbox.command("python", PYTHON).run()

    await fresh()
    name = "first call of a fresh server, cache warm / start of an MCP server + SDK run"
    return report(name, await median(fresh, rounds=5), await median(theirs, rounds=5), 3.0)


async def spares(sandbox: Sandbox) -> None:
    """What an interpreter that waits holds in memory."""
    process, count = psutil.Process(), 10
    command = sandbox.command("python", ["/opt/start.py"])
    before = process.memory_info().rss
    waiting = [await command.spawn(stdin="pipe") for _ in range(count)]
    await asyncio.sleep(2)
    held = (process.memory_info().rss - before) / count
    print(f"a spare interpreter holds {held / 2**20:.1f} MiB (mean of {count})", flush=True)
    for one in waiting:
        await one.kill()


async def growth(client: Client) -> None:
    """How a call's latency grows with what the workspace holds."""
    python = tool(client, "run_python", code="print(1+1)")
    await tool(client, "reset_sandbox")()
    for files, size in ((0, 0), (100, 1_000), (1_000, 1_000), (5_000, 1_000), (10, 1_000_000), (10, 9_000_000)):
        fill = f"import os\nfor i in range({files}):\n    open(f'{{i}}', 'wb').write(bytes({size}))"
        await tool(client, "run_python", code=fill, timeout=120)()
        apart = await median(python, 1.0, rounds=5)
        row = await median(python, rounds=10)
        what = f"{files:,} files of {size:,} bytes"
        print(f"workspace of {what}: {apart * 1e3:.1f} ms with calls apart, {row * 1e3:.1f} ms in a row", flush=True)
        await tool(client, "reset_sandbox")()


async def measure() -> bool:
    """Everything, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        sandbox = await bare(cache / "bare")
        async with (
            connected(sys.executable, ["-c", NOTHING], cache / "ours") as nothing,
            connected(SERVER, [], cache / "ours") as client,
        ):
            await warm(client)
            good = await calls(sandbox, nothing, client)
            await spares(sandbox)
            await growth(client)
        return await first_call(sandbox, cache / "ours") and good


async def warm(client: Client) -> None:
    """Waits until both sandboxes have compiled."""
    while True:
        info = (await client.call_tool("get_sandbox_info", {})).structured_content
        assert info is not None
        if all(one["health"] == "ready" for one in info["sandboxes"]):
            return
        await asyncio.sleep(0.2)


def main() -> None:
    good = asyncio.run(measure())
    sys.stdout.flush()
    os._exit(0 if good else 1)  # the SDK's threads turn a normal exit into an abort now and then


if __name__ == "__main__":
    main()
