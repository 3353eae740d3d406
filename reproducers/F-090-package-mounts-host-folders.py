# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Loads a package folder whose [fs] table names another folder of the host. Its guest prints a file, and changes it."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError

# (func (export "_start")
#   (if (call $path_open (i32.const 3) (i32.const 0) (; "data/file" ;) ... (i32.const 24))
#     (then (call $proc_exit (; the errno ;))))
#   (drop (call $fd_read (i32.load (i32.const 24)) (i32.const 0) (i32.const 1) (i32.const 4)))
#   (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 28)))
#   (drop (call $fd_pwrite (i32.load (i32.const 24)) (; "changed" ;) (i32.const 8) (i32.const 1) (i64.const 0) ...)))
GUEST = bytes.fromhex(
    "0061736d0100000001260560097f7f7f7f7f7e7e7f7f017f60047f7f7f7f017f60057f7f7f7e7f017f60017f0060000002ad0105"
    "16776173695f736e617073686f745f707265766965773109706174685f6f70656e000016776173695f736e617073686f745f7072"
    "6576696577310766645f72656164000116776173695f736e617073686f745f70726576696577310966645f707772697465000216"
    "776173695f736e617073686f745f70726576696577310866645f7772697465000116776173695f736e617073686f745f70726576"
    "696577310970726f635f657869740003030201040503010001071302066d656d6f72790200065f737461727400050a4e014c0101"
    "7f41034100412041094100427f427f410041181000210020000440200010040b411828020041004101410410011a410141004101"
    "411c10031a4118280200410841014200411c10021a0b0b30030041000b10400000000001000030000000070000000041200b0964"
    "6174612f66696c650041300b076368616e6765640029046e616d6501220500046f70656e01047265616402067077726974650305"
    "7772697465040465786974"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as host:
        for name, content in ("package/data", "packaged"), ("private", "secret!"):
            Path(host, name).mkdir(parents=True)
            Path(host, name, "file").write_text(content)
        client = Wasmer(cache_root=Path(host, "cache"))
        Path(host, "package", "guest.wasm").write_bytes(GUEST)
        for source in "data", "../private", f"{host}/private":
            Path(host, "package", "wasmer.toml").write_text(f'{MANIFEST}[fs]\n"/data" = "{source}"\n')
            Path(host, "private", "file").write_text("secret!")
            try:
                sandbox = await client.sandboxes.create(packages=[Path(host, "package")])
                output = await sandbox.command("main").run(check=False)
                outcome = f"the guest read {output.stdout.text() or 'nothing'}"
            except WasmerError as error:
                outcome = f"refused, {error.code}"
            await asyncio.sleep(0.5)  # what a guest writes reaches the disk a moment after its end
            print(f"[fs] {source.replace(host, '<host>')}: {outcome}", flush=True)
            print("the file outside the package:", Path(host, "private", "file").read_text(), flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
