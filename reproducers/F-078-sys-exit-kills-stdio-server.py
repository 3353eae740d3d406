# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A tool of a stdio server parses a command line with argparse, which calls sys.exit() if it does not like it."""
import argparse
import asyncio
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters, stdio_client

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("demo")
parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int)


@server.tool()
def run(options: list[str]) -> str:
    return f"count is {parser.parse_args(options).count}"


async def main():
    with tempfile.TemporaryFile("w+") as log:
        parameters = StdioServerParameters(command=sys.executable, args=[__file__, "serve"])
        async with stdio_client(parameters, log) as streams, ClientSession(*streams) as session:
            await session.initialize()
            for when, count in ("before", "3"), ("sys.exit", "three"), ("after", "3"):
                try:
                    result = await asyncio.wait_for(session.call_tool("run", {"options": ["--count", count]}), 3)
                    answer = result.content[0].text
                except Exception:  # the 3 s are over, or the connection is closed
                    answer = "no answer"
                print(f"{when}: {answer}", flush=True)
        log.seek(0)
        print("in the server's log:", {line.strip(" |\n") for line in log if "SystemExit:" in line} or "no SystemExit")


if "serve" in sys.argv:
    server.run()
else:
    asyncio.run(main())
