# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Renames a directory to a free name, and then onto an older directory that holds a file, and looks what is left."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"old/1": "first"})
        await sandbox.fs.write("made/2", "second")

        async def show(what, operation):
            try:
                await operation
                outcome = "succeeded"
            except WasmerError as error:
                outcome = error.code
            names = [
                f"{directory.name}/{entry.name}"
                for directory in await sandbox.fs.read_dir("/workspace")
                for entry in await sandbox.fs.read_dir(directory.name)
            ]
            print(f"{what}: {outcome}; left: {', '.join(sorted(names)) or 'nothing'}", flush=True)

        await show("rename made to new", sandbox.fs.rename("made", "new"))
        await show("rename new to old", sandbox.fs.rename("new", "old"))
        await show("remove old", sandbox.fs.remove("old", recursive=True))
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
