# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A page of evil.example that had its name point to this machine asks a server that checks tokens and hosts."""
import socket
import threading
import time
from http.client import HTTPConnection

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from starlette.responses import PlainTextResponse

try:
    from mcp.server import MCPServer as Server
    at_run = True
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as Server
    at_run = False


class Verifier:
    async def verify_token(self, token):
        return AccessToken(token=token, client_id="me", scopes=[]) if token == "right" else None


with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
where = {"host": "127.0.0.1", "port": port}
auth = AuthSettings(issuer_url="https://auth.example", resource_server_url=f"http://127.0.0.1:{port}/mcp",
                    validate_token_resource=False)
server = Server("demo", token_verifier=Verifier(), auth=auth, log_level="CRITICAL", **({} if at_run else where))


@server.custom_route("/admin", methods=["GET"])
async def admin(request):
    return PlainTextResponse("the admin page")


run = threading.Thread(target=server.run, args=("streamable-http",), kwargs=where if at_run else {}, daemon=True)
run.start()
while socket.socket().connect_ex(("127.0.0.1", port)):
    time.sleep(0.05)

for path, headers in ("/mcp", {}), ("/mcp", {"Authorization": "Bearer right"}), ("/admin", {}):
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": "evil.example", "Accept": "text/event-stream", **headers})
    reply = connection.getresponse()
    token = "with a token" if headers else "without a token"
    print(f"{path} {token}: {reply.status}, {reply.read().decode()}", flush=True)
