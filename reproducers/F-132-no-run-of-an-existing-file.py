# /// script
# requires-python = ">=3.11"
# ///
"""Writes a script through the files API and tries to run it without sending it again.
Needs AGENT_URL, the address of a server of wasmrun's agent API."""
import json
import os
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
script = "console.log('hello from a file')\n"
call("POST", session + "/files", {"path": "hello.js", "content": script})
print("in the session:", call("GET", session + "/files?path=hello.js")[1].get("content", "").strip(), flush=True)
body = {"entry": "hello.js", "files": {"hello.js": script}, "language": "javascript", "timeout": 120}
print("sent along, it says:", call("POST", session + "/exec", body)[1].get("stdout", "").strip(), flush=True)
ways = {
    "entry": {"entry": "hello.js", "language": "javascript"},
    "entry with empty files": {"entry": "hello.js", "files": {}, "language": "javascript"},
    "command": {"command": "node hello.js"},
}
ran = []
for way, body in ways.items():
    status, answer = call("POST", session + "/exec", {**body, "timeout": 120})
    if answer.get("stdout", "").strip() == "hello from a file":
        ran.append(way)
    said = answer.get("error") or answer.get("stderr") or answer.get("stdout")
    print(f"{way}: HTTP {status}, {said.strip()}", flush=True)
print("ways that ran it:", ", ".join(ran) or "none")
call("DELETE", session)
