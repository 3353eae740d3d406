# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""command(cwd=...) with a misspelt directory creates that directory and starts the guest in it."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (func (export "_start")                       ;; opens "note" in preopen 4, which is "."
#   (i32.store (i32.const 24) (call $path_open (i32.const 4) ... (i32.const 64) (i32.const 4) ...))
#   (if (i32.load (i32.const 24)) (then (call $proc_exit (i32.load (i32.const 24)))))   ;; exits with the errno,
#   (drop (call $fd_read (i32.load (i32.const 0)) (i32.const 8) (i32.const 1) (i32.const 12)))   ;; or reads it
#   (drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 28))))   ;; and copies it to stdout
GUEST = bytes.fromhex(
    "0061736d01000000011d0460047f7f7f7f017f60097f7f7f7f7f7e7e7f7f017f60017f00600000028a010416776173695f736e61"
    "7073686f745f70726576696577310766645f72656164000016776173695f736e617073686f745f70726576696577310866645f77"
    "72697465000016776173695f736e617073686f745f707265766965773109706174685f6f70656e000116776173695f736e617073"
    "686f745f70726576696577310970726f635f657869740002030201030503010001071302066d656d6f72790200065f7374617274"
    "00040a4601440041184104410041c000410441004202420041004100100236020041182802000440411828020010030b41002802"
    "0041084101410c10001a410141084101411c10011a0b0b18020041080b0860000000400000000041c0000b046e6f7465"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)], files={"data/note": "found"})
        for cwd in "/workspace/data", "/workspace/daat", "/daat":
            try:
                output = await sandbox.command("main", cwd=cwd).run(check=False)
                outcome = f"guest ran, exit code {output.exit_code}, stdout: {output.stdout.text()}"
            except WasmerError as error:
                outcome = f"no guest ran, {error.code}"
            print(f"cwd {cwd}: {outcome}".rstrip(), flush=True)
            names = sorted(entry.name for entry in await sandbox.fs.read_dir("/workspace"))
            print(f"/workspace then holds: {' '.join(names)}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
