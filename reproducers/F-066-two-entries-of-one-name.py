# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Makes a directory where a file is, and writes a file where a directory is, and lists what is there then."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"a/file": "old", "b": "old"})

        async def show(what, operation):
            try:
                await operation
                outcome = "succeeded"
            except WasmerError as error:
                outcome = error.code
            entries = await sandbox.fs.read_dir("/workspace")
            listing = sorted(f"{entry.name} ({entry.kind})" for entry in entries)
            print(f"{what}: {outcome}; /workspace holds {', '.join(listing)}", flush=True)

        await show("mkdir a again", sandbox.fs.mkdir("/workspace/a"))
        await show("mkdir over the file b", sandbox.fs.mkdir("/workspace/b"))
        await show("write over the directory a", sandbox.fs.write("/workspace/a", "new"))
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
