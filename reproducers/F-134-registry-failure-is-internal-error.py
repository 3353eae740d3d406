# /// script
# requires-python = ">=3.11"
# ///
"""Runs a script with an npm dependency on a server that cannot reach the npm registry.
Needs AGENT_URL, the address of a server of wasmrun's agent API, on such a machine."""
import json
import os
import re
import urllib.error
import urllib.request

BASE = os.environ["AGENT_URL"].rstrip("/") + "/api/v1"


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=180) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


session = "/sessions/" + call("POST", "/sessions")[1]["session_id"]
script = {"source": "console.log(typeof require('lodash'))", "language": "javascript"}
body = {**script, "dependencies": {"lodash": "^4.17.21"}, "timeout": 120}
status, answer = call("POST", session + "/exec", body)
error = answer.get("error", "")
fetched = not error or "lodash" not in error
print("lodash was", "fetched" if fetched else "not fetched, and the error names it")
print("exit:", answer.get("exit_code", f"none, HTTP {status}"))
print("the error speaks of the registry:", "yes" if re.search(r"(?i)\bregistry\b", error) else "no")
print("the error calls itself internal:", "yes" if re.match(r"(?i)internal\b", error) else "no")
call("DELETE", session)
