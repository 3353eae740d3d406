# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Runs guests that sleep, all at once and each with a timeout of 1 s: first 100 of them, then 201."""
import asyncio
import os
import tempfile
import time
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                                                     ;; sleeps for 1,000,000 s
#   (drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 48))))
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002260116776173695f736e617073686f745f70726576696577310b706f6c"
    "6c5f6f6e656f66660000030201010503010001071302066d656d6f72790200065f737461727400010a10010e00410041c0004101"
    "413010001a0b0b16010041100b1001000000000000000080c6a47e8d0300000b046e616d65010401000170"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # more processors allow for more guests
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        sandbox = await client.sandboxes.create(packages=[Path(folder)])
        other = await client.sandboxes.create(files={"file": "here"})
        for count in 100, 201:
            begun = time.monotonic()
            command = sandbox.command("main")
            runs = [asyncio.create_task(command.run(timeout=1, check=False)) for _ in range(count)]
            ended, _ = await asyncio.wait(runs, timeout=10)
            reasons = {"an error" if run.exception() else run.result().reason.value for run in ended} or {"none"}
            print(f"{count} guests: {len(ended)} runs ended, reason {', '.join(sorted(reasons))}", flush=True)
            print(f"{count} guests: that was after {time.monotonic() - begun:.1f} s", flush=True)
            try:
                answer = await asyncio.wait_for(other.fs.read_text("file"), 5)
            except TimeoutError:
                answer = "no answer in 5.0 s"
            print(f"{count} guests: fs.read_text() in another sandbox: {answer}", flush=True)
    os._exit(0)  # the guests may still run, and would keep the process alive


asyncio.run(main())
