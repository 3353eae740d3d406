# /// script
# requires-python = ">=3.11"
# ///
"""Asks anybuild for help, and gives it a word that is no command. Needs `anybuild`."""
import re
import subprocess
import tempfile


def anybuild(*arguments):
    with tempfile.TemporaryDirectory() as empty:
        command = ["anybuild", *arguments]
        done = subprocess.run(command, cwd=empty, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout + done.stderr


print("anybuild --version says a version:", "yes" if re.search(r"\d+\.\d+", anybuild("--version")[1]) else "no")
text = anybuild("--help")[1]
print("anybuild --help says how it is used:", "yes" if re.search(r"(?i)\busage\b", text) else "no")
listed = [name for name in ("generate", "plan", "build", "run", "deploy") if re.search(rf"(?m)^\s+{name}\b", text)]
print("anybuild --help lists:", ", ".join(listed) or "no command")
status, text = anybuild("biuld")
reasons = {"a command": r"(?i)\b(sub)?command\b", "a path": r"(?i)\bpath\b"}
meant = next((what for what, words in reasons.items() if re.search(words, text)), "neither")
print(f"anybuild biuld: {'accepted' if status == 0 else 'refused'}, spoken of as {meant}")
