# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Does the import that a server written for mcp 1.x begins with, and serves a tool through it."""
import asyncio

from mcp.server.lowlevel import Server

print("mcp.server.lowlevel.Server imported:", Server("demo").name, flush=True)
try:
    from mcp.server.fastmcp import FastMCP
except ImportError as error:
    told, rest = str(error).partition(".fastmcp'")[::2]
    print(f"mcp.server.fastmcp.FastMCP: {type(error).__name__}, {told}.fastmcp'")
    print("names the replacement in its message:", "MCPServer" in rest)
else:
    server = FastMCP("demo")
    server.tool(name="add")(lambda a, b: a + b)
    print("mcp.server.fastmcp.FastMCP imported, its tools:", [tool.name for tool in asyncio.run(server.list_tools())])
