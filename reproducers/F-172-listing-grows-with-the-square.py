# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest lists 1000 files, then 8000, with fd_readdir: with a buffer that all fit in, and with one of 4096 bytes."""
import asyncio
import os
import struct
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start") (local $at i32) (local $end i32)        ;; preopen 4 is /workspace
#   (drop (call $fd_read (i32.const 0) ...))                      ;; stdin is the buffer's length, to 40
#   (drop (call $clock_time_get (i32.const 2) ... (i32.const 16)))                                ;; 2: CPU time
#   (loop $call                                                   ;; the cookie is at 32, names have 4 characters
#     (drop (call $fd_readdir (i32.const 4) (i32.const 4096) (i32.load (i32.const 40)) (i64.load (i32.const 32)) ...))
#     (local.set $at (i32.const 4096)) (local.set $end ...)
#     (loop $entry (if (i32.le_u (i32.add (local.get $at) (i32.const 28)) (local.get $end)) (then
#       (i64.store (i32.const 32) (i64.load (local.get $at))) (local.set $at ...) (br $entry))))
#     (br_if $call (i32.eq (i32.load (i32.const 44)) (i32.load (i32.const 40)))))                 ;; the buffer is full
#   (drop (call $clock_time_get (i32.const 2) ... (i32.const 24))) (drop (call $fd_write (i32.const 1) ...)))
GUEST = bytes.fromhex(
    "0061736d01000000011c0460047f7f7f7f017f60057f7f7f7e7f017f60037f7e7f017f6000000290010416776173695f736e617073686f74"
    "5f70726576696577310766645f72656164000016776173695f736e617073686f745f70726576696577310866645f77726974650000167761"
    "73695f736e617073686f745f70726576696577310a66645f72656164646972000116776173695f736e617073686f745f7072657669657731"
    "0e636c6f636b5f74696d655f6765740002030201030503010008071302066d656d6f72790200065f737461727400040a8a0101870101027f"
    "410041004101413010001a41024200411010031a0340410441802041282802004120290300412c10021a4180202100418020412c2802006a"
    "210103402000411c6a20014d0440412020002903003703002000411820002802106a6a21000c010b0b412c2802004128280200460d000b41"
    "024200411810031a410141084101413010011a0b0b16010041000b1028000000040000001000000018000000"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client, seconds = Wasmer(), {}
        for files in 1000, 8000:
            names = {f"{number:04}": "" for number in range(files)}
            sandbox = await client.sandboxes.create(packages=[Path(folder)], files=names)
            for how, length in ("one call", 400_000), ("calls of 4096 bytes", 4096):
                taken = []
                for _ in range(40_000 // files):
                    answer = (await sandbox.command("main").run(stdin=struct.pack("<I", length))).stdout.bytes
                    start, end, entries = struct.unpack("<QQQ", answer)
                    taken.append((end - start) / 1e9)
                seconds[how, files] = min(taken)
                print(f"{files} files, in {how}: {entries} entries in {min(taken):.4f} s of CPU", flush=True)
        for how in "one call", "calls of 4096 bytes":
            share = "over" if seconds[how, 8000] > 24 * seconds[how, 1000] else "under"
            print(f"8 times the files took {share} 24 times as long in {how}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
