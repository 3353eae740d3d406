# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Asks a stateless server for the stream of messages that it has on its own, of which there can be none."""
import json
import socket
import threading
import time
from http.client import HTTPConnection

try:
    from mcp.server import MCPServer

    def serve(**where):
        MCPServer("demo", log_level="CRITICAL").run("streamable-http", stateless_http=True, **where)
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP

    def serve(**where):
        FastMCP("demo", log_level="CRITICAL", stateless_http=True, **where).run("streamable-http")

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
threading.Thread(target=serve, kwargs={"host": "127.0.0.1", "port": port}, daemon=True).start()
while socket.socket().connect_ex(("127.0.0.1", port)):
    time.sleep(0.05)


def ask(method, accept, body=None):
    connection = HTTPConnection("127.0.0.1", port, timeout=3)
    connection.request(method, "/mcp", body, {"Accept": accept, "Content-Type": "application/json",
                                              "MCP-Protocol-Version": "2025-11-25"})
    return connection.getresponse()


hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}
request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
reply = ask("POST", "application/json, text/event-stream", request)
print(f"POST initialize: {reply.status}, session {reply.getheader('Mcp-Session-Id')}", flush=True)
reply = ask("GET", "text/event-stream")
print(f"GET: {reply.status} {reply.reason}", flush=True)
start = time.monotonic()
try:
    read = reply.read()
    print(f"GET: ended, after {len(read)} bytes", flush=True)
except TimeoutError:
    print(f"GET: still open, without a byte, after {time.monotonic() - start:.1f} s", flush=True)
