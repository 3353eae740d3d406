# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""packages.load() of a folder's path as a str says that the folder was not found on the disk, where it is."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (module (memory (export "memory") 1) (func (export "_start")))
GUEST = bytes.fromhex(
    "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer()
        for source in Path(folder), folder:
            what = f"load({'Path' if isinstance(source, Path) else 'str'})"
            try:
                package = await client.packages.load(source)
                print(f"{what}: loaded, commands {list(package.commands)}", flush=True)
            except WasmerError as error:
                print(f"{what}: {error.code}: {str(error).replace(folder, '/FOLDER')}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
