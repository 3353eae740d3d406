# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Installs wasmer/edgejs into a sandbox, counts the commands that it lists, and runs three of them.
Needs the Wasmer registry, which WASMER_REGISTRY says can be reached."""
import asyncio
import os

from wasmer_sdk import ProcessExitError, Wasmer, WasmerError

NAMES = "node", "npm", "edge"


async def main():
    sandbox = await Wasmer().sandboxes.create()
    package = await sandbox.install_package("wasmer/edgejs@0.2.0")
    print(f"wasmer/edgejs lists {len(package.commands)} commands", flush=True)
    print("among them:", ", ".join(name for name in NAMES if name in package.commands) or "none of the three")
    for name in NAMES:
        try:
            output = await sandbox.command(name, ["--version"]).run(timeout=60, check=False)
            print(f"{name} --version: {output.reason.value}, exit {output.exit_code}", flush=True)
        except (WasmerError, ProcessExitError) as error:
            print(f"{name} --version: not started, {error.code}", flush=True)


asyncio.run(main())
os._exit(0)  # a normal exit of the interpreter aborts now and then, whatever the guest did
