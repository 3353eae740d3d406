# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Where a server listens when code says localhost and a free port, and when FASTMCP_HOST and FASTMCP_PORT do."""
import os
import re
import socket
import subprocess
import sys

try:
    from mcp.server import MCPServer

    def serve(**where):
        MCPServer("demo").run("streamable-http", **where)
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP

    def serve(**where):
        FastMCP("demo", **where).run("streamable-http")


def listens_at(port, where, **environment):
    program = [sys.executable, __file__, "serve", *where]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        for line in process.stderr:  # uvicorn names the address, also if something else listens there already
            if found := re.search(r"running on http://(\S+):(\d+)|bind on address \('(\S+)', (\d+)\)", line):
                process.kill()
                host, number = filter(None, found.groups())
                return f"{host}, " + ("the port asked for" if number == port else f"port {number}")
        return "uvicorn did not say"


if "serve" in sys.argv:
    serve(**({"host": sys.argv[2], "port": int(sys.argv[3])} if sys.argv[2:] else {}))
else:
    with socket.create_server(("localhost", 0)) as free:
        port = str(free.getsockname()[1])
    print("asked in the code:", listens_at(port, ["localhost", port]), flush=True)
    print("asked in the environment:", listens_at(port, [], FASTMCP_HOST="localhost", FASTMCP_PORT=port), flush=True)
