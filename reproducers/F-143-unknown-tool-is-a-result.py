# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Asks a server for a tool and a resource that it does not have."""
import asyncio

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client

server = MCPServer("demo", log_level="CRITICAL")


@server.tool(structured_output=False)
def greet() -> str:
    return "hello"


async def main():
    async with Client(server) as client:
        for what, ask, name in (("tool", client.call_tool, "greet"), ("unknown tool", client.call_tool, "greeet"),
                                ("unknown resource", client.read_resource, "notes://none")):
            try:
                result = (await ask(name)).model_dump(by_alias=True)
                print(f"{what}: a result, isError {result['isError']}, {result['content'][0]['text']}", flush=True)
            except Exception as error:
                print(f"{what}: an error, {error.error.code}, {error}", flush=True)


asyncio.run(main())
