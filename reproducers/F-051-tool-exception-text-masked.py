# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Two tools fail in the same words, one with ToolError and one with ValueError: what a model is told of each."""
import asyncio

try:
    from mcp import Client
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.server.fastmcp.exceptions import ToolError
    from mcp.shared.memory import create_connected_server_and_client_session as Client

server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def query(error: str) -> str:
    kind = {"ToolError": ToolError, "ValueError": ValueError}[error]
    raise kind("no column 'nmae', did you mean 'name'?")


async def main():
    async with Client(server) as client:
        for error in "ToolError", "ValueError":
            result = await client.call_tool("query", {"error": error})
            failed = result.model_dump(by_alias=True)["isError"]
            print(f"{error}: isError {failed}, {result.content[0].text}", flush=True)


asyncio.run(main())
