# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0", "httpx2==2.16.2"]
# ///
"""Calls a tool of a Streamable HTTP server, both with their defaults, that returns a little and a lot of text."""
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
def read(kilobytes: int) -> str:
    return "x" * kilobytes * 1024


async def main():
    client = streamable_http_client(f"http://127.0.0.1:{port}/mcp")
    async with client as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        for kilobytes in 1000, 2000:
            try:
                result = await asyncio.wait_for(session.call_tool("read", {"kilobytes": kilobytes}), 10)
                answer = f"arrived, {len(result.content[0].text) // 1024} KiB"
            except Exception as error:
                answer = f"{type(error).__name__}, {error}"
            print(f"{kilobytes} KiB: {answer}", flush=True)


threading.Thread(target=run, daemon=True).start()
while socket.socket().connect_ex(("127.0.0.1", port)):
    time.sleep(0.05)
asyncio.run(main())
