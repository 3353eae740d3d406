# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest prints a line every 0.1 s. Closes its sandbox, and for a second guest the client, and looks on."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")
#   (loop
#     (drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 4)))          ;; "tick\n"
#     (drop (call $poll_oneoff (i32.const 32) (i32.const 96) (i32.const 1) (i32.const 4)))     ;; sleep 0.1 s
#     (br 0)))
GUEST = """
0061736d01000000010c0260047f7f7f7f017f60000002480216776173695f736e617073686f745f70726576696577310b706f6c6c5f6f
6e656f6666000016776173695f736e617073686f745f70726576696577310866645f77726974650000030201010503010001071302066d
656d6f72790200065f737461727400020a20011e000340410141084101410410011a412041e0004101410410001a0c000b0b0b48020041
080b0d10000000050000007469636b0a0041200b3000000000000000000000000000000000010000000000000000e1f505000000000000
0000000000000000000000000000"""
MANIFEST = '[[module]]\nname = "guest"\nsource = "guest.wasm"\n[[command]]\nname = "guest"\nmodule = "guest"'


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(bytes.fromhex(GUEST))
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        for name in ["sandbox", "client"]:
            sandbox = await client.sandboxes.create(packages=[Path(folder)])
            process = await sandbox.command("guest").spawn()
            await anext(process.stdout.lines())
            await (sandbox if name == "sandbox" else client).close()
            print(f"{name}.close(): {await ending(process)}", flush=True)
    os._exit(0)  # the guest may still run, and would keep the process alive


async def ending(process):
    lines = 0
    try:
        async with asyncio.timeout(3.0):
            async for _ in process.stdout.lines():
                lines += 1
    except TimeoutError:
        return "the guest still prints, 3.0 s later" if lines > 10 else "the guest fell silent"
    return f"the guest has ended, reason {(await process.wait()).reason.value}"


asyncio.run(main())
