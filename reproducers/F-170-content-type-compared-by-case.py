# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Sends one request over Streamable HTTP with its media type in small letters, in others, and as plain text."""
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

for media_type in "application/json", "Application/JSON", "APPLICATION/JSON; charset=utf-8", "text/plain":
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "ping"}', {
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25",
        "Content-Type": media_type})
    reply = connection.getresponse()
    answer = "a result" if b'"result":{}' in reply.read() else "no result"
    print(f"{media_type}: {reply.status} {reply.reason}, {answer}", flush=True)
