# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0", "pip==26.0"]
# ///
"""Takes the release of pydantic-core that a native resolution of `mcp` pins, and asks the package index, through pip,
for a wheel of it for WASIX. pip's own settings say which index that is."""
import importlib.metadata
import json
import subprocess
import sys

PINNED = importlib.metadata.version("pydantic-core")


def has_wheel(*platforms):
    pip = [sys.executable, "-m", "pip", "index", "versions", "pydantic-core", "--json", "--pre"]
    target = ["--only-binary=:all:", "--python-version=3.13", *(f"--platform={p}" for p in platforms)]
    answer = subprocess.run(pip + target, capture_output=True, text=True)
    return answer.returncode == 0 and PINNED in json.loads(answer.stdout)["versions"]


# To pip, an index that does not answer looks like one without the wheel: so ask for Linux before and after.
linux = ["manylinux_2_17_x86_64", "manylinux_2_28_x86_64"]
before, wasix, after = has_wheel(*linux), has_wheel("wasix_wasm32"), has_wheel(*linux)
if not (before and after):
    sys.exit("the index did not answer, or has no Linux wheel of this release either")
print("manylinux x86_64: wheel of the pinned release found")
print("wasix_wasm32:", "wheel of the pinned release found" if wasix else "no wheel of the pinned release")
