# /// script
# requires-python = ">=3.11"
# ///
"""Runs a TypeScript project, rewrites one of its files through the files API, and runs the entry again.
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


def run(files):
    body = {"files": files, "entry": "main.ts", "language": "typescript", "timeout": 120}
    answer = call("POST", session + "/exec", body)[1]
    return answer["stdout"].strip() or f"nothing, {answer.get('error') or answer['stderr'].strip()[:80]}"


main = "import { word } from './lib';\nconsole.log(word);\n"
print("first run:", run({"main.ts": main, "lib.ts": "export const word: string = 'old';\n"}), flush=True)
status, answer = call("POST", session + "/files", {"path": "lib.ts", "content": "export const word: string = 'new';\n"})
print("lib.ts written:", "yes" if status == 200 else f"no, HTTP {status}", flush=True)
print("second run:", run({"main.ts": main}), flush=True)
call("DELETE", session)
