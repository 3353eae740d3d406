# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A tool of a stdio server returns a file name that is not UTF-8: for Python a string with a lone surrogate."""
import asyncio
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters, stdio_client

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("demo")


@server.tool()
def name(raw: str) -> str:
    return bytes.fromhex(raw).decode("utf-8", "surrogateescape")  # as os.listdir() does


async def main():
    with tempfile.TemporaryFile("w+") as log:
        parameters = StdioServerParameters(command=sys.executable, args=[__file__, "serve"])
        async with stdio_client(parameters, log) as streams, ClientSession(*streams) as session:
            await session.initialize()
            for when, raw in ("before", b"caf\xc3\xa9"), ("lone surrogate", b"caf\xe9"), ("after", b"caf\xc3\xa9"):
                try:
                    result = await asyncio.wait_for(session.call_tool("name", {"raw": raw.hex()}), 3)
                    answer = ascii(result.content[0].text)
                except TimeoutError:
                    answer = "no reply within 3 s"
                except Exception as error:
                    answer = f"{type(error).__name__}, {error}"
                print(f"{when}: {answer}", flush=True)
        log.seek(0)
        print("in the server's log:", {line.strip(" |\n") for line in log if "surrogates" in line} or "no surrogates")


if "serve" in sys.argv:
    server.run()
else:
    asyncio.run(main())
