# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A handler of a low-level server refuses a prompt, and fails at another: what a client of 2025-11-25 is told."""
import asyncio
import logging

try:
    from mcp import Client, MCPError
    from mcp.server import Server
except ImportError:  # mcp 1.x
    from mcp import McpError
    from mcp.server import Server
    from mcp.shared.memory import create_connected_server_and_client_session
    from mcp.types import ErrorData

    def MCPError(code, message):
        return McpError(ErrorData(code=code, message=message))

    server = Server("demo")

    @server.get_prompt()
    async def handler(name, arguments):
        return await prompt(name)

    client = create_connected_server_and_client_session(server)
else:

    async def handler(context, params):
        return await prompt(params.name)

    client = Client(Server("demo", on_get_prompt=handler), mode="legacy")

logging.disable()  # what the server logs of it is not the point here


async def prompt(name):
    if name == "unknown":
        raise MCPError(-32602, "no such prompt")
    raise ValueError("cannot log in to db.internal as app with hunter2")


async def main():
    async with client as session:
        for name in "unknown", "failing":
            try:
                await session.get_prompt(name)
            except Exception as error:
                print(f"{name}: error {error.error.code}, {error}", flush=True)


asyncio.run(main())
