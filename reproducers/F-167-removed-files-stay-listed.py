# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A running guest lists /workspace, the host removes a file that it has seen, and the guest opens and lists again."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func $list                                                     ;; preopen 4 is /workspace
#   (i32.store8 (i32.const 1024) (call $path_filestat_get (i32.const 4) (i32.const 0) "gone" ...))
#   (drop (call $path_open (i32.const 4) (i32.const 0) "." ... (i32.const 12)))
#   (drop (call $fd_readdir (i32.load (i32.const 12)) (i32.const 1025) (i32.const 4096) (i64.const 0) ...))
#   (drop (call $fd_write (i32.const 1) ...)))                    ;; the errno of the stat, and the entries
# (func (export "_start") (call $list)
#   (drop (call $fd_read (i32.const 0) ...)) (if (i32.load (i32.const 8)) (then (call $list))))
GUEST = bytes.fromhex(
    "0061736d01000000012b0560057f7f7f7f7f017f60097f7f7f7f7f7e7e7f7f017f60057f7f7f7e7f017f60047f7f7f7f017f6000"
    "0002b6010516776173695f736e617073686f745f707265766965773111706174685f66696c65737461745f676574000016776173"
    "695f736e617073686f745f707265766965773109706174685f6f70656e000116776173695f736e617073686f745f707265766965"
    "77310a66645f72656164646972000216776173695f736e617073686f745f70726576696577310766645f72656164000316776173"
    "695f736e617073686f745f70726576696577310866645f7772697465000303030204040503010001071302066d656d6f72790200"
    "065f737461727400060a72025600418008410441004110410441c00010003a000041044100411441014102428080014200410041"
    "0c10011a410c2802004181084180204200410410021a4104410428020041016a360200410141004101410810041a0b1900100541"
    "0041184101410810031a4108280200044010050b0b0b1f020041000b04000400000041100b10676f6e652e000000400000000100"
    "0000"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


def said(answer):
    names, at = [], 1
    while at < len(answer):  # an entry: a cookie and an inode of 8 bytes, 4 of the name's length, 4 of its type
        end = at + 24 + int.from_bytes(answer[at + 16:at + 20], "little")
        names.append(answer[at + 24:end].decode())
        at = end
    return f"stat of gone: errno {answer[0]}, listed: {' '.join(sorted(names))}"


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)], files={"gone": "1", "kept": "2"})
        process = await sandbox.command("main").spawn(stdin="pipe")
        answers = aiter(process.stdout)
        print("before:", said(await anext(answers)), flush=True)
        await sandbox.fs.remove("gone")
        await process.stdin.write(b"go on")
        print("after:", said(await anext(answers)), flush=True)
        print("another guest:", said((await sandbox.command("main").run()).stdout.bytes), flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
