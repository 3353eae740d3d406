"""Each workaround of the sandbox, off and on, through the real server: the friction shows, and what we do holds."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import MCPError

from tests.sandbox.harness import Shared, sandbox, shared, tool, wire

TOGETHER = "F-043,F-045,F-066,F-069,F-077,F-173"
LOOP = "while True: pass"
COUNT = """
import time
for count in range(40):
    open("count", "w").write(str(count))
    time.sleep(0.1)
open("count", "w").write("to the end")
"""


@pytest.fixture(scope="module", params=["without", "with"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Shared, bool]]:
    holds = request.param == "with"
    with shared({} if holds else {"LEDGER_WITHOUT": TOGETHER}) as one:
        yield one, holds


def test_f_043_selectors_can_be_imported(server: tuple[Shared, bool]) -> None:
    one, holds = server
    ran = one.python("import selectors; print('imported')", timeout=30 if holds else 1)
    assert (ran["outcome"], ran["stdout"]) == (("exited", "imported\n") if holds else ("timed_out", ""))


@pytest.mark.parametrize("leave", ["raise SystemExit(256)", "import os; os._exit(256)"])
def test_f_045_an_exit_code_above_255_is_told(server: tuple[Shared, bool], leave: str) -> None:
    one, holds = server
    ran = one.python(leave)
    assert (ran["exit_code"], ran["exit_code_is_exact"]) == ((256, True) if holds else (0, False))
    assert not [entry for entry in one.answer("list_sandbox_dir")["entries"] if entry["name"].startswith(".exit")]


def test_f_173_a_module_that_is_written_anew_is_what_runs(server: tuple[Shared, bool]) -> None:
    one, holds = server
    for number in (1, 2):
        one.answer("write_sandbox_file", path="corrected.py", content=f"X = {number}")
        ran = one.python("import corrected; print(corrected.X)")
    assert ran["stdout"] == ("2\n" if holds else "1\n")


def test_f_066_a_file_does_not_take_a_folders_place(server: tuple[Shared, bool]) -> None:
    one, holds = server
    one.answer("write_sandbox_file", path="twice/a", content="")
    if holds:
        refusal = one.refusal("write_sandbox_file", path="twice", content="")
        assert refusal["message"] == "/workspace/twice is a folder"
    else:
        one.answer("write_sandbox_file", path="twice", content="")
    names = [entry["name"] for entry in one.answer("list_sandbox_dir")["entries"] if entry["name"] == "twice"]
    assert len(names) == (1 if holds else 2)
    one.answer("reset_sandbox")


def test_f_069_a_command_needs_a_folder_that_is_there(server: tuple[Shared, bool]) -> None:
    one, holds = server
    call: dict[str, Any] = {"command": "js", "args": ["-e", "0"], "cwd": "no"}
    if holds:
        assert one.refusal("run_command", **call)["code"] == "not_found"
    else:
        one.answer("run_command", **call)
    made = [entry["name"] for entry in one.answer("list_sandbox_dir")["entries"] if entry["name"] == "no"]
    assert made == ([] if holds else ["no"])


def test_f_077_an_argument_that_is_none_is_refused(server: tuple[Shared, bool]) -> None:
    one, holds = server
    if holds:
        assert one.refusal("run_python", code="", time_out=1)["message"] == "run_python: time_out: no such argument"
    else:
        assert one.answer("run_python", code="", time_out=1)["outcome"] == "exited"


@pytest.mark.parametrize("holds", [False, True])
def test_f_044_no_core_burns_on_after_a_time_out(holds: bool) -> None:
    async def look() -> None:
        async with sandbox({} if holds else {"LEDGER_WITHOUT": "F-044"}) as server:
            before = server.workers()
            assert (await server.python(LOOP, timeout=0.5))["outcome"] == "timed_out"
            if holds:
                await server.quiet()
                assert not before <= server.workers()
            else:
                assert await server.burning(1.0)
                assert before == server.workers()

    asyncio.run(look())


@pytest.mark.parametrize("holds", [False, True])
def test_f_055_bytes_that_are_no_text_do_not_end_the_server(holds: bool) -> None:
    async def look() -> None:
        async with sandbox({} if holds else {"LEDGER_WITHOUT": "F-055"}) as server:
            code = "import sys; sys.stdout.buffer.write(b'a' + bytes([255]))"
            if holds:
                assert (await server.python(code))["stdout"] == "a\ufffd"
            else:
                with pytest.raises((MCPError, TimeoutError)):
                    await asyncio.wait_for(server.python(code), 5)

    asyncio.run(look())


@pytest.mark.parametrize("holds", [False, True])
def test_f_064_a_cancelled_call_stops_its_program(holds: bool) -> None:
    async def look() -> None:
        async with sandbox({} if holds else {"LEDGER_WITHOUT": "F-064"}) as server:
            calling = asyncio.create_task(server.python(COUNT))
            await asyncio.sleep(1)
            calling.cancel()
            await asyncio.wait({calling})
            count = (await server.answer("read_sandbox_file", path="count"))["content"]
            assert (count == "to the end") is not holds, count

    asyncio.run(look())


@pytest.mark.parametrize("holds", [False, True])
def test_f_160_a_request_with_half_a_character_is_answered(holds: bool) -> None:
    async def dropped() -> None:
        async with wire({"LEDGER_WITHOUT": "F-160"}) as server:
            await server.initialize()
            await server.send(tool(1, "run_python", code="print('HALF')").replace(b"HALF", rb"\ud800"))
            told = await server.ask(2, "tools/call", name="get_sandbox_info", arguments={})
            assert told["id"] == 2
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(server.receive(), 2)

    async def answered() -> None:
        async with wire() as server:
            await server.initialize()
            await server.send(tool(1, "run_python", code="print('HALF')").replace(b"HALF", rb"\ud800"))
            told = await server.answer_to(1)
            assert told["result"]["structuredContent"]["stdout"] == "\ufffd\n"

    asyncio.run(answered() if holds else dropped())
