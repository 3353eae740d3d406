"""How long a caller may do nothing. uvicorn waits for ever for the head of a request, and for an answer to be read."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

STALL_S = 30.0


class Connection(H11Protocol):
    """One that ends after STALL_S, at most twice that, in which it is the caller's turn and nothing comes or goes."""

    # At the last look: the request, and how much of what was written is still to be read. None: it was our turn.
    _seen: tuple[RequestResponseCycle | None, int] | None = (None, 0)

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
        now = None if is_our_turn else (self.cycle, self.transport.get_write_buffer_size())
        if now is not None and now == self._seen:
            self.transport.abort()  # to close would be to wait until what was written is read
            return
        self._seen = now
        self._next_look = self.loop.call_later(STALL_S, self._look)
