# /// script
# requires-python = ">=3.11"
# ///
"""Looks in Wasmer's documentation for how a Git repository is linked to an app, and unlinked again.
Needs git, and WASMER_DOCS, a checkout of the documentation."""
import os
import re
import subprocess
from pathlib import Path

REPOSITORY = r"\b(git|github|repository)\b"
ACTS = {
    "linking a repository": rf"\bgit settings\b|\b(connect|link)(ing)?\b.{{0,60}}{REPOSITORY}.{{0,60}}\bapp\b",
    "unlinking a repository": rf"\b(disconnect|unlink|remov)(ing)?\b.{{0,60}}{REPOSITORY}",
}

docs = os.environ["WASMER_DOCS"]
date = subprocess.check_output(["git", "-C", docs, "log", "-1", "--format=%cs"], text=True)
print("the documentation is of", date.strip())
files = [path for path in Path(docs).rglob("*") if path.suffix in (".md", ".mdx")]
pages = [path.read_text(encoding="utf-8", errors="replace") for path in files if "node_modules" not in path.parts]
print("pages about deployment:", "some" if any("wasmer deploy" in page for page in pages) else "none")
for act, words in ACTS.items():
    print(f"pages about {act}:", "some" if any(re.search(words, page, re.I) for page in pages) else "none")
