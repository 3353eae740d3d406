# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest prints "ää", four bytes, and output_bytes is 4, and then 3: asks the output for its text()."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")
#   (drop (call $fd_write (i32.const 1) (; "\c3\a4\c3\a4" ;) (i32.const 0) (i32.const 1) (i32.const 64))))
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f"
    "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a10010e0041014100410141c00010"
    "001a0b0b12010041000b0c0800000004000000c3a4c3a4000b046e616d65010401000177"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        sandbox = await client.sandboxes.create(packages=[Path(folder)])
        for limit in 4, 3:
            output = await sandbox.command("main").run(output_bytes=limit)
            try:
                text = ascii(output.text())
            except UnicodeDecodeError as error:
                text = f"UnicodeDecodeError, {error.reason}"
            print(f"output_bytes={limit}: truncated {output.stdout.truncated}, text(): {text}", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
