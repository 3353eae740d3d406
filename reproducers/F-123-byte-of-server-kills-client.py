# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A stdio server prints a line that is no message, once in ASCII and once in Latin-1, before it answers a call."""
import asyncio
import logging
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

logging.disable()
SERVER = """  # one that needs no more than these replies
import json, sys
hello = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
tools = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
for request in map(json.loads, sys.stdin):
    text = (request.get("params") or {}).get("arguments", {}).get("text", "")
    call = {"content": [{"type": "text", "text": text}]}
    result = {"initialize": hello, "tools/list": tools}.get(request["method"], call)
    if text:
        sys.stdout.buffer.write(f"{text}\\n".encode("latin-1"))
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


async def main():
    parameters = StdioServerParameters(command=sys.executable, args=["-c", SERVER])
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for text in "cafe", "caf\u00e9", "cafe":
            try:
                result = await asyncio.wait_for(session.call_tool("say", {"text": text}), 3)
                answer = "answered " + ascii(result.content[0].text)
            except TimeoutError:
                answer = "no answer within 3 s"
            except (Exception, asyncio.CancelledError) as error:
                answer = f"{type(error).__name__}, {error}".partition(" by <")[0].partition(" via ")[0]
            print(f"after the line {text!a}: {answer}", flush=True)


try:
    asyncio.run(main())
    print("the client is closed")
except BaseExceptionGroup as group:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    print(f"closing the client: an ExceptionGroup with {type(group).__name__}")
