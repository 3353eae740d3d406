# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""ProcessExitError has an SDK error code, but neither `except WasmerError` nor is_error() knows it."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import ProcessExitError, Wasmer, WasmerError

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
        try:
            await sandbox.command("main").run(check=True)
        except ProcessExitError as error:
            print(f"run() raised ProcessExitError, exit code {error.output.exit_code}, code {error.code}", flush=True)
            print(f"isinstance(error, WasmerError): {isinstance(error, WasmerError)}", flush=True)
            known = WasmerError.is_error(error, "PROCESS_EXITED")
            print(f"WasmerError.is_error(error, 'PROCESS_EXITED'): {known}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
