# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Calls a tool over Streamable HTTP with ids that are right, with none, and with ones that no request may have."""
import json
import socket
import threading
import time
from http.client import HTTPConnection

try:
    from mcp.server import MCPServer

    def make(**options):
        server = MCPServer("demo", log_level="CRITICAL")
        return server, lambda: server.run("streamable-http", **options)
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP

    def make(**options):
        server = FastMCP("demo", log_level="CRITICAL", **options)
        return server, lambda: server.run("streamable-http")

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
server, run = make(host="127.0.0.1", port=port, stateless_http=True, json_response=True)
calls = []


@server.tool()
def ring() -> None:
    calls.append("ring")


threading.Thread(target=run, daemon=True).start()
while socket.socket().connect_ex(("127.0.0.1", port)):
    time.sleep(0.05)

headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
           "MCP-Protocol-Version": "2025-11-25"}
for what in {"id": 1}, {"id": "one"}, {}, {"id": None}, {"id": 1.5}, {"id": True}, {"id": {}}:
    call = {"jsonrpc": "2.0", **what, "method": "tools/call", "params": {"name": "ring", "arguments": {}}}
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/mcp", json.dumps(call), headers)
    reply = connection.getresponse()
    answer = json.loads(reply.read() or b"{}")
    told = f"error {answer['error']['code']}" if "error" in answer else "a result" if answer else "no answer"
    print(f"{json.dumps(what)}: {reply.status}, {told}, calls so far: {len(calls)}", flush=True)
