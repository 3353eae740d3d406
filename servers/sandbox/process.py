"""A worker process, seen from the server: started, asked, watched, ended."""

import asyncio
import collections
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import psutil

from servers.refusal import Refusal
from servers.sandbox import frames
from servers.sandbox.messages import Last, Message, Part, Ready, Refused, Setup
from servers.workarounds import VARIABLE

ROOT = Path(__file__).parents[2]
PROGRAM = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from servers.sandbox.worker import main; main()"
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", VARIABLE)
LOG_CHUNK = 4096
OnPart = Callable[[Part], None]


class WorkerDied(Exception):
    """The worker ended, or talks nonsense. The text says how, such as `SIGKILL` or `exit code 70`."""


class Worker:
    """One worker process. It takes one request at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._watched = psutil.Process(process.pid)
        self._answer: asyncio.Future[Last] | None = None
        self._on_part: OnPart = _ignore
        self._log: collections.deque[bytes] = collections.deque(maxlen=2)
        self.how_it_died: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._keep_log())]

    @classmethod
    async def start(cls) -> "Worker":
        """A worker that waits for its `Setup`. It inherits nothing secret, and no terminal."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-c",
            PROGRAM,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self.how_it_died.done()

    @property
    def log(self) -> str:
        """The end of what it wrote to stderr."""
        return b"".join(self._log).decode("utf-8", "replace")

    def memory_bytes(self) -> int:
        """What it holds in memory now; 0 once it is gone."""
        try:
            return int(self._watched.memory_info().rss)
        except psutil.Error:
            return 0

    def cpu_s(self) -> float:
        """The processor time that it has used; 0 once it is gone."""
        try:
            used = self._watched.cpu_times()
        except psutil.Error:
            return 0.0
        return float(used.user + used.system)

    async def set_up(self, setup: Setup, on_part: OnPart) -> Ready | Refusal:
        """Makes its sandbox, which takes a third of a second, or some seconds if modules have to be compiled."""
        match await self.ask(setup, on_part):
            case Ready() as ready:
                return ready
            case Refused() as no:
                return Refusal(no.code, no.message, no.hint)
            case other:
                raise WorkerDied(f"it answered {type(other).__name__}")

    async def ask(self, request: Message, on_part: OnPart = lambda _part: None) -> Last:
        """Sends a request and waits for its last answer; the others go to `on_part`.

        Raises WorkerDied. If the caller is cancelled the request goes on: see `settle`.
        """
        assert self._answer is None or self._answer.done(), "one request at a time"
        # What cannot be packed fails before there is a request in progress, to which nobody would ever answer.
        frame = frames.packed(request)
        self._answer = asyncio.get_running_loop().create_future()
        self._on_part = on_part
        await self._send(frame)
        return await self.settle()

    async def settle(self) -> Last:
        """Waits for the last answer to the request in progress."""
        assert self._answer is not None
        waiting: set[asyncio.Future[Any]] = {self._answer, self.how_it_died}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not self._answer.done():
            raise WorkerDied(self.how_it_died.result())
        return self._answer.result()

    @property
    def busy(self) -> bool:
        """Whether a request is in progress."""
        return self._answer is not None and not self._answer.done()

    async def tell(self, message: Message) -> None:
        """Sends something, answered or not."""
        await self._send(frames.packed(message))

    async def _send(self, frame: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(frame)
            await self._process.stdin.drain()

    async def kill(self) -> None:
        """Ends it at once, and waits until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await asyncio.wait(self._tasks)
        # The transport's pipes are closed here rather than by the garbage collector after the loop is gone.
        cast(Any, self._process)._transport.close()

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        trouble = ""
        try:
            while True:
                message = await frames.receive(self._process.stdout, Part | Last)
                if isinstance(message, Part):
                    self._on_part(message)
                elif self._answer is not None and not self._answer.done():
                    self._answer.set_result(message)
        except frames.BadFrame as error:
            trouble = f"it spoke nonsense: {error}"
            self._process.kill()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        status = await self._process.wait()
        self.how_it_died.set_result(trouble or _in_words(status))

    async def _keep_log(self) -> None:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(LOG_CHUNK):
            self._log.append(data)


def _ignore(_part: Part) -> None:
    pass


def _in_words(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit code {status}"
