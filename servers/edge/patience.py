"""How long a caller may do nothing. uvicorn waits for ever for the head of a request, and for an answer to be read."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

STALL_S = 30.0


class Connection(H11Protocol):
    """One that ends after STALL_S, at most twice that, in which it is the caller's turn and nothing comes."""

    _seen: RequestResponseCycle | None = None  # the request at the last look

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to look."""
        super().connection_made(transport)
        self._next_look = self.loop.call_later(STALL_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Looks no more."""
        self._next_look.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        is_our_turn = self.cycle is not None and not self.cycle.response_started
        if self.cycle is self._seen and not is_our_turn:
            self.transport.abort()  # to close would be to wait until what was written is read
            return
        self._seen = self.cycle
        self._next_look = self.loop.call_later(STALL_S, self._look)
