# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Loads one WASI module as a package directory and as its bytes, and runs what was loaded."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (func (export "_start")
#   (drop (call $fd_write (i32.const 1) (; "hello" ;) (i32.const 0) (i32.const 1) (i32.const 16))))
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f"
    "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a0f010d0041014100410141101000"
    "1a0b0b14010041000b0e080000000600000068656c6c6f0a"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer()
        for what, source in ("directory", Path(folder)), ("bytes", GUEST):
            try:
                sandbox = await client.sandboxes.create(packages=[await client.packages.load(source)])
                output = await sandbox.command("main").run()
                print(f"load({what}): loaded and ran, stdout: {output.stdout.text().strip()}", flush=True)
            except WasmerError as error:
                print(f"load({what}): {error.code}: {str(error).replace(folder, 'FOLDER')}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
