# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A package brings one file at /data and one at /workspace; its guest opens each, relative to its root."""
import asyncio
import os
import tempfile

from wasmer_sdk import PackageCommandDefinition, PackageDefinition, Wasmer, WasmerError

# (func (export "_start")                                               ;; at 64: a path, read from stdin
#   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 12)))
#   (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 64) (i32.load (i32.const 12)) ... (i32.const 16))
#     (then (call $proc_exit (; the errno ;))))
#   (drop (call $fd_read (i32.load (i32.const 16)) (i32.const 0) (i32.const 1) (i32.const 4)))
#   (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12))))
GUEST = bytes.fromhex(
    "0061736d01000000011d0460047f7f7f7f017f60097f7f7f7f7f7e7e7f7f017f60017f00600000028a010416776173695f736e61"
    "7073686f745f70726576696577310866645f7772697465000016776173695f736e617073686f745f70726576696577310766645f"
    "72656164000016776173695f736e617073686f745f707265766965773109706174685f6f70656e000116776173695f736e617073"
    "686f745f70726576696577310970726f635f657869740002030201030503010002071302066d656d6f72790200065f7374617274"
    "00040a4d014b01017f410041004101410c10011a4103410041c000410c2802004100420242004100411010022100200004402000"
    "10030b411028020041004101410410011a410141004101410c10001a0b0b0e010041000b0840000000001000000014046e616d65"
    "010d0400017701017202016f030178"
)


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Wasmer(cache_root=folder)
        for path in "/data/file", "/workspace/file":
            try:
                package = await client.packages.create(PackageDefinition(
                    {"main": GUEST}, {"main": PackageCommandDefinition("main")}, files={path: "content"},
                ))
                sandbox = await client.sandboxes.create(packages=[package])
                output = await sandbox.command(package).run(stdin=path.removeprefix("/"), check=False)
                outcome = f"created; the guest read {output.stdout.text() or 'nothing'}, errno {output.exit_code}"
            except WasmerError as error:
                outcome = f"refused, {error.code}"
            print(f"{path}: {outcome}", flush=True)
    os._exit(0)  # skips the interpreter's shutdown, in which the SDK's threads sometimes abort the process


asyncio.run(main())
