# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest opens a, renames b over it, makes c, and then reads and writes through the descriptor that it got for a."""
import asyncio
import os
import struct
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                                         ;; preopen 4 is /workspace
#   (drop (call $path_open (i32.const 4) ... "a" ... (i32.const 48)))
#   (drop (call $fd_pread (i32.load (i32.const 48)) ... (i64.const 0) ...))                      ;; to 64
#   (i32.store (i32.const 80) (call $path_rename (i32.const 4) "b" (i32.const 4) "a"))
#   (drop (call $path_open (i32.const 4) ... "c" (i32.const 1) ... (i32.const 52)))              ;; 1: create
#   (drop (call $fd_pwrite (i32.load (i32.const 52)) "private" (i64.const 0) ...))
#   (i32.store (i32.const 84) (call $fd_pread (i32.load (i32.const 48)) ... (i64.const 0) ...))  ;; to 72
#   (drop (call $fd_pwrite (i32.load (i32.const 48)) "changed" (i64.const 0) ...))
#   (drop (call $fd_write (i32.const 1) ...)))                                       ;; the 24 bytes from 64 on
GUEST = bytes.fromhex(
    "0061736d01000000012c0560097f7f7f7f7f7e7e7f7f017f60067f7f7f7f7f7f017f60057f7f7f7e7f017f60047f7f7f7f017f60"
    "000002b0010516776173695f736e617073686f745f707265766965773109706174685f6f70656e000016776173695f736e617073"
    "686f745f70726576696577310b706174685f72656e616d65000116776173695f736e617073686f745f7072657669657731086664"
    "5f7072656164000216776173695f736e617073686f745f70726576696577310966645f707772697465000216776173695f736e61"
    "7073686f745f70726576696577310866645f77726974650003030201040503010001071302066d656d6f72790200065f73746172"
    "7400050a9501019201004104410041284101410042c60042004100413010001a4130280200410041014200413810021a41d00041"
    "0441294101410441284101100136020041044100412a4101410142c60042004100413410001a4134280200411041014200413810"
    "031a41d4004130280200410841014200413810023602004130280200411841014200413810031a410141204101413810041a0b0b"
    "4b030041000b2b400000000700000048000000070000006000000007000000680000000700000040000000180000006162630041"
    "e0000b07707269766174650041e8000b076368616e676564"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        files = {"a": "first a", "b": "other a"}
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)], files=files)
        answer = (await sandbox.command("main").run()).stdout.bytes
        before, after, rename, read = struct.unpack("<7sx7sxII", answer)
        a, c = (await sandbox.fs.read("a")).decode(), (await sandbox.fs.read("c")).decode()
        print(f"the descriptor of a reads: {before.decode()}", flush=True)
        print(f"b is renamed over a: errno {rename}, and a is now: {a}", flush=True)
        print(f"a new file, c, gets private; the descriptor of a reads: errno {read}, {after.decode()}", flush=True)
        print(f"changed is written to the descriptor of a, and c is now: {c}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
