# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest adds an x to /tmp/note and prints what it holds, twice in a sandbox; then the host looks for it."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (func (export "_start")
#   (drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 64) (i32.const 8)      ;; "tmp/note"
#     (i32.const 1) (i64.const 0x66) (i64.const 0) (i32.const 1) (i32.const 0)))         ;; O_CREAT, APPEND
#   (drop (call $fd_write (i32.load (i32.const 0)) (i32.const 8) (i32.const 1) (i32.const 24)))
#   (drop (call $fd_pread (i32.load (i32.const 0)) (i32.const 16) (i32.const 1) (i64.const 0) (i32.const 20)))
#   (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24))))   ;; to stdout
GUEST = """
0061736d0100000001220460097f7f7f7f7f7e7e7f7f017f60047f7f7f7f017f60057f7f7f7e7f017f60000002680316776173695f736e
617073686f745f707265766965773109706174685f6f70656e000016776173695f736e617073686f745f70726576696577310866645f77
72697465000116776173695f736e617073686f745f70726576696577310866645f70726561640002030201030503010001071302066d65
6d6f72790200065f737461727400030a440142004103410041c0004108410142e60042004101410010001a410028020041084101411810
011a4100280200411041014200411410021a410141104101411810011a0b0b2b030041080b1050000000010000006000000040000000
0041c0000b08746d702f6e6f74650041d0000b0178"""
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
        for run in [1, 2]:
            output = await sandbox.command("guest").run()
            print(f"run {run}: guest added an x to /tmp/note, which now holds: {output.text()}", flush=True)
        try:
            print("host: sandbox.fs reads /tmp/note:", await sandbox.fs.read_text("/tmp/note"), flush=True)
        except WasmerError as error:
            print("host: sandbox.fs refuses /tmp/note:", error.code, flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
