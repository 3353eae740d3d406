# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A client sends a file name that is not UTF-8, for Python a string with a lone surrogate, to a stdio server."""
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def length(name: str) -> str:
    return f"{len(name)} characters"


async def main():
    parameters = StdioServerParameters(command=sys.executable, args=[__file__, "serve"])
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for when, raw in ("before", b"caf\xc3\xa9"), ("lone surrogate", b"caf\xe9"), ("after", b"caf\xc3\xa9"):
            name = raw.decode("utf-8", "surrogateescape")  # as os.listdir() does
            try:
                result = await asyncio.wait_for(session.call_tool("length", {"name": name}), 3)
                answer = result.content[0].text
            except TimeoutError:
                answer = "no answer within 3 s"
            except (Exception, asyncio.CancelledError) as error:
                answer = f"{type(error).__name__}, {error}".partition(" by <")[0].partition(" via ")[0]
            print(f"{when}: {answer}", flush=True)


if "serve" in sys.argv:
    server.run()
else:
    try:
        asyncio.run(main())
        print("the client is closed")
    except BaseExceptionGroup as group:
        while isinstance(group, BaseExceptionGroup):
            group = group.exceptions[0]
        print(f"closing the client: an ExceptionGroup with {type(group).__name__}")
