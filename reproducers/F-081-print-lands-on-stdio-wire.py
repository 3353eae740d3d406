# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A tool of a stdio server prints, and starts a program that does: what a client reads between two replies."""
import json
import subprocess
import sys

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("demo", log_level="CRITICAL")


@server.tool()
def work() -> str:
    print("printed by the tool", flush=True)
    subprocess.run([sys.executable, "-c", "print('printed by its child')"], check=True)
    return "done"


def main():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    with subprocess.Popen([sys.executable, __file__, "serve"], text=True, bufsize=1, **pipes) as process:
        for method, number, params in (("initialize", 1, client), ("notifications/initialized", None, {}),
                                       ("tools/call", 2, {"name": "work", "arguments": {}})):
            message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
            process.stdin.write(json.dumps(message) + "\n")
            for line in process.stdout if number else ():
                if line.startswith("{"):
                    text = json.loads(line)["result"].get("content", [{"text": "hello"}])[0]["text"]
                    print(f"reply {number}: {text}", flush=True)
                    break
                print("on the wire:", line.strip(), flush=True)
        process.stdin.close()


server.run() if "serve" in sys.argv else main()
