# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A call names an argument that the tool does not have, `dryRun` instead of `dry_run`: is it told so?"""
import asyncio

try:
    from mcp import Client
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.memory import create_connected_server_and_client_session as Client

server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def delete(path: str, dry_run: bool = False) -> str:
    return f"would delete {path}" if dry_run else f"deleted {path}"


async def main():
    async with Client(server) as client:
        schema = (await client.list_tools()).tools[0].model_dump(by_alias=True)["inputSchema"]
        print("additionalProperties in the schema:", schema.get("additionalProperties", "not there"))
        for name in "dry_run", "dryRun":
            result = await client.call_tool("delete", {"path": "notes.txt", name: True})
            failed, text = result.model_dump(by_alias=True)["isError"], result.content[0].text
            print(f"{name}: isError {failed}, {text.splitlines()[0]}", flush=True)


asyncio.run(main())
