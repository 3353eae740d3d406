# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A prompt, a tool and a resource template read the lifespan's state from a context typed Context[...]."""
import asyncio
from contextlib import asynccontextmanager

try:
    from mcp import Client
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    TypedContext = Context[dict]
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import Context, FastMCP as MCPServer
    from mcp.server.session import ServerSession
    from mcp.shared.memory import create_connected_server_and_client_session as Client
    TypedContext = Context[ServerSession, dict]


@asynccontextmanager
async def lifespan(server):
    yield {"greeting": "hello"}


server = MCPServer("demo", lifespan=lifespan, log_level="CRITICAL")


def greeting(context):
    try:
        return context.request_context.lifespan_context["greeting"]
    except Exception as error:
        return f"{type(error).__name__}, {error}"


@server.prompt()
def plain(name: str, context: Context) -> str:
    return greeting(context)


@server.tool()
@server.prompt()
@server.resource("typed://{name}")
def typed(name: str, context: TypedContext) -> str:
    return greeting(context)


async def main():
    async with Client(server) as client:
        plain = (await client.get_prompt("plain", {"name": "x"})).messages[0].content.text
        tool = (await client.call_tool("typed", {"name": "x"})).content[0].text
        prompt = (await client.get_prompt("typed", {"name": "x"})).messages[0].content.text
        template = (await client.read_resource("typed://x")).contents[0].text
        print(f"prompt, Context: {plain}\ntool, Context[...]: {tool}")
        print(f"prompt, Context[...]: {prompt}\nresource template, Context[...]: {template}")


asyncio.run(main())
