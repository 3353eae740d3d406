# /// script
# requires-python = ">=3.11"
# ///
"""Looks in Wasmer's documentation for a page that sets anybuild's deploy, `wasmer deploy` and the dashboard's Git
link side by side. Needs git, and WASMER_DOCS, a checkout of the documentation."""
import os
import re
import subprocess
from pathlib import Path

WAYS = {
    "wasmer deploy": r"\bwasmer deploy\b",
    "anybuild": r"\banybuild\b",
    "the Git link": r"\bgit settings\b|\bpush.to.deploy\b|\b(connect|link)\w*\b.{0,60}\b(git|github|repository)\b",
}

docs = os.environ["WASMER_DOCS"]
date = subprocess.check_output(["git", "-C", docs, "log", "-1", "--format=%cs"], text=True)
print("the documentation is of", date.strip())
files = [path for path in Path(docs).rglob("*") if path.suffix in (".md", ".mdx")]
pages = [path.read_text(encoding="utf-8", errors="replace") for path in files if "node_modules" not in path.parts]
found = {way: {n for n, page in enumerate(pages) if re.search(words, page, re.I)} for way, words in WAYS.items()}
for way, where in found.items():
    print(f"pages that name {way}:", "some" if where else "none")
print("pages that name all three:", "some" if set.intersection(*found.values()) else "none")
