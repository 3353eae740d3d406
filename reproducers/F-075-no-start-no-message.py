# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A command whose module exports no _start ends with exit code 45 and says nothing."""
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
    for name in b"_start", b"_entry":
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "guest.wasm").write_bytes(GUEST.replace(b"_start", name))
            Path(folder, "wasmer.toml").write_text(MANIFEST)
            try:
                sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
                output = await sandbox.command("main").run(check=False)
                said = " ".join((output.stdout.text() + output.stderr.text()).split()) or "nothing"
                outcome = f"exit code {output.exit_code}, {output.reason.value}, said: {said}"
            except WasmerError as error:
                outcome = f"{error.code}, said: {error}"
            print(f"{name.decode()} exported: {outcome}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
