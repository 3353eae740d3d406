# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""Sends a stdio server calls in JSON that its parser refuses: half of a character as an escape, and a long number."""
import json
import queue
import subprocess
import sys
import threading

try:
    from mcp.server import MCPServer
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("demo", log_level="CRITICAL")
if "serve" in sys.argv:

    @server.tool()
    def show(value: object) -> str:
        return ascii(value)[:20]

    server.run()
    sys.exit()

pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
process = subprocess.Popen([sys.executable, __file__, "serve"], **pipes)
lines = queue.Queue()
threading.Thread(target=lambda: [lines.put(line) for line in process.stdout], daemon=True).start()


def ask(number, method, params):
    print(f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}', file=process.stdin, flush=True)
    try:
        while (reply := json.loads(lines.get(timeout=4))).get("id") != number:
            pass
        return "answered with " + ("an error" if "error" in reply else "a result")
    except queue.Empty:
        return "no answer within 4 s"


hello = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"any","version":"1"}}'
print("initialize:", ask(0, "initialize", hello), flush=True)
print('{"jsonrpc":"2.0","method":"notifications/initialized"}', file=process.stdin, flush=True)
# "\ud83d" is what JSON.stringify of any JavaScript engine makes of an emoji that was cut in half
pair = r'"\ud83d\ude00"'
values = {"a character": pair, "half of it": r'"\ud83d"', "a number of 5000 digits": "7" * 5000,
          "the character again": pair}
for number, (what, value) in enumerate(values.items(), 1):
    print(f"{what}:", ask(number, "tools/call", f'{{"name":"show","arguments":{{"value":{value}}}}}'), flush=True)
process.kill()
