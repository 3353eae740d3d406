# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A guest binds a socket in a sandbox of each network policy; then everything that a sandbox, a command or a
process can do is searched for a way to choose the policy later."""
import asyncio
import inspect
import os
import tempfile
from pathlib import Path

from wasmer_sdk import Command, Process, Sandbox, Wasmer

# (func (export "_start")                                                ;; exit with the errno of the bind
#   (drop (call $sock_open (i32.const 1) (i32.const 2) (i32.const 17) (i32.const 0)))   ;; IPv4, datagram, UDP
#   (call $proc_exit (call $sock_bind (i32.load (i32.const 0)) (i32.const 8))))         ;; 127.0.0.1, any port
GUEST = """
0061736d0100000001160460047f7f7f7f017f60027f7f017f60017f006000000252030a77617369785f3332763109736f636b5f6f7065
6e00000a77617369785f3332763109736f636b5f62696e64000116776173695f736e617073686f745f70726576696577310970726f635f
657869740002030201030503010001071302066d656d6f72790200065f737461727400030a1a0118004101410241114100
10001a41002802004108100110020b0b0e010041080b08010000007f000001"""
MANIFEST = """
package = {name = "test/guest", version = "1.0.0"}
module = [{name = "guest", source = "guest.wasm", abi = "wasi"}]
command = [{name = "guest", module = "guest"}]"""


def about_network(owner, name):
    member = getattr(owner, name)
    return "network" in name or (callable(member) and "network" in inspect.signature(member).parameters)


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "guest.wasm").write_bytes(bytes.fromhex(GUEST))
        Path(folder, "wasmer.toml").write_text(MANIFEST)
        client = Wasmer(cache_root=Path(folder, "cache"))
        for policy in ["disabled", "host"]:
            sandbox = await client.sandboxes.create(packages=[Path(folder)], network=policy)
            output = await sandbox.command("guest").run(check=False)
            print(f"created with network={policy}: a bind gave errno {output.exit_code}", flush=True)
    public = [(owner, name) for owner in (Sandbox, Command, Process) for name in dir(owner) if name[0] != "_"]
    found = [f"{owner.__name__}.{name}" for owner, name in public if about_network(owner, name)]
    print("can choose the policy afterwards:", ", ".join(found) or "nothing", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
