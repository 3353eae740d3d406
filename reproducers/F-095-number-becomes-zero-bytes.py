# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Gives a number where contents of a file are wanted, to sandboxes.create(), fs.write() and fs.write_text()."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"port": "8080"})
        print('create(files={"port": "8080"}) wrote', await sandbox.fs.read("port"), flush=True)

        async def create(contents):
            nonlocal sandbox
            sandbox = await client.sandboxes.create(files={"port": contents})

        calls = {
            'create(files={"port": 8})': lambda: create(8),
            'fs.write("port", 8)': lambda: sandbox.fs.write("port", 8),
            'fs.write_text("port", 8)': lambda: sandbox.fs.write_text("port", 8),
        }
        for name, call in calls.items():
            try:
                await call()
                print(name, "wrote", await sandbox.fs.read("port"), flush=True)
            except (TypeError, ValueError, WasmerError) as error:
                print(name, "raised", type(error).__name__, flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
