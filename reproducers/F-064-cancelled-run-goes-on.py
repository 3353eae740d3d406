# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Cancels the task of run() while its guest adds a byte to a file every 0.1 s, and sees if it goes on."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")
#   (drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 16) (i32.const 15)      ;; "workspace/ticks"
#     (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 1) (i32.const 0)))            ;; O_CREAT, APPEND
#   (loop
#     (drop (call $poll_oneoff (i32.const 32) (i32.const 96) (i32.const 1) (i32.const 4)))     ;; sleep 0.1 s
#     (drop (call $fd_write (i32.load (i32.const 0)) (i32.const 8) (i32.const 1) (i32.const 4)))
#     (br 0)))
GUEST = """
0061736d0100000001190360097f7f7f7f7f7e7e7f7f017f60047f7f7f7f017f600000026b0316776173695f736e617073686f745f7072
65766965773109706174685f6f70656e000016776173695f736e617073686f745f70726576696577310b706f6c6c5f6f6e656f66660001
16776173695f736e617073686f745f70726576696577310866645f77726974650001030201020503010001071302066d656d6f72790200
065f737461727400030a39013700410341004110410f410142c00042004101410010001a0340412041e0004101410410011a4100280200
41084101410410021a0c000b0b0b52020041080b171000000001000000776f726b73706163652f7469636b730041200b30000000000000
00000000000000000000010000000000000000e1f5050000000000000000000000000000000000000000"""
MANIFEST = '[[module]]\nname = "guest"\nsource = "guest.wasm"\n[[command]]\nname = "guest"\nmodule = "guest"'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(bytes.fromhex(GUEST))
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        sandbox = await client.sandboxes.create(packages=[Path(folder)])
        run = asyncio.create_task(sandbox.command("guest").run())
        while not await sandbox.fs.read_dir("/workspace"):
            await asyncio.sleep(0.1)
        print("the guest writes", flush=True)
        run.cancel()
        await asyncio.wait({run})
        print(f"the task of run() is cancelled: {run.cancelled()}", flush=True)
        await asyncio.sleep(0.5)  # time to wind down
        before = (await sandbox.fs.stat("/workspace/ticks")).size
        await asyncio.sleep(2.0)
        after = (await sandbox.fs.stat("/workspace/ticks")).size
        print("the guest still writes" if after > before else "the guest has stopped", flush=True)
    os._exit(0)  # the guest may still run, and would keep the process alive


asyncio.run(main())
