# /// script
# requires-python = ">=3.11"
# dependencies = ["pip==26.0"]
# ///
"""Imports psycopg with its native part in CPython for WASIX, and has it fail to connect. Needs `wasmer` 7 or later,
WASMER_REGISTRY, from which Python comes, and WASIX_INDEX_URL, the address of an index of Python wheels for WASIX."""
import os
import re
import subprocess
import sys
import tempfile

GUEST = """
print("Python runs", flush=True)
import psycopg
print("psycopg is imported, its implementation is", psycopg.pq.__impl__, flush=True)
try:
    psycopg.connect("host=127.0.0.1 port=1 connect_timeout=3")
except psycopg.OperationalError:
    print("a connection to nobody raises OperationalError", flush=True)
"""
with tempfile.TemporaryDirectory() as folder:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "psycopg[binary]"]
    wasix = ["--platform=wasix_wasm32", "--python-version=3.13", "--only-binary=:all:"]
    index = ["--extra-index-url", os.environ["WASIX_INDEX_URL"]]
    if subprocess.run([*pip, *wasix, *index], capture_output=True).returncode:
        sys.exit("pip found no psycopg with its native part for WASIX")
    print("wheels for WASIX are installed", flush=True)
    run = ["wasmer", "run", "python/python", "--net", "--volume", f"{folder}:/site", "--env", "PYTHONPATH=/site"]
    done = subprocess.run([*run, "--", "-c", GUEST], capture_output=True, text=True, timeout=500)
print(done.stdout.strip())
trap = re.search(r"(?i)\b(unreachable|trap(ped)?|out of bounds|RuntimeError)\b", done.stderr)
print("the guest", "ended with exit 0" if done.returncode == 0 else "trapped" if trap else "failed without a trap")
