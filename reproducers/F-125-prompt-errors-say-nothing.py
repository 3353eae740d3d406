# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A client asks for a prompt without its argument, with one of another type, and for a prompt that does not exist."""
import asyncio

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client

server = MCPServer("demo", log_level="CRITICAL")


@server.prompt()
def summary(lines: int) -> str:
    return f"Sum it up in {lines} lines."


async def main():
    async with Client(server) as client:
        for name, arguments in (("summary", {"lines": "3"}), ("summary", {}), ("summary", {"lines": "three"}),
                                ("sumary", {})):
            try:
                answer = (await client.get_prompt(name, arguments)).messages[0].content.text
            except Exception as error:
                answer = f"error {error.error.code}, {str(error).splitlines()[0]}"
            print(f"{name} {arguments}: {answer}", flush=True)


asyncio.run(main())
