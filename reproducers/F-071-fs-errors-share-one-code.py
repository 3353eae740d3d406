# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A missing file, a directory that exists and one that is not empty: sandbox.fs gives all the same error code."""
import asyncio
import os

from wasmer_sdk import Wasmer


async def main():
    sandbox = await Wasmer().sandboxes.create(files={"folder/file": "hello"})
    fs = sandbox.fs
    print(f"read of an existing file: {await fs.read_text('folder/file')}", flush=True)
    kinds = []
    for what, work in {
        "read of a missing file": fs.read("missing"),
        "mkdir of a directory that exists": fs.mkdir("folder"),
        "remove of a directory that is not empty": fs.remove("folder"),
    }.items():
        try:
            await work
            print(f"{what}: no error", flush=True)
        except Exception as error:
            kinds.append((type(error).__name__, getattr(error, "code", None)))
            print(f"{what}: {type(error).__name__}, {kinds[-1][1]}, {error}", flush=True)
    print(f"{len(kinds)} failures, {len(set(kinds))} different kind(s) of error", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
