# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest that makes a file larger than the host can allocate aborts the whole host process (SIGABRT)."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                              ;; at 16: the wanted size, read from stdin
#   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 40)))
#   (if (call $path_open (i32.const 3) (i32.const 0) (; "workspace/file" ;) (i32.const 24) (i32.const 14)
#         (; O_CREAT ;) (i32.const 1) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 40))
#     (then (unreachable)))
#   (call $proc_exit (call $fd_filestat_set_size (i32.load (i32.const 40)) (i64.load (i32.const 16)))))
GUEST = bytes.fromhex(
    "0061736d0100000001230560047f7f7f7f017f60097f7f7f7f7f7e7e7f7f017f60027f7e017f60017f0060000002960104167761"
    "73695f736e617073686f745f70726576696577310766645f72656164000016776173695f736e617073686f745f70726576696577"
    "3109706174685f6f70656e000116776173695f736e617073686f745f70726576696577311466645f66696c65737461745f736574"
    "5f73697a65000216776173695f736e617073686f745f70726576696577310970726f635f65786974000303020104050301000107"
    "1302066d656d6f72790200065f737461727400040a35013300410041004101412810001a410341004118410e4101427f427f4100"
    "412810010440000b41282802004110290300100210030b0b21020041000b0810000000080000000041180b0e776f726b73706163"
    "652f66696c65"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        command = sandbox.command("main")
        # 256 TiB is more than a process can map on x86-64 or arm64, whatever the machine's memory
        for name, size in ("1 MiB", 1 << 20), ("256 TiB", 1 << 48):
            print(f"the guest sets the size of its file to {name}", flush=True)
            output = await command.run(stdin=size.to_bytes(8, "little"), check=False)
            print(f"{name}: fd_filestat_set_size returned errno {output.exit_code}", flush=True)
            print("size of the file:", (await sandbox.fs.stat("file")).size, flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
