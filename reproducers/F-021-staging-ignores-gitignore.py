# /// script
# requires-python = ">=3.11"
# ///
"""Builds a project with a file that .gitignore names, and looks whether that file is in what was built.
Needs `anybuild` and `git`."""
import subprocess
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    project = Path(folder, "project")
    project.mkdir()
    (project / "main.py").write_text("print('hello')\n")
    (project / ".gitignore").write_text("private.txt\n.anybuild\n")
    (project / "private.txt").write_text("not for others\n")
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    subprocess.run(["git", "add", "."], cwd=project, check=True)
    tracked = subprocess.run(["git", "ls-files"], cwd=project, capture_output=True, text=True, check=True).stdout
    print("git tracks:", ", ".join(tracked.split()), flush=True)
    build = ["anybuild", "auto", ".", "--builder=local", "--runner=local", "--skip-prepare"]
    done = subprocess.run(build, cwd=project, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=250)
    built = {path.name for path in (project / ".anybuild").rglob("*")}
    print("anybuild ended with exit", done.returncode)
    print("main.py was built in:", "yes" if "main.py" in built else "no")
    print("private.txt was built in:", "yes" if "private.txt" in built else "no")
