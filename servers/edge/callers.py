"""Whether the caller is still there. The SDK does not look: in JSON mode it runs every call to its end."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

from starlette.types import Receive

from servers.workarounds import workaround

LISTENING: ContextVar[Receive | None] = ContextVar("LISTENING", default=None)


async def gone() -> None:
    """Returns when whoever made the request in progress has hung up; never, if that is nobody."""
    receive = LISTENING.get()
    if receive is None or not workaround("F-141"):
        await asyncio.Event().wait()
        return
    while (await receive())["type"] != "http.disconnect":
        pass
