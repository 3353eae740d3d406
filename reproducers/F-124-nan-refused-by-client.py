# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Tools return numbers, one of them a mean of nothing: what arrives at the client."""
import asyncio

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client

server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def means(columns: list[list[float]]) -> list[float]:
    return [sum(column) / len(column) if column else float("nan") for column in columns]


async def main():
    async with Client(server) as client:
        for columns in [[1, 2]], [[1, 2], []]:
            try:
                result = (await client.call_tool("means", {"columns": columns})).model_dump(by_alias=True)
                texts = [block["text"] for block in result["content"]]
                answer = f"isError {result['isError']}, texts {texts}, structured {result['structuredContent']}"
            except Exception as error:
                answer = f"{type(error).__name__}, {str(error).splitlines()[0]}"
            print(f"means of {columns}: {answer}", flush=True)


asyncio.run(main())
