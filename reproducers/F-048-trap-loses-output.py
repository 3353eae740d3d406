# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A trap in the guest makes run() raise even with check=False, and what the guest wrote before it is lost."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (func (export "_start")
#   (drop (call $fd_write (i32.const 1) (; "partial" ;) (i32.const 0) (i32.const 1) (i32.const 20)))
#   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
#   (if (i32.load (i32.const 16)) (then (unreachable)))) ;; traps if stdin was not empty
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002440216776173695f736e617073686f745f70726576696577310766645f"
    "72656164000016776173695f736e617073686f745f70726576696577310866645f77726974650000030201010503010001071302"
    "066d656d6f72790200065f737461727400020a23012100410141004101411410011a410041004101411010001a41102802000440"
    "000b0b0b16010041000b1008000000080000007061727469616c0a"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        command = sandbox.command("main")
        for name, stdin in ("no trap", b""), ("trap", b"x"):
            try:
                output = await command.run(stdin=stdin, check=False)
                stdout = output.stdout.text().strip()
                print(f"{name}: run() returned, exit code {output.exit_code}, stdout: {stdout}", flush=True)
            except WasmerError as error:
                output = getattr(error, "output", None)
                print(f"{name}: run() raised WasmerError, {error.code}, its output: {output}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
