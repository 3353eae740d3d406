# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Runs a guest that never ends with run(timeout=1.0), and waits at most six seconds for run() to return."""
import asyncio
import os
import tempfile
import time
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                              ;; create a file to show that it runs, then loop
#   (drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 17)   ;; "workspace/started"
#     (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 32)))       ;; O_CREAT, FD_WRITE
#   (loop (br 0)))
GUEST = """
0061736d0100000001110260097f7f7f7f7f7e7e7f7f017f60000002240116776173695f736e617073686f745f70726576696577310970
6174685f6f70656e0000030201010503010001071302066d656d6f72790200065f737461727400010a1f011d0041034100410041114101
42c00042004100412010001a03400c000b0b0b17010041000b11776f726b73706163652f73746172746564"""
MANIFEST = """
package = {name = "test/guest", version = "1.0.0"}
module = [{name = "guest", source = "guest.wasm", abi = "wasi"}]
command = [{name = "guest", module = "guest"}]"""


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(bytes.fromhex(GUEST))
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        sandbox = await client.sandboxes.create(packages=[Path(folder)])
        begun = time.monotonic()
        run = asyncio.create_task(sandbox.command("guest").run(timeout=1.0, check=False))
        await asyncio.wait({run}, timeout=6.0)
        seconds = time.monotonic() - begun
        if [entry.name for entry in await sandbox.fs.read_dir("/workspace")] == ["started"]:
            print("guest started", flush=True)
        ending = f"returned, reason {run.result().reason.value}" if run.done() else "still running"
        print(f"run(timeout=1.0) {ending}, after {seconds:.1f} s", flush=True)
    os._exit(0)  # the guest's thread may still loop, and would keep the process alive


asyncio.run(main())
