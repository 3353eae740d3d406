# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest's exit code is cut to its low 8 bits: proc_exit(256) reads as success and passes check=True."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import ProcessExitError, Wasmer

# (func (export "_start")                                ;; at 8: the exit code, an i32 read from stdin
#   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
#   (call $proc_exit (i32.load (i32.const 8))))
GUEST = bytes.fromhex(
    "0061736d0100000001100360047f7f7f7f017f60017f0060000002450216776173695f736e617073686f745f7072657669657731"
    "0766645f72656164000016776173695f736e617073686f745f70726576696577310970726f635f65786974000103020102050301"
    "0001071302066d656d6f72790200065f737461727400020a16011400410041004101411010001a410828020010010b0b0e010041"
    "000b080800000004000000"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        command = sandbox.command("main")
        for code in 7, 256, 257, -1:
            try:
                output = await command.run(stdin=code.to_bytes(4, "little", signed=True), check=True)
                outcome = "run(check=True) returned"
            except ProcessExitError as error:
                output, outcome = error.output, "run(check=True) raised"
            print(f"proc_exit({code}): exit_code {output.exit_code}, ok {output.ok}, {outcome}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
