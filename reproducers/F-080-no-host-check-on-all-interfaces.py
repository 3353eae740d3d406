# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A page of evil.example that had its name point to this machine calls a server: by the host that it was given."""
import json
import logging
import socket
import threading
import time
from http.client import HTTPConnection

try:
    from mcp.server import MCPServer

    def serve(**where):
        MCPServer("demo", log_level="CRITICAL").run("streamable-http", **where)
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP

    def serve(**where):
        FastMCP("demo", log_level="CRITICAL", **where).run("streamable-http")

hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
headers = {"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": "application/json",
           "Accept": "application/json, text/event-stream"}
warnings = []
listener = logging.Handler(logging.WARNING)
listener.emit = lambda record: warnings.append(record.getMessage())
logging.getLogger().addHandler(listener)

for host in "127.0.0.1", "0.0.0.0":
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    warnings.clear()
    threading.Thread(target=serve, kwargs={"host": host, "port": port}, daemon=True).start()
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.05)
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/mcp", body, headers)
    reply = connection.getresponse()
    text = reply.read().decode()
    print(f"host {host}: {reply.status},", "initialized" if '"serverInfo"' in text else text, flush=True)
    print(f"host {host}: in the log:", warnings or "no warning", flush=True)
