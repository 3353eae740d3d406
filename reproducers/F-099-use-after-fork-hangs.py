# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Runs a guest, forks, and runs one more in the child: with the client of the parent, and with one of its own."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

GUEST = bytes.fromhex(  # (func (export "_start"))
    "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def run(client, folder):
    sandbox = await client.sandboxes.create(packages=[Path(folder)])
    return f"exit code {(await sandbox.command('main').run()).exit_code}"


async def attempt(name, client, folder):
    try:
        outcome = await asyncio.wait_for(run(client, folder), 5)
    except TimeoutError:
        outcome = "nothing after 5.0 s"
    except (RuntimeError, WasmerError) as error:
        outcome = f"refused, {type(error).__name__}"
    print(f"{name}: {outcome}", flush=True)


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    Path(folder, "guest.wasm").write_bytes(GUEST)
    Path(folder, "wasmer.toml").write_text(MANIFEST)
    client = Wasmer(cache_root=Path(folder, "cache"))
    asyncio.run(attempt("the parent", client, folder))
    if os.fork() == 0:
        asyncio.run(attempt("the child, with a client of its own", Wasmer(cache_root=Path(folder, "cache")), folder))
        asyncio.run(attempt("the child, with the client of the parent", client, folder))
        os._exit(0)
    print("the child ended with exit code", os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process
