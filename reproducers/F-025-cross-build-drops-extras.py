# /// script
# requires-python = ">=3.11"
# ///
"""Cross-builds a project that depends on `requests[socks]`, and looks whether PySocks, which the extra asks for, came
along. All packages in it are pure Python. Needs `anybuild`, the `uv` that it starts, and WASIX_INDEX_URL, the address
of an index of Python wheels for WASIX."""
import os
import subprocess
import tempfile
from pathlib import Path

environment = {**os.environ, "ANYBUILD_PYTHON_EXTRA_INDEX_URL": os.environ["WASIX_INDEX_URL"]}
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "main.py").write_text("import requests\nprint('hello')\n")
    Path(folder, "requirements.txt").write_text("requests[socks]\n")
    build = ["anybuild", "auto", folder, "--runner=wasmer", "--skip-prepare"]
    done = subprocess.run(build, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=500)
    print("anybuild ended with exit", done.returncode, flush=True)
    # The native environment lies beside the one for WASIX, and does get the extra.
    installed = [path for path in Path(folder, ".anybuild").rglob("site-packages/*") if "local_venv" not in path.parts]
    names = {path.name for path in installed}
print("requests was installed for WASIX:", "yes" if "requests" in names else "no")
print("PySocks was installed for WASIX:", "yes" if "socks.py" in names else "no")
