# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Serves an app of its own, and the same app mounted in another: the answer to `initialize` of each."""
import json
import socket
import threading
import time
from http.client import HTTPConnection

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer

hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

for what in "by itself", "mounted":
    app = MCPServer("demo", log_level="CRITICAL").streamable_http_app()
    if what == "mounted":
        app = Starlette(routes=[Mount("/", app=app)])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/mcp", body, headers)
    reply = connection.getresponse()
    text = reply.read().decode()
    print(f"{what}: started; {reply.status},", "initialized" if '"serverInfo"' in text else text, flush=True)
