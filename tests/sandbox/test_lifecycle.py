"""Whatever ends, by itself or by force: the client, a call, a worker, the server. What is left is what should be."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import psutil
import pytest

from tests.sandbox.harness import (
    ANSWER_S,
    CACHE,
    COMMAND,
    SOON_S,
    Server,
    Shared,
    content,
    gone,
    sandbox,
    shared,
    tool,
    wire,
    within,
)

ENDLESS = "open('during', 'w').write('1')\nprint('started', flush=True)\nwhile True: pass"
NETWORKS = ("disabled", "host")
CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    server.stdin.flush()
who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}
send(id=0, method="initialize", params=who)
server.stdout.readline()
send(method="notifications/initialized")
send(id=1, method="tools/call", params={"name": "run_python", "arguments": {"code": "print(1)"}})
server.stdout.readline()
send(id=2, method="tools/call", params={"name": "run_python", "arguments": {"code": "while True: pass"}})
print("started", flush=True)
time.sleep(100)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Shared]:
    with shared() as one:
        yield one


def idle(server: Shared) -> None:
    """Waits until what is left to do after an answer is done, too: learning which files changed."""
    within(lambda: {server.slot(one)["health"] for one in NETWORKS} == {"ready"}, "both are idle")


def burning_worker(server: Shared) -> psutil.Process:
    """The worker whose guest is in a loop."""
    end = time.monotonic() + SOON_S
    while True:
        burning: dict[int, float] = server.run(server.server.burning, 0.3)
        if found := set(burning) - {server.server.pid}:
            return psutil.Process(max(found, key=lambda pid: burning[pid]))
        assert time.monotonic() < end, "no worker is busy"


def test_a_worker_killed_in_mid_call(server: Shared) -> None:
    server.python("open('before', 'w').write('before')")
    workers, restarts, next_door = server.server.workers(), server.slot()["restarts"], server.slot("host")["restarts"]
    going_on = server.begin("run_python", code=ENDLESS, timeout=50)
    victim = burning_worker(server)
    victim.kill()
    killed = time.monotonic()
    result = going_on.result(SOON_S)
    answer = content(result)
    assert (answer["outcome"], answer["files"], answer["stdout"]) == ("crashed", "restored", "started\n")
    assert "SIGKILL" in answer["note"]
    assert server.python("import os; print(os.listdir())")["stdout"] == "['before']\n"
    assert time.monotonic() - killed < SOON_S
    assert len(server.server.workers() & workers) == 1
    assert server.slot()["restarts"] == restarts + 1
    assert server.slot("host")["restarts"] == next_door


def test_workers_killed_while_idle(server: Shared) -> None:
    server.python("open('kept', 'w').write('kept')")
    idle(server)
    before = {network: server.slot(network)["restarts"] for network in NETWORKS}
    for pid in server.server.workers():
        psutil.Process(pid).kill()
    for network, restarts in before.items():
        within(lambda: server.slot(network)["restarts"] == restarts + 1, "it was noticed")  # noqa: B023
        assert server.python("print(1)", network=network)["stdout"] == "1\n"
    assert server.python("print(open('kept').read())")["stdout"] == "kept\n"


def test_a_worker_that_hangs_is_given_up(server: Shared) -> None:
    server.python("open('kept', 'w').write('kept')")
    idle(server)
    for pid in server.server.workers():
        psutil.Process(pid).suspend()
    listing = server.begin("list_sandbox_dir", network="host")
    answer = server.python("print(1)", stdin="x" * 10_000_000, timeout=0.5)
    assert (answer["outcome"], answer["files"]) == ("timed_out", "restored")
    assert server.python("print(open('kept').read())")["stdout"] == "kept\n"
    result = listing.result(ANSWER_S)
    assert content(result)["error"]["code"] == "not_available"
    assert server.answer("list_sandbox_dir", network="host")["path"] == "/workspace"


async def cancelled_call(server: Server, code: str) -> None:
    with anyio.move_on_after(0.7) as scope:
        await server.call("run_python", code=code, timeout=50)
    assert scope.cancelled_caught


@pytest.mark.parametrize("code", [ENDLESS, ENDLESS.replace("while True: pass", "import time; time.sleep(1000)")])
def test_a_cancelled_call_stops_its_guest(server: Shared, code: str) -> None:
    next_door = server.slot("host")["restarts"]
    server.run(cancelled_call, server.server, code)
    began = time.monotonic()
    answer = server.python("import os; print(sorted(os.listdir()))", timeout=5)
    assert answer["outcome"] == "exited" and "'during'" in answer["stdout"]
    assert time.monotonic() - began < SOON_S
    server.run(server.server.quiet)
    assert server.slot("host")["restarts"] == next_door


async def impatient_call(server: Server) -> None:
    with contextlib.suppress(Exception):
        await server.client.call_tool("run_python", {"code": ENDLESS, "timeout": 50}, read_timeout_seconds=0.5)


def test_a_client_that_waits_no_longer_frees_the_sandbox(server: Shared) -> None:
    server.run(impatient_call, server.server)
    assert server.python("print(1)")["stdout"] == "1\n"
    server.run(server.server.quiet)


async def crowd(server: Server) -> None:
    """Forty calls, of which every other one is cancelled while it waits or runs."""

    async def impatient(number: int) -> None:
        with anyio.move_on_after(0.01 * number):
            await server.call("run_python", code="import time; time.sleep(0.05)")

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(impatient, number)
            group.start_soon(server.python, f"open('{number}', 'w').close()")


def test_calls_cancelled_while_they_wait(server: Shared) -> None:
    server.answer("reset_sandbox")
    server.run(crowd, server.server)
    assert server.python("import os; print(len(os.listdir()))")["stdout"] == "20\n"
    assert server.slot()["waiting_calls"] == 0


def test_stdin_closed_in_mid_call() -> None:
    async def go() -> None:
        async with wire() as server:
            await server.initialize()
            await server.send(tool(1, "run_python", code="print(1)"))
            await server.answer_to(1)
            for number, network in enumerate(NETWORKS, 2):
                await server.send(tool(number, "run_python", code=ENDLESS, timeout=50, network=network))
            await server.send(tool(4, "get_sandbox_info"))
            await server.answer_to(4)
            server.workers = set(psutil.Process(server.pid).children())
            assert len(server.workers) == 2
            server.close()
            await server.end()

    asyncio.run(go())


def test_client_killed_in_mid_call() -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": os.environ["PATH"], "WASMER_SANDBOX_CACHE": str(CACHE), "TMPDIR": folder}
        client = subprocess.Popen([sys.executable, "-c", CLIENT, str(COMMAND)], stdout=subprocess.PIPE, env=env)
        with client:
            assert client.stdout is not None
            assert client.stdout.readline() == b"started\n"
            family = psutil.Process(client.pid).children(recursive=True)
            assert len(family) == 3
            client.kill()
        gone(family)
        assert not list(Path(folder).iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_the_server_and_all_it_started(number: signal.Signals) -> None:
    async def go() -> None:
        async with wire() as server:
            await server.initialize()
            await server.send(tool(1, "run_python", code="print(1)"))
            await server.answer_to(1)
            await server.send(tool(2, "run_python", code=ENDLESS, timeout=50))
            server.workers = set(psutil.Process(server.pid).children())
            os.kill(server.pid, number)
            assert await server.end() == 128 + number

    asyncio.run(go())


def test_workers_end_with_a_server_that_was_killed() -> None:
    async def go() -> None:
        async with wire() as server:
            await server.initialize()
            await server.send(tool(1, "run_python", code="print(1)"))
            await server.answer_to(1)
            await server.send(tool(2, "run_python", code=ENDLESS, timeout=50))
            server.workers = set(psutil.Process(server.pid).children())
            os.kill(server.pid, signal.SIGKILL)
            assert await server.end() == -signal.SIGKILL
            await asyncio.to_thread(gone, server.workers)

    asyncio.run(go())


async def notes(server: Server) -> str:
    told = await server.answer("get_sandbox_info")
    return " ".join(told["notes"])


@pytest.mark.parametrize("how", ["signal", "stdin", "killed"])
def test_a_temporary_cache_goes_with_the_server(how: str, tmp_path: Path) -> None:
    """Ended in the middle of compiling, too."""
    blocked = tmp_path / "cache"
    blocked.write_text("a file is here")

    async def go() -> None:
        async with wire({"WASMER_SANDBOX_CACHE": str(blocked)}) as server:
            await server.initialize()
            told = await server.ask(1, "tools/call", name="get_sandbox_info", arguments={})
            (note,) = told["result"]["structuredContent"]["notes"]
            assert "cannot be used" in note and "anew" in note
            watched = psutil.Process(server.pid)
            await asyncio.to_thread(within, lambda: len(watched.children()) == 2, "both workers were started")
            server.workers = set(watched.children())
            match how:
                case "signal":
                    os.kill(server.pid, signal.SIGTERM)
                case "stdin":
                    server.close()
                case "killed":
                    os.kill(server.pid, signal.SIGKILL)
            await server.end()

    asyncio.run(go())


def unusable(setup: str, cache: Path) -> str:
    """What a server says of a cache folder for which a shell has to do something first, in a mount namespace."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", str(cache)]
    if subprocess.run(trial, check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here")

    async def go() -> str:
        command = ("unshare", "-rm", "sh", "-c", f'{setup} && exec "$0"', str(COMMAND))
        async with sandbox({"WASMER_SANDBOX_CACHE": str(cache)}, warm=False, command=command) as server:
            return await notes(server)

    return asyncio.run(go())


def test_a_cache_that_is_read_only(tmp_path: Path) -> None:
    assert "cannot be used" in unusable(f"mount -t tmpfs -o ro,mode=700 none {tmp_path}", tmp_path)


def test_a_cache_that_is_full(tmp_path: Path) -> None:
    setup = f"mount -t tmpfs -o size=4k,mode=700 none {tmp_path} && (cat /dev/zero >{tmp_path}/zeros 2>/dev/null || :)"
    assert "No space left" in unusable(setup, tmp_path)


def test_a_cache_that_others_may_write_to(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)

    async def go() -> str:
        async with sandbox({"WASMER_SANDBOX_CACHE": str(folder)}, warm=False) as server:
            return await notes(server)

    assert "other users may write to it" in asyncio.run(go())
    assert not list(Path(folder).iterdir())


def test_a_cache_that_is_spoilt_and_then_deleted(tmp_path: Path) -> None:
    """What was compiled is not trusted blindly: it is made again, once, while the sandbox next door works."""
    cache = tmp_path / "cache"
    shutil.copytree(CACHE, cache)

    async def go() -> None:
        async with sandbox({"WASMER_SANDBOX_CACHE": str(cache)}) as server:
            for path in cache.joinpath("cache-v1", "compiled").rglob("*.*"):
                path.unlink()  # Running workers have it mapped.
                path.write_bytes(b"garbage" * 1000)
            result = await server.call("reset_sandbox")
            assert not result.is_error or content(result)["error"]["code"] == "warming"
            assert (await server.python("print(2)", network="host"))["stdout"] == "2\n"
            await server.ready()
            shutil.rmtree(cache)
            for network in NETWORKS:
                assert (await server.python("print(3)", network=network))["stdout"] == "3\n"
            with anyio.move_on_after(1):
                await server.call("reset_sandbox")
            assert (await server.python("print(4)", network="host"))["stdout"] == "4\n"
            assert cache.stat().st_mode & 0o777 == 0o700

    asyncio.run(go())
