# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""run() without arguments does not raise when the guest exits with a non-zero code."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import ProcessExitError, Wasmer

# (func (export "_start") (call $proc_exit (i32.const 7)))
GUEST = bytes.fromhex(
    "0061736d0100000001080260017f0060000002240116776173695f736e617073686f745f70726576696577310970726f635f6578"
    "69740000030201010503010001071302066d656d6f72790200065f737461727400010a08010600410710000b"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        command = sandbox.command("main")
        output = await command.run(check=False)
        print(f"run(check=False) returned, exit code {output.exit_code}", flush=True)
        try:
            output = await command.run()
            print(f"run() returned, exit code {output.exit_code}", flush=True)
        except ProcessExitError as error:
            print(f"run() raised ProcessExitError, exit code {error.output.exit_code}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
