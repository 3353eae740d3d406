"""One sandbox that stays: calls queue for it, and whatever a guest does to its worker, the next call finds it well."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from servers.refusal import Code, Refusal
from servers.sandbox.cache import Cache
from servers.sandbox.execution import Execution, execute, stop
from servers.sandbox.journal import Journal
from servers.sandbox.keeper import Keeper
from servers.sandbox.limits import Limits
from servers.sandbox.messages import (
    Changed,
    Content,
    Entry,
    Install,
    Installed,
    Last,
    ListFolder,
    Listing,
    Part,
    Progress,
    Read,
    Refused,
    Run,
    Sync,
    Synced,
    Write,
)
from servers.sandbox.outcome import Files, Health, Network, Outcome, Ran, State
from servers.sandbox.process import OnPart, Worker, WorkerDied
from servers.sandbox.runtimes import Runtimes
from servers.sandbox.telling import Fate, told
from servers.sandbox.turns import Turns
from servers.workarounds import workaround

CARRY_S = 10.0
ANSWER_S = 10.0
T = TypeVar("T")
Afterwards = Coroutine[Any, Any, None]
OnProgress = Callable[[Progress], Awaitable[None]]


class Slot:
    """A sandbox with one network policy. Its files live as long as the server, unless it is reset."""

    def __init__(self, network: Network, limits: Limits, runtimes: Runtimes, cache: Cache) -> None:
        self.network = network
        self.limits = limits
        self._turns = Turns(limits.queue)
        self._keeper = Keeper(network, limits, runtimes, cache)

    def start(self) -> None:
        """Warms up in the background."""
        self._keeper.start()

    async def close(self) -> None:
        """Ends its worker."""
        await self._turns.close()
        await self._keeper.close()

    async def run(self, request: Run, time_s: float) -> Ran | Refusal:
        """Runs a command for at most `time_s`. Cancelling the caller stops the guest."""
        return await self._in_turn(lambda worker: self._run(worker, request, time_s))

    async def write(self, path: str, data: bytes) -> int | Refusal:
        """Writes a file; the answer is the number of bytes."""
        answer = await self._ask(Write(path, data))
        return answer if isinstance(answer, Refusal) else len(data)

    async def read(self, path: str, offset: int, length: int) -> Content | Refusal:
        """A piece of a file."""
        answer = await self._ask(Read(path, offset, length))
        assert isinstance(answer, Content | Refusal)
        return answer

    async def listing(self, path: str) -> tuple[Entry, ...] | Refusal:
        """What a folder holds, sorted by name."""
        answer = await self._ask(ListFolder(path))
        assert isinstance(answer, Listing | Refusal)
        return answer if isinstance(answer, Refusal) else answer.entries

    async def install(self, package: Install, on_progress: OnProgress) -> tuple[str, ...] | Refusal:
        """Adds a package's commands, which are there again after a replacement of the worker."""
        telling: set[asyncio.Task[None]] = set()

        def on_part(part: Part) -> None:
            if isinstance(part, Progress):
                telling.add(asyncio.ensure_future(on_progress(part)))

        answer = await self._ask(package, on_part)
        await asyncio.gather(*telling, return_exceptions=True)
        if isinstance(answer, Refusal):
            return answer
        assert isinstance(answer, Installed)
        self._keeper.packages.append(package)
        if answer.can_spawn:
            self._keeper.spawning |= set(answer.commands)
        self._keeper.commands = tuple(sorted({*self._keeper.commands, *answer.commands}))
        return answer.commands

    async def reset(self) -> int | Refusal:
        """Empties the workspace and forgets packages; the answer is how many files there were."""
        if (refusal := await self._turns.take()) is not None:
            return refusal
        try:
            count = len(self._keeper.journal.files)
            self._keeper.journal = Journal()
            self._keeper.packages = []
            self._keeper.spawning = set()
            await self._keeper.replace()
            ready = await self._keeper.ready()
            return ready if isinstance(ready, Refusal) else count
        finally:
            self._turns.give_up()

    def state(self) -> State:
        """What can be told without asking the worker."""
        keeper = self._keeper
        worker = keeper.worker if keeper.worker is not None and keeper.worker.alive else None
        if worker is not None:
            health, detail = (Health.BUSY if self._turns.taken else Health.READY), ""
        elif keeper.trouble:
            health, detail = Health.FAILED, keeper.trouble
        else:
            health, detail = Health.WARMING, keeper.stage
        return State(
            network=self.network,
            health=health,
            detail=detail,
            waiting=self._turns.waiting,
            restarts=keeper.restarts,
            files=len(keeper.journal.files),
            workspace_bytes=keeper.journal.size,
            memory_bytes=0 if worker is None else worker.memory_bytes(),
            commands=keeper.commands,
            sdk=keeper.sdk,
        )

    def _no_room(self, path: str, size: int) -> Refusal | None:
        journal = self._keeper.journal
        room = min(
            self.limits.file_bytes, self.limits.workspace_bytes - journal.size + len(journal.files.get(path, b""))
        )
        if size > room:
            what = f"{size:,} bytes do not fit: there is room for {room:,}"
            return Refusal(Code.TOO_LARGE, what, "Write less, or remove files first, with run_python or reset_sandbox.")
        held = len(journal.files) + len(journal.folders)
        if path not in journal.files and held + 1 + len(journal.missing_folders(path)) > self.limits.workspace_files:
            what = f"the workspace holds {held:,} files and folders, and may hold {self.limits.workspace_files:,}"
            return Refusal(Code.TOO_LARGE, what, "Remove files first, with run_python or reset_sandbox.")
        return None

    async def _ask(
        self, request: Write | Read | ListFolder | Install, on_part: OnPart = lambda _part: None
    ) -> Last | Refusal:
        """A request that is no command, in its turn."""
        patience_s = self.limits.longest_s if isinstance(request, Install) else ANSWER_S
        again = "Try again: it is being replaced, with its files."

        async def ask(worker: Worker) -> tuple[Last | Refusal, Afterwards | None]:
            # Looked at in our turn: what others write meanwhile counts.
            if isinstance(request, Write) and (refusal := self._no_room(request.path, len(request.data))) is not None:
                return refusal, None
            try:
                answer = await asyncio.wait_for(worker.ask(request, on_part), patience_s)
            except TimeoutError:
                what = f"the worker of the sandbox did not answer in {patience_s:g} s"
                return Refusal(Code.NOT_AVAILABLE, what, again), self._keeper.replace()
            except WorkerDied as error:
                what = f"the worker of the sandbox ended in the middle of it ({error})"
                return Refusal(Code.NOT_AVAILABLE, what, again), None
            if isinstance(answer, Refused):
                return Refusal(answer.code, answer.message, answer.hint), None
            if isinstance(request, Write):
                self._keeper.journal.write(request.path, request.data)
            return answer, None

        return await self._in_turn(ask)

    async def _in_turn(self, work: Callable[[Worker], Awaitable[tuple[T, Afterwards | None]]]) -> T | Refusal:
        """Does `work` with the worker once it is our turn. What it leaves to do is done before the next turn."""
        if (refusal := await self._turns.take()) is not None:
            return refusal
        afterwards: Afterwards | None = None
        worker: Worker | Refusal | None = None
        try:
            worker = await self._keeper.ready()
            if isinstance(worker, Refusal):
                return worker
            answer, afterwards = await work(worker)
            return answer
        except asyncio.CancelledError:
            if isinstance(worker, Worker):
                afterwards = self._abandon(worker)
            raise
        finally:
            self._turns.give_up(afterwards)

    async def _run(self, worker: Worker, request: Run, time_s: float) -> tuple[Ran | Refusal, Afterwards | None]:
        execution = await execute(worker, request, time_s, self.limits)
        if isinstance(execution, Refusal):
            return execution, None
        fate, afterwards = await self._settle(worker, request.command, execution)
        return told(execution, fate, self.limits), afterwards

    async def _settle(self, worker: Worker, command: str, execution: Execution) -> tuple[Fate, Afterwards | None]:
        """Decides what becomes of the workspace and of the worker after a command."""
        if execution.ended is None or execution.usage.over:
            return Fate(Files.RESTORED, self._keeper.journal.links), self._keeper.replace()
        if execution.outcome is Outcome.TIMED_OUT or execution.ended.may_burn:
            carried = await self._carry(worker)
            # One in a pure loop burns a core until its process ends; nothing tells from here whether this one does.
            afterwards = self._keeper.replace() if workaround("F-044") else None
            files = Files.RESTORED if carried is None else Files.KEPT
            return Fate(files, self._keeper.journal.links if afterwards else ()), afterwards
        if command in self._keeper.spawning:
            return Fate(Files.KEPT), self._note(worker, replace=True)
        nothing = execution.usage.files == 0 and self._keeper.journal.is_empty
        return Fate(Files.KEPT), None if nothing else self._note(worker)

    async def _note(self, worker: Worker, *, replace: bool = False) -> None:
        """Learns what changed; if the worker dies of it, the workspace is as it was before.

        `replace` ends the worker, and with it what a command may have left running.
        """
        if await self._carry(worker) is None or replace:
            await self._keeper.replace()

    async def _abandon(self, worker: Worker) -> None:
        """After a caller went away: the guest is stopped, what it wrote is kept if that can be had."""
        if workaround("F-064"):
            await stop(worker)
        elif worker.busy:
            with contextlib.suppress(WorkerDied):
                await worker.settle()
            return
        if not worker.busy:
            await self._carry(worker)
        await self._keeper.replace()

    async def _carry(self, worker: Worker) -> Synced | None:
        """Brings the journal up to date. None, and nothing noted, if the worker cannot tell in time."""
        changes: list[Changed] = []

        def on_part(part: Part) -> None:
            if isinstance(part, Changed):
                changes.append(part)

        asking = asyncio.create_task(worker.ask(Sync(), on_part))
        try:
            done, _ = await asyncio.wait({asking}, timeout=CARRY_S)
        finally:
            asking.cancel()
        if not done:
            return None
        try:
            synced = asking.result()
        except WorkerDied:
            return None
        if not isinstance(synced, Synced) or synced.usage.over:
            return None
        for change in changes:
            self._keeper.journal.change(change)
        self._keeper.journal.finish(synced)
        return synced
