# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest makes a symlink, relative or absolute, and reads through it; then another guest of the sandbox does."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start") (local i32)                             ;; preopen 4 is /workspace
#   (drop (call $fd_read (i32.const 0) ...))                      ;; stdin is the target of the symlink to make
#   (if (i32.load (i32.const 12)) (then
#     (if (local.tee 0 (call $path_symlink (i32.const 64) (i32.load (i32.const 12)) (i32.const 4) "link"))
#       (then (call $proc_exit (local.get 0))))))
#   (if (local.tee 0 (call $path_open (i32.const 4) (i32.const 1) "link" ... (i32.const 8)))
#     (then (call $proc_exit (local.get 0))))
#   (drop (call $fd_read (i32.load (i32.const 8)) ...)) (drop (call $fd_write (i32.const 1) ...)))
GUEST = bytes.fromhex(
    "0061736d0100000001260560047f7f7f7f017f60057f7f7f7f7f017f60097f7f7f7f7f7e7e7f7f017f60017f0060000002b00105"
    "16776173695f736e617073686f745f70726576696577310766645f72656164000016776173695f736e617073686f745f70726576"
    "696577310866645f7772697465000016776173695f736e617073686f745f70726576696577310c706174685f73796d6c696e6b00"
    "0116776173695f736e617073686f745f707265766965773109706174685f6f70656e000216776173695f736e617073686f745f70"
    "726576696577310970726f635f657869740003030201040503010001071302066d656d6f72790200065f737461727400050a6801"
    "6601017f410041004101410c10001a410c280200044041c000410c280200410441104104100222000440200010040b0b41044101"
    "4110410441004202420041004108100322000440200010040b410828020041004101410410001a410141004101410c10011a0b0b"
    "17020041000b0840000000000400000041100b046c696e6b"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer()
        for target in b"target", b"/workspace/target":
            sandbox = await client.sandboxes.create(packages=[Path(folder)], files={"target": "hello, world"})
            for who, stdin in ("its maker", target), ("another guest", b""):
                output = await sandbox.command("main").run(stdin=stdin, check=False)
                outcome = output.stdout.text() or f"errno {output.exit_code}"
                print(f"link to {target.decode()}: {who} reads {outcome}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
