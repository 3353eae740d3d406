# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A server offers the same image from memory and from a web server: what a client reads of each."""
import asyncio
import base64
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

try:
    from mcp import Client
    from mcp.server import MCPServer
    from mcp.server.mcpserver.resources import BinaryResource, HttpResource
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.server.fastmcp.resources import BinaryResource, HttpResource
    from mcp.shared.memory import create_connected_server_and_client_session as Client

IMAGE = bytes.fromhex("89504e470d0a1a0a 00ff80")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        print("the web server was asked for", self.path, flush=True)
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(IMAGE)

    def log_message(self, *args):
        pass


async def main():
    web = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    server = MCPServer("demo", log_level="CRITICAL")
    address = f"http://127.0.0.1:{web.server_port}/image.png"
    server.add_resource(BinaryResource(uri="image://memory", data=IMAGE, mime_type="image/png"))
    server.add_resource(HttpResource(uri="image://web", url=address, mime_type="image/png"))
    async with Client(server) as client:
        for uri in "image://memory", "image://web":
            content = (await client.read_resource(uri)).contents[0].model_dump(by_alias=True)
            same = "blob" in content and base64.b64decode(content["blob"]) == IMAGE
            answer = "the image" if same else f"{'blob' if 'blob' in content else 'text'} {content.get('text')!a}"
            print(f"{uri}: {content['mimeType']}, {answer}", flush=True)


asyncio.run(main())
