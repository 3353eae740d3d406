# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""packages.load() takes the bytes of a .wasm file, but not the Path of that file."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (module (memory (export "memory") 1) (func (export "_start")))
GUEST = bytes.fromhex(
    "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b"
)


async def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hello.wasm")
        path.write_bytes(GUEST)
        client = Wasmer()
        for what, source in ("bytes", path.read_bytes()), ("path", path):
            try:
                package = await client.packages.load(source)
                print(f"load({what}): loaded, commands {list(package.commands)}", flush=True)
            except WasmerError as error:
                print(f"load({what}): {error.code}: {str(error).replace(folder, 'FOLDER')}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
