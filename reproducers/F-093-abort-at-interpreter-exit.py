# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Runs guests, one after another in eight tasks, on an event loop in a daemon thread, and lets the program come to
its end: in a child process, and again in up to four more if that one did not crash."""
import asyncio
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

from wasmer_sdk import Wasmer

GUEST = bytes.fromhex(  # (func (export "_start"))
    "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def start():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        await sandbox.command("main").run()
        return [asyncio.ensure_future(serve(sandbox)) for _ in range(8)]


async def serve(sandbox):
    while True:
        await sandbox.command("main").run()


exits = []
while len(exits) < 5 and not any(exits):
    if os.fork() == 0:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        tasks = asyncio.run_coroutine_threadsafe(start(), loop).result()
        time.sleep(0.3)
        if not exits:
            print("a guest ran to its end, and others run while the program ends", flush=True)
        break  # the child has nothing more to do, and ends as any program does
    exits.append(os.waitstatus_to_exitcode(os.wait()[1]))
else:
    crashed = -exits[-1] in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL)
    print("the interpreter's exit crashed" if crashed else f"{len(exits)} exits, the last with code {exits[-1]}")
