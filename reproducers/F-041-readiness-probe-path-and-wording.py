# /// script
# requires-python = ">=3.11"
# ///
"""Deploys an app that has no page at `/`, and reads what `wasmer deploy` says of its readiness.
Needs `wasmer` 7 or later, WASMER_TOKEN, and EDGE_APP_FOLDER, the folder of an app that answers /healthz with 200 and
`/` with 404, and whose app.yaml names its owner. It is deployed once more by this."""
import os
import re
import subprocess

deploy = ["wasmer", "deploy", "--non-interactive", "--dir", os.environ["EDGE_APP_FOLDER"]]
done = subprocess.run(deploy, capture_output=True, text=True, timeout=550, stdin=subprocess.DEVNULL)
said = (done.stdout + done.stderr).splitlines()
deployed = any(re.search(r"(?i)successfully deployed|deployed successfully", line) for line in said)
failing = next((line for line in said if re.search(r"(?i)\bfail.*\b404\b", line)), None)
print("the app was deployed:", "yes" if deployed else f"no, exit {done.returncode}")
if failing is None:
    print("it is not said that the app fails")
else:
    named = re.search(r"https?://|\bpath\b|[`'\"]/", failing)
    print("it is said that the app fails, and", "which path was asked" if named else "not which path was asked")
