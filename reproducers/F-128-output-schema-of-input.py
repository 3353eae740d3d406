# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Tools return pydantic models, one with a field that has another name in its output: what arrives at the client."""
import asyncio

from pydantic import BaseModel, Field

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client


class Plain(BaseModel):
    user_id: int


class Camel(BaseModel):
    user_id: int = Field(serialization_alias="userId")


server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def plain() -> Plain:
    return Plain(user_id=7)


@server.tool()
def camel() -> Camel:
    return Camel(user_id=7)


async def main():
    async with Client(server) as client:
        for name in "plain", "camel":
            try:
                result = (await client.call_tool(name, {})).model_dump(by_alias=True)
                first = result["content"][0]["text"].splitlines()[0]
                answer = f"error, {first}" if result["isError"] else f"structured {result['structuredContent']}"
            except Exception as error:
                answer = f"{type(error).__name__}, {str(error).splitlines()[0]}"
            print(f"{name}: {answer}", flush=True)


asyncio.run(main())
