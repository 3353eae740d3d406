"""Programs that run: fed, listened to, waited for, stopped."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from wasmer_sdk import Process, ReadableBytes, WasmerError, WritableBytes

from servers.sandbox.messages import Stream

CLOSING_S = 0.2
STDIN_CHUNK = 1 << 20
Emit = Callable[[Stream, bytes], Awaitable[None]]


@dataclass
class Budget:
    """Passes on what a guest writes up to a limit, and counts the rest."""

    emit: Emit
    limit: int
    total: dict[Stream, int] = field(default_factory=lambda: {"stdout": 0, "stderr": 0})

    async def __call__(self, stream: Stream, data: bytes) -> None:
        """Takes what was written."""
        left = max(0, self.limit - self.total[stream])
        self.total[stream] += len(data)
        if left and data:
            await self.emit(stream, data[:left])


@dataclass(frozen=True)
class Exit:
    """How one program ended."""

    code: int | None
    trap: str = ""
    exact: bool = False


class Programs:
    """What runs for one command: a program, and those that it asked for."""

    def __init__(self) -> None:
        self._running: set[Process] = set()
        self._ended: set[Process] = set()
        self._over = asyncio.Event()
        self.stopped = False
        self.ended_early = False

    async def stop(self) -> None:
        """Ends what runs. A guest that makes no system call goes on burning a core: the worker has to go."""
        self.stopped = True
        await self._end(self._running)

    @contextlib.asynccontextmanager
    async def limited(self, time_s: float | None) -> AsyncIterator[asyncio.Event]:
        """Ends what is started within after `time_s`, if that is given; what ran before goes on.

        The event tells whether it came to that. Here, too, a guest may go on burning a core.
        """
        over, before, outer = asyncio.Event(), set(self._running), self._over

        async def end(after_s: float) -> None:
            await asyncio.sleep(after_s)
            over.set()
            await self._end(self._running - before)

        self._over = over
        ending = None if time_s is None else asyncio.create_task(end(time_s))
        try:
            yield over
        finally:
            self._over = outer
            if ending is not None:
                ending.cancel()

    async def _end(self, processes: Iterable[Process]) -> None:
        for process in list(processes):
            self._ended.add(process)
            self.ended_early = True
            with contextlib.suppress(WasmerError):
                await process.kill()

    async def serve(self, process: Process, stdin: bytes, emit: Emit) -> Exit:
        """Feeds and hears one program until it ends."""
        assert process.stdout is not None
        stdout = process.stdout

        async def talk() -> None:
            feeding = None if process.stdin is None else asyncio.create_task(_feed(process.stdin, stdin))
            try:
                await _hear(stdout, "stdout", emit)
            finally:
                if feeding is not None:
                    feeding.cancel()

        return await self.attend(process, emit, talk)

    async def attend(self, process: Process, emit: Emit, talk: Callable[[], Awaitable[int | None]]) -> Exit:
        """Waits for a program, while `talk` minds its stdin and stdout. What `talk` answers goes for its exit code."""
        assert process.stderr is not None
        self._running.add(process)
        if self.stopped or self._over.is_set():
            await self._end({process})
        talking = asyncio.ensure_future(talk())
        hearing = asyncio.create_task(_hear(process.stderr, "stderr", emit))
        try:
            ended = Exit((await process.wait()).exit_code)
        except WasmerError as error:
            ended = Exit(None, _trap(str(error)))
        finally:
            late: set[asyncio.Future[Any]] = {talking, hearing}
            while late:  # one that it left behind may hold its pipes open, until we are told to end it
                told_to_end = process in self._ended
                _, late = await asyncio.wait(late, timeout=CLOSING_S)
                if told_to_end:
                    break
            self._running.discard(process)
            for task in late:
                task.cancel()
        said = None if talking in late else _said(talking)
        return ended if said is None or ended.code is None else Exit(said, exact=True)


def _said(talking: "asyncio.Future[int | None]") -> int | None:
    """What a talk came to; nothing, if the program ended in the middle of it."""
    try:
        return talking.result()
    except WasmerError:
        return None


async def _feed(pipe: WritableBytes, data: bytes) -> None:
    """All of stdin; a program that does not want it is none of our business."""
    with contextlib.suppress(WasmerError):
        for start in range(0, len(data), STDIN_CHUNK):
            await pipe.write(data[start : start + STDIN_CHUNK])
        await pipe.close()


async def _hear(stream: ReadableBytes, name: Stream, emit: Emit) -> None:
    with contextlib.suppress(WasmerError):
        async for data in stream:
            await emit(name, data)


def _trap(message: str) -> str:
    """The reason of a trap, without the stack of addresses below it."""
    first = message.splitlines()[0] if message else "unknown"
    return first.removeprefix("command execution failed: ").removeprefix("RuntimeError: ")
