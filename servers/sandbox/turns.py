"""One at a time, in the order of asking; and what is left to do after an answer is done before the next turn."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from servers.refusal import Code, Refusal

log = logging.getLogger(__name__)


class Turns:
    """A queue of bounded length."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._lock = asyncio.Lock()
        self._finishing: set[asyncio.Task[None]] = set()
        self.waiting = 0

    @property
    def taken(self) -> bool:
        """Whether it is somebody's turn."""
        return self._lock.locked()

    async def take(self) -> Refusal | None:
        """Waits for the turn; who gets it has to call `give_up`."""
        if self.waiting >= self._longest:
            what = f"{self.waiting} calls wait for the sandbox already"
            return Refusal(Code.BUSY, what, "Wait until some of them have been answered, then call again.")
        self.waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self.waiting -= 1
        return None

    def give_up(self, afterwards: Coroutine[Any, Any, None] | None = None) -> None:
        """Ends the turn once `afterwards` is done. The caller need not wait for that."""
        if afterwards is None:
            self._lock.release()
            return
        task = asyncio.create_task(afterwards)
        self._finishing.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._finishing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("what was left to do after a call failed", exc_info=error)
        self._lock.release()

    async def close(self) -> None:
        """Drops what was left to do."""
        for task in list(self._finishing):
            task.cancel()
        await asyncio.gather(*self._finishing, return_exceptions=True)
