# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A server lists its tools on two pages: what a ClientSessionGroup makes of them."""
import asyncio
import sys

from mcp import ClientSessionGroup, StdioServerParameters
from mcp.types import PaginatedRequestParams

SERVER = """  # one that needs no more than these replies
import json, sys
hello = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
for request in map(json.loads, sys.stdin):
    page = int((request.get("params") or {}).get("cursor", 1))
    tools = {"tools": [{"name": f"tool_{page}", "inputSchema": {"type": "object"}}]}
    if page == 1:
        tools["nextCursor"] = "2"
    replies = {"initialize": hello, "tools/list": tools, "prompts/list": {"prompts": []}}
    result = replies.get(request["method"], {"resources": []})
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


async def main():
    async with ClientSessionGroup() as group:
        session = await group.connect_to_server(StdioServerParameters(command=sys.executable, args=["-c", SERVER]))
        first = await session.list_tools()
        cursor = first.model_dump(by_alias=True)["nextCursor"]
        second = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        print("the server has:", *[tool.name for page in (first, second) for tool in page.tools], flush=True)
        print("the group has:", *sorted(group.tools), flush=True)


asyncio.run(main())
