# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest writes two lines at once. Reads the first from process.stdout.lines(), then asks lines() for the rest."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")
#   (drop (call $fd_write (i32.const 1) (; "ready\nsecond\n" ;) (i32.const 0) (i32.const 1) (i32.const 64))))
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f"
    "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a10010e0041014100410141c00010"
    "001a0b0b1b010041000b15080000000d00000072656164790a7365636f6e640a000b046e616d65010401000177"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        sandbox = await client.sandboxes.create(packages=[Path(folder)])
        process = await sandbox.command("main").spawn()
        print("one lines():", [line async for line in process.stdout.lines()], flush=True)
        process = await sandbox.command("main").spawn()
        async for line in process.stdout.lines():
            print("a first lines(), left after one line:", [line], flush=True)
            break
        print("a second lines():", [line async for line in process.stdout.lines()], flush=True)
        print("wait():", repr((await process.wait()).stdout.text()), flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
