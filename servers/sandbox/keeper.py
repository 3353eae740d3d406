"""Keeps a sandbox there: starts its worker, notices its end, and gives the next one what the last one had."""

import asyncio
import logging
import os
import time

from servers.refusal import Code, Refusal
from servers.sandbox.cache import Cache
from servers.sandbox.journal import Journal
from servers.sandbox.limits import Limits
from servers.sandbox.messages import Done, Install, Installed, Part, Progress, Refused, Setup
from servers.sandbox.outcome import Network
from servers.sandbox.process import Worker, WorkerDied
from servers.sandbox.runtimes import Runtimes

log = logging.getLogger(__name__)
PATIENCE_S = 10.0
COLD_START_S = 20.0
WARM_START_S = 1.0


class Keeper:
    """The worker of one sandbox, whichever it is just now."""

    def __init__(self, network: Network, limits: Limits, runtimes: Runtimes, cache: Cache) -> None:
        self._setup = Setup(
            network=network.value,
            cache=str(cache.path),
            cache_is_temporary=cache.temporary,
            server_pid=os.getpid(),
            modules=runtimes.modules,
            registry=runtimes.registry,
            memory_bytes=limits.memory_bytes,
            file_bytes=limits.file_bytes,
            workspace_bytes=limits.workspace_bytes,
            workspace_files=limits.workspace_files,
            output_bytes=limits.output_bytes,
        )
        self._starting: asyncio.Task[Worker | Refusal] | None = None
        self._began = time.monotonic()
        self._once_ready = False
        self._closed = False
        self.worker: Worker | None = None
        self.journal = Journal()
        self.packages: list[Install] = []
        self.spawning: set[str] = set()
        self.commands: tuple[str, ...] = ()
        self.sdk = ""
        self.stage = "starting"
        self.trouble = ""
        self.restarts = 0

    def start(self) -> None:
        """Begins to start a worker, unless one is there or on its way."""
        if self._closed or self._starting is not None or (self.worker is not None and self.worker.alive):
            return
        self._began = time.monotonic()
        self.stage, self.trouble = "starting", ""
        self._starting = asyncio.create_task(self._start())
        self._starting.add_done_callback(self._started)

    async def ready(self, patience_s: float = PATIENCE_S) -> Worker | Refusal:
        """The worker; waits for one that is on its way, but not for long."""
        self.start()
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=patience_s)
        if self._starting is not None:
            return self._warming()
        if self.worker is None or not self.worker.alive:
            what = f"the sandbox does not start: {self.trouble or 'its worker ended at once'}"
            return Refusal(
                Code.NOT_AVAILABLE, what, "Call get_sandbox_info for the details, mend that, then try again."
            )
        return self.worker

    async def replace(self) -> None:
        """Ends the worker and starts the next one, without waiting for that."""
        old, self.worker = self.worker, None
        if old is not None:
            self.restarts += 1
            await old.kill()
        self.start()

    async def close(self) -> None:
        """Ends the worker for good."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        if self.worker is not None:
            await self.worker.kill()

    def _warming(self) -> Refusal:
        gone = time.monotonic() - self._began
        left = max(1.0, (WARM_START_S if self._once_ready else COLD_START_S) - gone)
        return Refusal(
            Code.WARMING,
            f"the sandbox is being prepared ({self.stage}) since {gone:.0f} s; about {left:.0f} s are left",
            f"Call again in {left:.0f} s. This happens once: what is compiled now is kept.",
        )

    def _hear(self, part: Part) -> None:
        if isinstance(part, Progress):
            self.stage = f"{part.text}, {part.done:,} of {part.total:,} bytes" if part.total else part.text

    async def _start(self) -> Worker | Refusal:
        worker = await Worker.start()
        try:
            ready = await worker.set_up(self._setup, self._hear)
            if isinstance(ready, Refusal):
                await worker.kill()
                return ready
            self.commands, self.sdk = ready.commands, ready.sdk
            await self._give_back(worker)
        except WorkerDied as error:
            await worker.kill()
            last = worker.log.strip().splitlines()[-1:] or ["it said nothing"]
            return Refusal(Code.NOT_AVAILABLE, f"its worker ended ({error}): {last[0][:200]}", "")
        except asyncio.CancelledError:
            await worker.kill()
            raise
        return worker

    async def _give_back(self, worker: Worker) -> None:
        self.journal.links = ()  # these went with the last worker
        for restoring in self.journal.restoring():
            await worker.ask(restoring)
        for package in self.packages:
            match await worker.ask(package, self._hear):
                case Installed() as installed:
                    self.commands = tuple(sorted({*self.commands, *installed.commands}))
                case Refused() as no:
                    log.warning("a package is gone: %s", no.message)
                case other:
                    assert isinstance(other, Done), other

    def _started(self, task: asyncio.Task[Worker | Refusal]) -> None:
        self._starting = None
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            self.trouble = f"its worker could not be started ({type(error).__name__})"
            log.error("%s sandbox: %s", self._setup.network, self.trouble, exc_info=error)
            return
        outcome = task.result()
        if isinstance(outcome, Refusal):
            self.trouble = outcome.message
            log.error("%s sandbox: %s", self._setup.network, outcome.message)
            return
        self.worker, self._once_ready = outcome, True
        outcome.how_it_died.add_done_callback(lambda died: self._died(outcome, died.result()))

    def _died(self, worker: Worker, how: str) -> None:
        if worker is self.worker and not self._closed:
            log.warning("the worker of the %s sandbox ended (%s); starting another", self._setup.network, how)
            self.worker = None
            self.restarts += 1
            self.start()
