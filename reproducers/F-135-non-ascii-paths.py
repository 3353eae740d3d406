# /// script
# requires-python = ">=3.11"
# ///
"""Writes a file whose name has letters beyond ASCII, reads it back and lists it, and one with a plain name.
Needs AGENT_URL, the address of a server of wasmrun's agent API."""
import json
import os
import urllib.error
import urllib.parse
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
for kind, name in {"plain": "street.txt", "non-ASCII": "stra\u00dfe-\u9053.txt"}.items():
    written = call("POST", session + "/files", {"path": name, "content": name})[0]
    status, answer = call("GET", session + "/files?" + urllib.parse.urlencode({"path": name}))
    listing = call("GET", session + "/files?path=/&list=true")[1].get("entries", [])
    print(f"{kind} name, written: {'yes' if written == 200 else f'no, HTTP {written}'}", flush=True)
    print(f"{kind} name, read back: {'yes' if answer.get('content') == name else f'no, HTTP {status}'}", flush=True)
    print(f"{kind} name, listed: {'yes' if name in [entry['name'] for entry in listing] else 'no'}", flush=True)
call("DELETE", session)
