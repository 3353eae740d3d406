# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Renames a file to another name, and then to the name that it has, and looks what is left of it."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"a": "precious"})

        async def show(source, destination):
            try:
                await sandbox.fs.rename(f"/workspace/{source}", f"/workspace/{destination}")
                outcome = "succeeded"
            except WasmerError as error:
                outcome = error.code
            names = [entry.name for entry in await sandbox.fs.read_dir("/workspace")]
            print(f"rename {source} to {destination}: {outcome}; left: {', '.join(names) or 'nothing'}", flush=True)

        await show("a", "b")
        await show("b", "b")
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
