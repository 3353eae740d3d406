# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Calls a tool of a Streamable HTTP server with an argument that is small, and with one above the server's limit."""
import asyncio
import socket
import threading
import time

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

try:
    from mcp.server import MCPServer

    def make(**where):
        server = MCPServer("demo", log_level="CRITICAL")
        return server, lambda: server.run("streamable-http", **where)
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP

    def make(**where):
        server = FastMCP("demo", log_level="CRITICAL", **where)
        return server, lambda: server.run("streamable-http")

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
server, run = make(host="127.0.0.1", port=port)


@server.tool(structured_output=False)
def store(text: str) -> str:
    return f"stored {len(text) // 1024} KiB"


async def main():
    client = streamable_http_client(f"http://127.0.0.1:{port}/mcp")
    async with client as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        for kilobytes in 100, 5000:
            print(f"{kilobytes} KiB: ", end="")
            result = await asyncio.wait_for(session.call_tool("store", {"text": "x" * kilobytes * 1024}), 10)
            print(result.content[0].text, flush=True)


threading.Thread(target=run, daemon=True).start()
while socket.socket().connect_ex(("127.0.0.1", port)):
    time.sleep(0.05)
try:
    asyncio.run(main())
except Exception as error:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    print(f"{type(error).__name__}, {str(error).partition(' for url')[0]}", flush=True)
