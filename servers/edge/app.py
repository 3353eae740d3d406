"""From settings to an ASGI app: MCP at /mcp, /healthz, and /jobs/prune."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from servers.edge import NAME, VERSION, guards, jobs, tls
from servers.edge.guards import MAX_BODY, MCP_PATH, bearer, problem, unauthorized
from servers.edge.outages import Outage
from servers.edge.settings import LOOPBACK_NAMES, Settings, Tls
from servers.edge.tools import Desk, EdgeServer, add_tools
from servers.refusal import Code, Refusal
from servers.workarounds import workaround

log = logging.getLogger(__name__)
_INSTRUCTIONS = (
    "Keeps notes (store_echo, get_echo, list_echoes) and reports of frictions met while using Wasmer (record_feedback,"
    " list_feedback) in Postgres. Every failure is {error: {code, message, hint}}, and the hint says what to do next."
)


@contextlib.asynccontextmanager
async def serving(desk: Desk) -> AsyncIterator[None]:
    """Makes the first connection, and ends all. Whatever happens with the database, the server starts."""
    try:
        with contextlib.suppress(Outage):
            await desk.ask(lambda link: None)
        yield
    finally:
        desk.connections.close()
        await anyio.to_thread.run_sync(desk.embedded.stop)


class _Records(logging.Formatter):
    """Only the first line of a record begins at the margin, so that no text of a caller's looks like a record."""

    _SHOWN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {9: "\t", 10: "\n    "}

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).translate(self._SHOWN)


def log_to_stderr() -> None:
    """Before anything else sets up logging in its own way."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Records("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("mcp.server").setLevel(logging.WARNING)  # else two lines for every call


def create_app(settings: Settings) -> ASGIApp:
    """The app, which can be started once. Raises BadSetting."""
    if settings.database:
        tls.context(settings.database)
    desk = Desk(settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        _announce(settings)
        async with serving(desk):
            yield

    server = EdgeServer(
        NAME,
        title="Wasmer Edge echo",
        description="Notes and reported frictions, kept in Postgres.",
        instructions=_INSTRUCTIONS,
        version=VERSION,
        lifespan=lifespan,
        log_level="INFO",
        subscriptions=False,  # nothing here ever changes, and no stream should wait for it
    )
    add_tools(server, desk)
    _add_routes(server, desk)
    # The SDK checks Host and Origin for MCP alone, not for the routes that are added to it. So we do it for all.
    guards_hosts = workaround("F-080") and workaround("F-142")
    inner = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=None if not workaround("F-080") else _of_sdk(settings, enabled=not guards_hosts),
        host=settings.host,
    )
    inner.add_exception_handler(HTTPException, _unknown)
    inner.add_exception_handler(Exception, _failed)
    inner.router.redirect_slashes = False  # behind a proxy it would send callers, with their tokens, to plain http://
    if not importlib.util.find_spec("opentelemetry.sdk"):
        server.middleware.clear()  # spans that nobody collects, and the state of questions that no tool asks
    checks = [guards.hosts(settings)] if guards_hosts else []
    checks += [guards.rate(settings.rate), guards.tokens(settings.tokens), guards.only_post]
    return guards.guarded(guards.with_body(_routed(server, inner)), checks)


def _routed(server: EdgeServer, others: ASGIApp) -> ASGIApp:
    """MCP straight to the SDK, as the layers of a web framework have nothing to add to it; the rest to the others."""

    async def sdk(scope: Scope, receive: Receive, send: Send) -> None:
        await server.session_manager.handle_request(scope, receive, send)

    mcp = ServerErrorMiddleware(sdk, handler=_failed)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "http" and scope["path"] == MCP_PATH
        await (mcp if is_mcp else others)(scope, receive, send)

    return route


def _of_sdk(settings: Settings, *, enabled: bool) -> TransportSecuritySettings:
    names = [*LOOPBACK_NAMES, *settings.hosts]
    origins = [*settings.origins, *(f"{scheme}://{name}" for name in names for scheme in ("http", "https"))]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=enabled,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )


def _announce(settings: Settings) -> None:
    database = settings.database
    log.info("%s %s on %s:%d%s", NAME, VERSION, settings.host, settings.port, MCP_PATH)
    log.info("answers to the hosts %s", ", ".join([*LOOPBACK_NAMES, *settings.hosts]))
    log.info("database: %s", database or "embedded")
    if database and (database.tls is not Tls.VERIFY or not workaround("F-013")):
        how = "not encrypted" if database.tls is Tls.DISABLE else "encrypted, but whoever answers is believed"
        log.warning(
            "DB_SSL=%s: the connection to the database is %s; set DB_SSL_CA, and not DB_SSL, to verify it",
            database.tls,
            how,
        )
    if not settings.tokens and not settings.is_loopback:
        log.warning("MCP_TOKENS is not set: whoever reaches this server may read and write")
    if not settings.jobs_are_served:
        log.warning("JOBS_TOKEN is not set: there is no /jobs/prune")


def _add_routes(server: EdgeServer, desk: Desk) -> None:
    async def healthz(_: Request) -> Response:
        """200 as long as the server itself works: to restart it would not mend the database."""
        state, _version = await desk.state()
        return JSONResponse(
            {
                "status": "ok" if state.reachable else "degraded",
                "database": {"reachable": state.reachable, "problem": state.problem and state.problem.message},
            }
        )

    server.custom_route("/healthz", methods=["GET"])(healthz)

    async def prune(request: Request) -> Response:
        token = desk.settings.jobs_token
        if token and not bearer(request.scope, [token]):
            return unauthorized("this job")
        try:
            days = jobs.days_of(request.query_params.multi_items())
        except jobs.BadDays as bad:
            return problem(400, Refusal(Code.INVALID_ARGUMENTS, str(bad), "POST /jobs/prune?days=7"))
        try:
            return JSONResponse(await desk.ask(lambda link: jobs.prune(link, days), wrote=True))
        except Outage as outage:
            return problem(503, outage.refusal, {"Retry-After": "5"})

    if desk.settings.jobs_are_served:
        server.custom_route("/jobs/prune", methods=["POST"])(prune)


async def _unknown(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    hint = f"MCP is POST {MCP_PATH}; there are also GET /healthz and POST /jobs/prune."
    code, message = Code.NOT_FOUND, "there is nothing like that here"
    if error.status_code == 405:
        code, message = Code.NOT_ALLOWED, "that path takes another method"
    return problem(error.status_code, Refusal(code, message, hint), dict(error.headers or {}))


async def _failed(_: Request, __: Exception) -> Response:
    hint = "Try once more; if it happens again, report it with that log."
    return problem(500, Refusal(Code.INTERNAL, "the server failed; its log has the details", hint))
