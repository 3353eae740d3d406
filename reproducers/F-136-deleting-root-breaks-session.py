# /// script
# requires-python = ">=3.11"
# ///
"""Deletes `/` through the files API, and uses the session after that.
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
LIST = session + "/files?path=/&list=true"
call("POST", session + "/files", {"path": "before.txt", "content": "hello\n"})
print("before: listed", ", ".join(entry["name"] for entry in call("GET", LIST)[1]["entries"]), flush=True)
print("deleting /: HTTP", call("DELETE", session + "/files?path=/")[0], flush=True)
status, answer = call("GET", LIST)
print("after: the session's root", "is there" if status == 200 else f"cannot be listed, HTTP {status}", flush=True)
status, answer = call("POST", session + "/exec", {"command": "ls"})
print("after: a shell command", "works" if answer.get("exit_code") == 0 else "fails", flush=True)
call("DELETE", session)
