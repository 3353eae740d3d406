"""What a client writes never leaves a workspace over its limits, from where only a reset would lead."""

import asyncio

from tests.sandbox.harness import sandbox


def test_writes_at_once_share_the_room() -> None:
    async def look() -> None:
        async with sandbox(workspace_bytes=1000) as server:
            writes = [server.call("write_sandbox_file", path=f"f{number}", content="x" * 400) for number in range(5)]
            refused = [result for result in await asyncio.gather(*writes) if result.is_error]
            assert len(refused) == 3
            assert all(result.structured_content["error"]["code"] == "too_large" for result in refused)
            ran = await server.python("import os; print(len(os.listdir()))")
            assert (ran["stdout"], ran["files"], ran["note"]) == ("2\n", "kept", "")

    asyncio.run(look())


def test_folders_count_as_files_do() -> None:
    async def look() -> None:
        async with sandbox(workspace_files=5) as server:
            await server.answer("write_sandbox_file", path="a/b/one", content="")
            refusal = await server.refusal("write_sandbox_file", path="c/d/two", content="")
            assert refusal["message"] == "the workspace holds 3 files and folders, and may hold 5"
            await server.answer("write_sandbox_file", path="a/b/two", content="")
            assert (await server.python("pass"))["files"] == "kept"

    asyncio.run(look())


def test_a_folder_that_a_program_removed_does_not_come_back() -> None:
    async def look() -> None:
        async with sandbox() as server:
            await server.answer("write_sandbox_file", path="a/b/one", content="")
            await server.python("import shutil; shutil.rmtree('a')")
            assert (await server.python("while True: pass", timeout=0.5))["files"] == "kept"
            assert (await server.answer("list_sandbox_dir"))["entries"] == []

    asyncio.run(look())
