"""What every request must pass before anything of ours runs; each refusal in the one grammar."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from servers.edge import callers
from servers.edge.settings import LOOPBACK_NAMES, Scope, Settings, Token
from servers.refusal import Code, Refusal
from servers.workarounds import workaround

MAX_BODY = 1024 * 1024
BODY_S = 15.0  # less than main.py gives requests in progress when it is to end
MCP_PATH = "/mcp"
_TOKEN_KEY = "servers.edge.token"
_CALLERS = 10_000


def problem(status: int, refusal: Refusal, headers: dict[str, str] | None = None) -> Response:
    """A refusal as an HTTP answer."""
    body = {"error": {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}}
    return JSONResponse(body, status, headers)


def header(scope: AsgiScope, name: bytes) -> str:
    """The value of a header, by its name in lower case; empty if there is none."""
    for known, value in scope["headers"]:
        if known == name:
            return str(value, "latin-1")
    return ""


def scope_of(request: object) -> Scope | None:
    """What the caller's token allows; None where no tokens are asked for."""
    token = request.scope.get(_TOKEN_KEY) if isinstance(request, Request) else None
    return token.scope if isinstance(token, Token) else None


def bearer(scope: AsgiScope, tokens: Iterable[Token]) -> Token | None:
    """The token that the request shows, if it is one of these."""
    kind, _, shown = header(scope, b"authorization").partition(" ")
    matching = [token for token in tokens if token.matches(shown.strip())]  # looks at all, so that time tells nothing
    return matching[0] if kind.lower() == "bearer" and matching else None


def unauthorized(what: str) -> Response:
    """The answer to a request without a token, or with a wrong one."""
    return problem(
        401,
        Refusal(Code.NOT_ALLOWED, f"{what} needs a token", "Send it as the header `Authorization: Bearer TOKEN`."),
        {"WWW-Authenticate": "Bearer"},
    )


Check = Callable[[AsgiScope], Response | None]


def guarded(app: ASGIApp, checks: Sequence[Check]) -> ASGIApp:
    """The app, for those requests that no check has an answer to. Anything but HTTP is passed on."""

    async def guard(scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for check in checks:
                answer = check(scope)
                if answer is not None:
                    await answer(scope, receive, send)
                    return
        await app(scope, receive, send)

    return guard


def hosts(settings: Settings) -> Check:
    """Against DNS rebinding and other people's web pages: the Host must be ours, and the Origin too if there is one."""
    ours = {*LOOPBACK_NAMES, *settings.hosts}
    origins = {*settings.origins, *(f"https://{host}" for host in settings.hosts)}

    def check(scope: AsgiScope) -> Response | None:
        host, origin = header(scope, b"host").lower(), header(scope, b"origin").lower()
        if not {host, _without_port(host)} & ours:
            hint = "Call it by a name of its own; its operator adds names to ALLOWED_HOSTS."
            return problem(421, Refusal(Code.NOT_ALLOWED, "this server does not go by that Host", hint))
        scheme, _, authority = origin.partition("://")
        local = scheme in ("http", "https") and _without_port(authority) in LOOPBACK_NAMES
        if origin and not local and origin not in origins:
            hint = "Call it from a page of its own; its operator adds origins to ALLOWED_ORIGINS."
            return problem(403, Refusal(Code.NOT_ALLOWED, "pages of that Origin may not call this server", hint))
        return None

    return check


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def rate(per_second: int) -> Check:
    """So many requests a second from each address, and twenty times as many at once. 0: no limit."""
    most = per_second * 20.0
    left_by_caller: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(scope: AsgiScope) -> Response | None:
        if not per_second:
            return None
        caller, now = (scope.get("client") or ("",))[0], time.monotonic()
        left, then = left_by_caller.pop(caller, (most, now))
        left = min(most, left + (now - then) * per_second)
        left_by_caller[caller] = (max(0.0, left - 1), now)
        if len(left_by_caller) > _CALLERS:
            left_by_caller.popitem(last=False)
        if left >= 1:
            return None
        refusal = Refusal(Code.BUSY, "too many requests from this address", "Wait a second and send fewer at once.")
        return problem(429, refusal, {"Retry-After": "1"})

    return check


def tokens(known: tuple[Token, ...]) -> Check:
    """Only callers with a token reach MCP, if there are tokens."""

    def check(scope: AsgiScope) -> Response | None:
        if not known or scope["path"] != MCP_PATH:
            return None
        scope[_TOKEN_KEY] = token = bearer(scope, known)
        return None if token else unauthorized("this server")

    return check


def only_post(scope: AsgiScope) -> Response | None:
    """No streams: the server keeps no sessions, so nothing would ever come on them."""
    # On the older wire a GET would be answered with a stream that stays open.
    if scope["path"] != MCP_PATH or scope["method"] == "POST" or not workaround("F-140"):
        return None
    refusal = Refusal(Code.NOT_ALLOWED, f"{MCP_PATH} takes POST only", "Send each message as a POST of its own.")
    return problem(405, refusal, {"Allow": "POST"})


def with_body(app: ASGIApp) -> ASGIApp:
    """The app, for requests whose body has come: no more than MAX_BODY bytes, and within BODY_S."""

    async def reading(scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_S):
                body = await _body(scope, receive)
        except TimeoutError:
            refusal = Refusal(Code.INVALID_ARGUMENTS, "the body did not arrive in time", "Send it again, faster.")
            await problem(408, refusal, {"Connection": "close"})(scope, receive, send)
        except _TooLargeError:
            hint = "Send less at once: a note has at most 20000 characters."
            refusal = Refusal(Code.TOO_LARGE, f"the body has more than {MAX_BODY} bytes", hint)
            await problem(413, refusal, {"Connection": "close"})(scope, receive, send)
        except _GoneError:
            pass
        else:
            messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

            async def replay() -> Message:
                return messages.pop() if messages else await receive()

            callers.LISTENING.set(receive)
            await app(scope, replay, send)

    return reading


class _TooLargeError(Exception):
    """More than MAX_BODY."""


class _GoneError(Exception):
    """The caller hung up."""


async def _body(scope: AsgiScope, receive: Receive) -> bytes:
    said = header(scope, b"content-length")
    if said.isdecimal() and int(said) > MAX_BODY:
        raise _TooLargeError
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise _GoneError
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY:
            raise _TooLargeError
    return bytes(body)
