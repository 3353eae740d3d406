# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Connects to a stdio server that ends at once, with a reason and the exit status 3: what the client makes of it."""
import asyncio
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters, stdio_client

SERVER = "import sys; print('config.toml is not there', file=sys.stderr); sys.exit(3)"


async def connect(stderr):
    server = StdioServerParameters(command=sys.executable, args=["-c", SERVER])
    async with stdio_client(server, stderr) as streams, ClientSession(*streams) as session:
        await asyncio.wait_for(session.initialize(), 10)


with tempfile.TemporaryFile("w+") as stderr:
    try:
        asyncio.run(connect(stderr))
        said = "nothing"
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        said = f"{type(error).__name__}, {error}"
    stderr.seek(0)
    print("the server says:", stderr.read().strip(), flush=True)
    print("the client says:", said, flush=True)
