# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0", "pip==26.0"]
# ///
"""Asks the package index, through pip, whether this release of wasmer-sdk has a wheel for WASIX,
and the API whether a client can be pointed at a sandbox service elsewhere instead."""
import importlib.metadata
import inspect
import json
import subprocess
import sys

from wasmer_sdk import Wasmer

RELEASE = importlib.metadata.version("wasmer-sdk")


def has_wheel(*platforms):
    pip = [sys.executable, "-m", "pip", "index", "versions", "wasmer-sdk", "--json", "--pre"]
    target = ["--only-binary=:all:", "--python-version=3.13", *(f"--platform={p}" for p in platforms)]
    answer = subprocess.run(pip + target, capture_output=True, text=True)
    return answer.returncode == 0 and RELEASE in json.loads(answer.stdout)["versions"]


# To pip, an index that does not answer looks like one without the wheel: so ask for Linux before and after.
linux = ["manylinux_2_35_x86_64", "manylinux_2_34_x86_64"]
before, wasix, after = has_wheel(*linux), has_wheel("wasix_wasm32"), has_wheel(*linux)
if not (before and after):
    sys.exit("the index did not answer, or has no Linux wheel of this release either")
print("manylinux x86_64: wheel found")
print("wasix_wasm32:", "wheel found" if wasix else "no wheel")
print("Wasmer() takes:", ", ".join(inspect.signature(Wasmer).parameters))
