# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""sandbox.fs writes and reads back one file inside /workspace, then tries other absolute paths and '..'."""
import asyncio
import os
import tempfile

from wasmer_sdk import Wasmer, WasmerError


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        sandbox = await client.sandboxes.create(files={"/workspace/sub/file": "x"})
        for path in ["/workspace/a", "/tmp/a", "/home/a", "/etc/a", "/a", "/workspace/sub/../a"]:
            try:
                await sandbox.fs.write_text(path, "hello")
                print(f"{path}: wrote and read {await sandbox.fs.read_text(path)}", flush=True)
            except WasmerError as error:
                print(f"{path}: {error.code}", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
