# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A server that allows two hosts, one in capitals, is asked by their names as written there, and in other letters."""
import json
import socket
import threading
import time
from http.client import HTTPConnection

from mcp.server.transport_security import TransportSecuritySettings

security = TransportSecuritySettings(
    allowed_hosts=["app.example.com:*", "BUILDBOX:*"], allowed_origins=["https://app.example.com:*"])
try:
    from mcp.server import MCPServer

    def serve(port):
        MCPServer("demo", log_level="CRITICAL").run("streamable-http", port=port, transport_security=security)
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP

    def serve(port):
        FastMCP("demo", log_level="CRITICAL", port=port, transport_security=security).run("streamable-http")

hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "any", "version": "1"}}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
threading.Thread(target=serve, args=[port], daemon=True).start()
while socket.socket().connect_ex(("127.0.0.1", port)):
    time.sleep(0.05)
for host in "app.example.com:443", "App.Example.Com:443", "BUILDBOX:443", "buildbox:443", "evil.example:443":
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/mcp", body, headers | {"Host": host})
    reply = connection.getresponse()
    text = reply.read().decode()
    print(f"Host {host}: {reply.status},", "initialized" if '"serverInfo"' in text else text, flush=True)
