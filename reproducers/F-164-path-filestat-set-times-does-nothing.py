# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest sets a file's times through a descriptor, and then through its path, and looks at the file each time."""
import asyncio
import os
import struct
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")                                         ;; "note" in preopen 4, /workspace
#   (i32.store (i32.const 100) (call $path_open (i32.const 4) ... "note" ... (i32.const 8)))
#   (i32.store (i32.const 104) (call $fd_filestat_set_times (i32.load (i32.const 8))
#     (i64.const 1000_000000000) (i64.const 1000_000000000) (i32.const 5)))          ;; 5: atime and mtime
#   (drop (call $path_filestat_get (i32.const 4) (i32.const 0) "note" (i32.const 200)))
#   (i64.store (i32.const 108) (i64.load (i32.const 248)))                           ;; mtime
#   (i32.store (i32.const 116) (call $path_filestat_set_times (i32.const 4) (i32.const 0) "note"
#     (i64.const 2000_000000000) (i64.const 2000_000000000) (i32.const 5)))
#   (drop (call $path_filestat_get ...)) (i64.store (i32.const 120) (i64.load (i32.const 248)))
#   (drop (call $fd_write ...)))                                                     ;; the 28 bytes from 100 on
GUEST = bytes.fromhex(
    "0061736d0100000001350660057f7f7f7f7f017f60077f7f7f7f7e7e7f017f60047f7e7e7f017f60097f7f7f7f7f7e7e7f7f017f"
    "60047f7f7f7f017f60000002d1010516776173695f736e617073686f745f707265766965773111706174685f66696c6573746174"
    "5f676574000016776173695f736e617073686f745f707265766965773117706174685f66696c65737461745f7365745f74696d65"
    "73000116776173695f736e617073686f745f70726576696577311566645f66696c65737461745f7365745f74696d657300021677"
    "6173695f736e617073686f745f707265766965773109706174685f6f70656e000316776173695f736e617073686f745f70726576"
    "696577310866645f77726974650004030201050503010001071302066d656d6f72790200065f737461727400050a9e01019b0100"
    "41e400410441004110410441004286808804420041004108100336020041e80041082802004280a094a58d1d4280a094a58d1d41"
    "051002360200410441004110410441c80110001a41ec0041f80129030037030041f40041044100411041044280c0a8ca9a3a4280"
    "c0a8ca9a3a41051001360200410441004110410441c80110001a41f80041f801290300370300410141004101410c10041a0b0b17"
    "020041000b08640000001c0000000041100b046e6f7465"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)], files={"note": "text"})
        answer = (await sandbox.command("main").run()).stdout.bytes
        opened, errno, mtime, errno2, mtime2 = struct.unpack("<IIQIQ", answer)
        print("path_open: errno", opened, flush=True)
        print(f"fd_filestat_set_times to 1000: errno {errno}, mtime is then {mtime / 1e9:.0f}", flush=True)
        print(f"path_filestat_set_times to 2000: errno {errno2}, mtime is then {mtime2 / 1e9:.0f}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
