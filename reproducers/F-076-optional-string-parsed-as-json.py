# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""The same texts as an argument of type `str`, and as one of type `str | None`: what the tool is given."""
import asyncio

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client

server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def required(text: str) -> str:
    return f"the tool got {text!r}"


@server.tool()
def optional(text: str | None = None) -> str:
    return f"the tool got {text!r}"


async def main():
    async with Client(server) as client:
        for tool in "required", "optional":
            for text in "hello", '{"a": 1}', "null":
                lines = (await client.call_tool(tool, {"text": text})).content[0].text.splitlines()
                print(f"{tool}, {text!r}:", lines[2].split(" [")[0].strip() if lines[2:] else lines[0], flush=True)


asyncio.run(main())
