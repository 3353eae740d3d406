"""The sandboxes of a server, one for each network policy."""

import asyncio
import time
from pathlib import Path
from types import TracebackType

from servers.sandbox import cache
from servers.sandbox.limits import Limits
from servers.sandbox.outcome import Network
from servers.sandbox.runtimes import Runtimes
from servers.sandbox.slot import Slot


class Pool:
    """Two warm sandboxes. Enter it to begin warming them, leave it to end whatever runs."""

    def __init__(self, limits: Limits, runtimes: Runtimes) -> None:
        self.limits = limits
        self.runtimes = runtimes
        self.cache = cache.Cache(Path(), temporary=False, note="")
        self._slots: dict[Network, Slot] = {}
        self._began = time.monotonic()

    async def __aenter__(self) -> "Pool":
        """Begins to warm up; does not wait for it."""
        self.cache = cache.find()
        self._slots = {network: Slot(network, self.limits, self.runtimes, self.cache) for network in Network}
        for slot in self._slots.values():
            slot.start()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Ends every worker and removes what is temporary."""
        await asyncio.gather(*(slot.close() for slot in self._slots.values()))
        cache.remove(self.cache)

    def __getitem__(self, network: Network) -> Slot:
        return self._slots[network]

    @property
    def slots(self) -> list[Slot]:
        """All of them."""
        return list(self._slots.values())

    @property
    def uptime_s(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._began
