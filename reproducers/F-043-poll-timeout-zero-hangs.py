# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""WASI poll_oneoff never returns if its clock subscription has a timeout of 0. CPython asks that on
`import selectors`, so `import asyncio`, `socket` and `subprocess` hang in the guest."""
import asyncio
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Wasmer

# (func (export "_start")    ;; at 96: one clock subscription; at 120 its timeout in ns, read from stdin
#   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 12)))
#   (if (call $poll_oneoff (i32.const 96) (i32.const 32) (i32.const 1) (i32.const 16)) (then (unreachable)))
#   (call $proc_exit (i32.load (i32.const 16))))         ;; the number of events
GUEST = bytes.fromhex(
    "0061736d0100000001100360047f7f7f7f017f60017f00600000026a0316776173695f736e617073686f745f7072657669657731"
    "0766645f72656164000016776173695f736e617073686f745f70726576696577310b706f6c6c5f6f6e656f666600001677617369"
    "5f736e617073686f745f70726576696577310970726f635f657869740001030201020503010001071302066d656d6f7279020006"
    "5f737461727400030a25012300410041004101410c10001a41e00041204101411010010440000b411028020010020b0b0e010041"
    "000b087800000008000000"
)
MANIFEST = '[[module]]\nname = "main"\nsource = "guest.wasm"\n[[command]]\nname = "main"\nmodule = "main"\n'


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "guest.wasm").write_bytes(GUEST)
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        sandbox = await Wasmer().sandboxes.create(packages=[Path(folder)])
        command = sandbox.command("main")
        for ns in 1_000_000, 0:
            try:
                poll = command.run(stdin=ns.to_bytes(8, "little"), check=False)
                output = await asyncio.wait_for(poll, 5)
                print(f"timeout {ns} ns: poll_oneoff returned, events: {output.exit_code}", flush=True)
            except asyncio.TimeoutError:
                print(f"timeout {ns} ns: poll_oneoff still waits after 5.0 s", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
