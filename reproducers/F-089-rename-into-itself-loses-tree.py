# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Moves a directory into another one, and then into one of its own, and looks what is left of it."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"tree/leaf": "precious", "other/leaf": "old"})

        async def show(source, destination):
            try:
                await sandbox.fs.rename(f"/workspace/{source}", f"/workspace/{destination}")
                outcome = "succeeded"
            except WasmerError as error:
                outcome = error.code
            names = sorted(entry.name for entry in await sandbox.fs.read_dir("/workspace"))
            print(f"rename {source} to {destination}: {outcome}; left: {', '.join(names) or 'nothing'}", flush=True)

        await show("other", "tree/other")
        await show("tree", "tree/inside")
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
