# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Processes that run at the same time, in one sandbox and in another, all have the id 1."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                      ;; waits for stdin
#   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16))))
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002220116776173695f736e617073686f745f70726576696577310766645f"
    "726561640000030201010503010001071302066d656d6f72790200065f737461727400010a0f010d00410041004101411010001a"
    "0b0b0a010041040b0408000000"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer()
        one = await client.sandboxes.create(packages=[Path(folder)])
        other = await client.sandboxes.create(packages=[Path(folder)])
        processes = [await box.command("main").spawn(stdin="pipe") for box in (one, one, other)]
        ids = [process.id for process in processes]
        ends = []
        for process in processes:
            await process.stdin.close()
            ends.append((await process.wait()).exit_code)
        print(f"three guests ran at once, exit codes {ends}", flush=True)
        print(f"in one sandbox: ids {ids[0]} and {ids[1]}", flush=True)
        print(f"in another sandbox: id {ids[2]}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
