# /// script
# requires-python = ">=3.11"
# ///
"""Looks in the help of the command line for a command that runs an app as Edge would, on one's own machine.
Needs `wasmer` 7 or later."""
import re
import subprocess

lines = []
for command in ["wasmer", "--help"], ["wasmer", "app", "--help"]:
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    lines += re.findall(r"(?m)^  +([a-z][a-z-]+) {2,}(\S.*)$", said)
print("commands for apps:", ", ".join(name for name, _ in lines if name in ("deploy", "app", "logs")))
wanted = r"(?i)\b(emulat|simulat)\w+|\b(app|edge)\b.*\b(locally|on this machine)\b|\blocal\b.*\b(app|edge)\b"
found = [name for name, text in lines if name in ("dev", "emulate") or re.search(wanted, text)]
print("commands that run an app as Edge would:", ", ".join(found) or "none")
