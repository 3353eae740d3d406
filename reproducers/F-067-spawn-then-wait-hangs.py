# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Spawns a guest that writes 64 KiB to stdout, and one that writes 96 KiB, and waits for each."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                                    ;; writes 32 KiB for each of its arguments
#   (drop (call $args_sizes_get (i32.const 0) (i32.const 4)))
#   (loop
#     (drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 4)))
#     (i32.store (i32.const 0) (i32.sub (i32.load (i32.const 0)) (i32.const 1)))
#     (br_if 0 (i32.load (i32.const 0)))))
GUEST = """
0061736d0100000001120360027f7f017f60047f7f7f7f017f600000024b0216776173695f736e617073686f745f70726576696577310e
617267735f73697a65735f676574000016776173695f736e617073686f745f70726576696577310866645f777269746500010302010205
03010001071302066d656d6f72790200065f737461727400020a2d012b004100410410001a0340410141084101410410011a4100410028
020041016b36020041002802000d000b0b0b0e010041080b081000000000800000"""
MANIFEST = '[[module]]\nname = "guest"\nsource = "guest.wasm"\n[[command]]\nname = "guest"\nmodule = "guest"'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(bytes.fromhex(GUEST))
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        sandbox = await client.sandboxes.create(packages=[Path(folder)])
        small = sandbox.command("guest", ["x"])  # its name is the other argument
        large = sandbox.command("guest", ["x", "x"])
        print(f"96 KiB, run(): {len((await large.run()).stdout.bytes)} bytes of stdout", flush=True)
        for name, command in [("64 KiB", small), ("96 KiB", large)]:
            process = await command.spawn()
            try:
                output = await asyncio.wait_for(process.wait(), 4.0)
                print(f"{name}, spawn() and wait(): {len(output.stdout.bytes)} bytes of stdout", flush=True)
            except asyncio.TimeoutError:
                print(f"{name}, spawn() and wait(): still waiting after 4.0 s", flush=True)
    os._exit(0)  # the guest still waits, and would keep the process alive


asyncio.run(main())
