# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Cancels forty calls of a sync tool that takes long, and then calls one that does not."""
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

SERVER = """
import time
try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def slow() -> None:
    time.sleep(60)


@server.tool(structured_output=False)
def quick() -> str:
    return "pong"


server.run()
"""


async def attempt(call, seconds):
    try:
        return (await asyncio.wait_for(call, seconds)).content[0].text
    except TimeoutError:
        return f"no answer within {seconds:.1f} s"


async def main():
    server = StdioServerParameters(command=sys.executable, args=["-c", SERVER])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("before:", await attempt(session.call_tool("quick"), 10), flush=True)
        await asyncio.gather(*(attempt(session.call_tool("slow"), 1) for _ in range(40)))
        print("after 40 cancelled calls:", await attempt(session.call_tool("quick"), 5), flush=True)


asyncio.run(main())
