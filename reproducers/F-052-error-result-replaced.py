# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A tool with an output schema reports a failure as a CallToolResult with isError: what arrives at the client."""
import asyncio
from typing import Annotated

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client


class Weather(BaseModel):
    degrees: int


server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def weather(city: str) -> Annotated[CallToolResult, Weather]:
    if city == "Bern":
        return CallToolResult(content=[TextContent(type="text", text="sunny")], structuredContent={"degrees": 21})
    return CallToolResult(content=[TextContent(type="text", text=f"no station in {city}")], isError=True)


async def main():
    async with Client(server) as client:
        for city in "Bern", "Atlantis":
            result = await client.call_tool("weather", {"city": city})
            failed, text = result.model_dump(by_alias=True)["isError"], result.content[0].text
            print(f"{city}: isError {failed}, {text.splitlines()[0]}", flush=True)


asyncio.run(main())
