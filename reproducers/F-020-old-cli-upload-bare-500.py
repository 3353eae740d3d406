# /// script
# requires-python = ">=3.11"
# ///
"""Uploads a tiny package with a command line of 6.1.0, and looks at what is said if that fails.
Needs WASMER_6_BIN, the path of that binary, WASMER_TOKEN and WASMER_REGISTRY. What it uploads has no name."""
import os
import re
import subprocess
import tempfile
from pathlib import Path


def wasmer(*arguments):
    command = [os.environ["WASMER_6_BIN"], *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


print("the command line:", wasmer("--version")[1].strip(), flush=True)
user = re.search(r'user "([^"]+)"', wasmer("whoami")[1])
print("the registry knows the token:", "yes" if user else "no", flush=True)
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "wasmer.toml").write_text('[fs]\n"/data" = "data"\n')
    Path(folder, "data").mkdir()
    Path(folder, "data", "hello.txt").write_text("hello\n")
    status, said = wasmer("package", "push", "--non-interactive", "--namespace", user[1] if user else "", folder)
advice = re.search(r"(?i)\b(upgrade|update|newer|too old|unsupported|no longer)\b", said)
server_error = re.search(r"\b500\b", said)
print("the upload", "went through" if status == 0 else "failed" + (", HTTP 500" if server_error else ", no HTTP 500"))
print("words about the version:", "some" if advice else "none")
