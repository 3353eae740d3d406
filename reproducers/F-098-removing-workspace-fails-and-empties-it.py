# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Removes a directory, and then /workspace itself, recursively, and looks what is left."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"a/b/c": "1", "d": "2"})
        for path in "a", "/workspace":
            try:
                await sandbox.fs.remove(path, recursive=True)
                outcome = "succeeded"
            except WasmerError as error:
                outcome = f"{error.code}, {error}"
            names = [entry.name for entry in await sandbox.fs.read_dir("/workspace")]
            print(f"remove {path}: {outcome}; left: {', '.join(names) or 'nothing'}", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
