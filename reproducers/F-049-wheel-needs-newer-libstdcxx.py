# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""Prints which glibc and libstdc++ the installed Linux library needs, and what its wheel is tagged for."""
import importlib.metadata
import re
from pathlib import Path

sdk = importlib.metadata.distribution("wasmer-sdk")
library = Path(sdk.locate_file("wasmer_sdk/libwasmer_sdk_uniffi.so")).read_bytes()
for prefix in ["GLIBC", "GLIBCXX"]:
    # symbol versions stand in the library's string table, each between two zero bytes
    found = re.findall(rb"(?<=\0)%s_(\d+(?:\.\d+)+)(?=\0)" % prefix.encode(), library)
    highest = max((tuple(map(int, version.split(b"."))) for version in found), default=None)
    print(f"highest {prefix} version needed: {'.'.join(map(str, highest)) if highest else 'none'}")
print("wheel tag:", re.search(r"^Tag: (.+)$", sdk.read_text("WHEEL"), re.M)[1])
