# /// script
# requires-python = ">=3.11"
# ///
"""Has anybuild build for Wasmer with a command line that is too old for it, and looks whether the build was made
before that was said. Needs `anybuild`, and WASMER_6_BIN, the path of a wasmer 6.1.0."""
import os
import subprocess
import tempfile
from pathlib import Path

wasmer = os.environ["WASMER_6_BIN"]
version = subprocess.run([wasmer, "--version"], capture_output=True, text=True).stdout.strip()
print("the command line that anybuild is given:", version, flush=True)
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "main.py").write_text("print('hello')\n")
    build = ["anybuild", "auto", folder, "--runner=wasmer", "--wasmer-bin", wasmer]
    done = subprocess.run(build, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)
    staged = [path for path in Path(folder, ".anybuild").rglob("main.py")]
    said = done.stdout + done.stderr
    print("anybuild names --volume:", "yes" if "--volume" in said else "no")
    print("the app was built:", "yes" if staged else "no")
    print("anybuild", "went through" if done.returncode == 0 else f"gave up, exit {done.returncode}")
