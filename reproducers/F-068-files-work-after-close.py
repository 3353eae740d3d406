# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Closes a sandbox, then its client, and tries after each to write a file and read it back."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create()
        for name, owner in [("sandbox", sandbox), ("client", client)]:
            await owner.close()
            try:
                await sandbox.command("guest").run()
            except WasmerError as error:
                print(f"after {name}.close(), run: {error.code}", flush=True)
            try:
                await sandbox.fs.write("/workspace/file", name)
                text = await sandbox.fs.read_text("/workspace/file")
                print(f"after {name}.close(), fs: wrote and read {text!r}", flush=True)
            except WasmerError as error:
                print(f"after {name}.close(), fs: {error.code}", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
