# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Deep-copies a list of loaded packages, drops the copy, and uses the originals, all in a child process."""
import asyncio
import copy
import os
import signal
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

GUEST = bytes.fromhex(  # (func (export "_start"))
    "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b"
)
MANIFEST = '[[module]]\nname = "guest"\nsource = "guest.wasm"\n[[command]]\nname = "guest"\nmodule = "guest"'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        packages = [await client.packages.load(Path(folder)) for _ in range(20)]
        await use(client, packages)
        print("before the copy: all packages run", flush=True)
        try:
            copy.deepcopy(packages)  # the copy is dropped at once
        except TypeError:
            print("copy.deepcopy raised TypeError", flush=True)
        await use(client, packages)
        print("after the copy: all packages run", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


async def use(client, packages):
    for package in packages:
        sandbox = await client.sandboxes.create(packages=[package])
        await sandbox.command(package).run()


if os.fork() == 0:
    asyncio.run(main())
code = os.waitstatus_to_exitcode(os.wait()[1])
crashed = -code in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL)
print("the process", "crashed" if crashed else f"ended, exit code {code}", flush=True)
