# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Calls a tool and hangs up while it works: of a stateless server that answers by SSE, and of one by JSON."""
import asyncio
import contextlib
import json
import socket
import threading
import time
from http.client import HTTPConnection

try:
    from mcp.server import MCPServer as Server
    from mcp.server.mcpserver import Context
    wire, at_run = "2026-07-28", True
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import Context, FastMCP as Server
    wire, at_run = "2025-11-25", False


async def work(ctx: Context) -> None:
    try:
        for step in range(4):
            await ctx.report_progress(step, 4)
            await asyncio.sleep(0.5)
        outcome.append("ran to its end, for nobody")
    except asyncio.CancelledError:
        outcome.append("was cancelled")
        raise


meta = {"progressToken": 7, "io.modelcontextprotocol/protocolVersion": wire,
        "io.modelcontextprotocol/clientCapabilities": {}}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "work", "_meta": meta}})
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
           "MCP-Protocol-Version": wire, "Mcp-Method": "tools/call", "Mcp-Name": "work"}
for json_response in False, True:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    where = {"host": "127.0.0.1", "port": port, "stateless_http": True, "json_response": json_response}
    server = Server("demo", log_level="CRITICAL", **({} if at_run else where))
    server.add_tool(work)
    run = threading.Thread(target=server.run, args=("streamable-http",), kwargs=where if at_run else {}, daemon=True)
    run.start()
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.05)
    outcome, received = [], b""
    connection = HTTPConnection("127.0.0.1", port, timeout=1)
    connection.request("POST", "/mcp", body, headers)
    with contextlib.suppress(TimeoutError):
        reply = connection.getresponse()
        while b"notifications/progress" not in received and (part := reply.read1()):
            received += part
    connection.close()
    came = "progress" if b"notifications/progress" in received else "nothing"
    for _ in range(100):
        time.sleep(0 if outcome else 0.05)
    print(f"json_response={json_response}: {came} arrived; then the tool", *outcome[:1], flush=True)
