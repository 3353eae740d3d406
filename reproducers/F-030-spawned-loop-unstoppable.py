# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Spawns a guest that never ends, stops it by spawn(timeout=1.0) or kill(), and gives wait() four seconds."""
import asyncio
import os
import tempfile
import time
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                                           ;; say so, then loop
#   (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 64)))    ;; "guest started\n"
#   (loop (br 0)))
GUEST = """
0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f777269
74650000030201010503010001071302066d656d6f72790200065f737461727400010a1501130041014100410141c00010001a03400c00
0b0b0b1c010041000b16080000000e000000677565737420737461727465640a"""
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
        for how, timeout in [("spawn(timeout=1.0)", 1.0), ("kill()", None)]:
            process = await sandbox.command("guest").spawn(timeout=timeout)
            print(f"{how}: {await anext(process.stdout.lines())}", flush=True)
            if timeout is None:
                await process.kill()
            begun = time.monotonic()
            wait = asyncio.create_task(process.wait())
            await asyncio.wait({wait}, timeout=4.0)
            seconds = time.monotonic() - begun
            ending = f"returned, reason {wait.result().reason.value}" if wait.done() else "still waiting"
            print(f"{how}: wait() {ending}, after {seconds:.1f} s", flush=True)
    os._exit(0)  # the guests' threads may still loop, and would keep the process alive


asyncio.run(main())
