# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""After run(timeout=1) has given up on a CPU-bound guest, its thread burns a core on,
also when the sandbox and the client are closed."""
import asyncio
import os
import tempfile
import time
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")
#   (drop (call $fd_write (i32.const 1) (; "looping" ;) (i32.const 0) (i32.const 1) (i32.const 32)))
#   (loop $forever (br $forever)))
GUEST = bytes.fromhex(
    "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f"
    "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a1401120041014100410141201000"
    "1a03400c000b0b0b16010041000b1008000000080000006c6f6f70696e670a"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        command = sandbox.command("main")
        try:
            output = await asyncio.wait_for(command.run(timeout=1, check=False), 6)
        except asyncio.TimeoutError:
            print("run(timeout=1) has not returned after 6.0 s", flush=True)
            return
        stdout = output.stdout.text().strip()
        print(f"run() returned, reason {output.reason.value}, stdout: {stdout}", flush=True)
        await sandbox.close()
        await sandbox.wasmer.close()
        await asyncio.sleep(0.5)  # time to wind down
        before = time.process_time()
        await asyncio.sleep(2)
        used = time.process_time() - before
        print(f"CPU used in 2.0 s after close: {used:.1f} s", flush=True)
        print("the guest is still running" if used > 0.2 else "the guest has stopped", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
