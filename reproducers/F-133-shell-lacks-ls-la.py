# /// script
# requires-python = ">=3.11"
# ///
"""Lists a session with `ls` and with `ls -la`.
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
call("POST", session + "/files", {"path": "notes.txt", "content": "hello\n"})
for command in "ls", "ls -la":
    answer = call("POST", session + "/exec", {"command": command})[1]
    listed = "notes.txt" in answer["stdout"]
    print(f"{command}: exit {answer['exit_code']}, notes.txt {'listed' if listed else 'not listed'}", flush=True)
    if answer["stderr"]:
        print(f"{command}: {answer['stderr'].strip()}", flush=True)
call("DELETE", session)
