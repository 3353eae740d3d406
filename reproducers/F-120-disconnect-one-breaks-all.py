# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A ClientSessionGroup is connected to two stdio servers, and disconnects from one of them."""
import asyncio
import sys

from mcp import ClientSessionGroup, StdioServerParameters

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer


async def call(group, name):
    try:
        result = await asyncio.wait_for(group.call_tool(name, {}), 5)
        return result.content[0].text
    except (Exception, asyncio.CancelledError) as error:
        return f"{type(error).__name__}, {error}"


async def main():
    async with ClientSessionGroup() as group:
        for name in "first", "second":
            server = StdioServerParameters(command=sys.executable, args=[__file__, "serve", name])
            session = await group.connect_to_server(server)
            if name == "first":
                first = session
        print("before: first says", await call(group, "first"), flush=True)
        print("before: second says", await call(group, "second"), flush=True)
        try:
            await group.disconnect_from_server(first)
            print("disconnect_from_server(first): done", flush=True)
        except Exception as error:
            print(f"disconnect_from_server(first): {type(error).__name__}, {error}", flush=True)
        print("after: second says", await call(group, "second"), flush=True)


if "serve" in sys.argv:
    server = MCPServer(sys.argv[-1], log_level="CRITICAL")
    server.add_tool(lambda: "hello", name=sys.argv[-1])
    server.run()
else:
    try:
        asyncio.run(main())
        print("the group is closed")
    except BaseException as error:
        print(f"closing the group: {type(error).__name__}")
