# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Connects to a stdio server that has started a program of its own, and disconnects: does that program go on?"""
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, stdio_client

CHILD = """
import os, sys, time
for beat in range(300):
    with open(sys.argv[1], "a") as file:
        print(os.getpid(), file=file)
    time.sleep(0.1)
"""
SERVER = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
MCPServer("demo", log_level="CRITICAL").run()
"""


async def look(beats):
    before = beats.stat().st_size if beats.exists() else 0
    await asyncio.sleep(2)
    return "works" if beats.exists() and beats.stat().st_size > before else "is gone"


async def main(beats):
    server = StdioServerParameters(command=sys.executable, args=["-c", SERVER, CHILD, str(beats)])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("connected: the server's child", await look(beats), flush=True)
    print("disconnected: the server's child", await look(beats), flush=True)
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(beats.read_text().split()[0]), signal.SIGKILL)


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder, "beats")))
