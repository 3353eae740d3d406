"""Programs inside a sandbox: started, fed, listened to, stopped. Runs in the worker."""

import asyncio
import contextlib
import functools
import marshal
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from wasmer_sdk import Process, ReadableBytes, Sandbox, WasmerError, WritableBytes

from servers.refusal import Code, Refusal
from servers.sandbox.messages import Refused, Run
from servers.sandbox.paths import WORKSPACE, in_workspace
from servers.sandbox.shell import Host, Nested, converse
from servers.workarounds import workaround

FOLDER = "/opt/sandbox"
TOLD_IN_FILE = 222
CLOSING_S = 0.2
NESTED_OUTPUT_BYTES = 16 << 20
TRAPPED_CODE = 134
ALSO = {"python3": "python", "bash": "sh"}
INFORMATION = ("-V", "--version", "-h", "--help", "-?")
Stream = Literal["stdout", "stderr"]
Emit = Callable[[Stream, bytes], Awaitable[None]]
MARSHAL_VERSION = 2
STDIN_CHUNK = 1 << 20
NO_ENV: Mapping[str, str] = MappingProxyType({})


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


@dataclass(frozen=True)
class Finished:
    """How a command ended, and how much it wrote, in bytes."""

    exit: Exit
    stopped: bool
    stdout_bytes: int
    stderr_bytes: int


class Guests:
    """The programs of one sandbox, one command at a time, with a Python interpreter started ahead."""

    def __init__(self, sandbox: Sandbox, own: frozenset[str], env: Mapping[str, str], output_bytes: int) -> None:
        self._sandbox = sandbox
        self._own = own
        self._env = dict(env)
        self._output_bytes = output_bytes
        self._ahead = {"python"} & own
        self._spares: dict[str, asyncio.Task[Process]] = {}
        self._modes: dict[str, int] = {}
        self._running: set[Process] = set()
        self._stopped = False
        self.installed: set[str] = set()

    @property
    def commands(self) -> tuple[str, ...]:
        """What `run` knows, sorted."""
        return tuple(sorted(self._own | self.installed))

    def start_ahead(self) -> None:
        """Starts the interpreter for the next call, which then need not wait for it."""
        for command in self._ahead - set(self._spares):
            self._spares[command] = asyncio.create_task(self._start(command))

    async def warm(self, command: str) -> None:
        """Runs next to nothing, so that the module is compiled and its pages are in memory."""
        code = {"python": "0", "js": "0", "sh": ":"}[command]
        flag = "-e" if command == "js" else "-c"
        await self.run(Run(command, (flag, code), b"", {}, WORKSPACE), _nowhere)

    async def run(self, request: Run, emit: Emit) -> Finished | Refused:
        """One command, to its end."""
        request = msgspec.structs.replace(request, command=ALSO.get(request.command, request.command))
        if request.command not in self.commands:
            known = ", ".join(self.commands)
            return Refused(
                Code.NOT_FOUND,
                f"there is no command {request.command[:100]!r}",
                f'Use one of: {known}. The rest is in the shell: sh ["-c", "ls -la"].',
            )
        if workaround("F-069") and not await self._is_folder(request.cwd):
            return Refused(Code.NOT_FOUND, f"there is no folder {request.cwd}", "Write a file into it first.")
        self._stopped = False
        budget = Budget(emit, self._output_bytes)
        try:
            ended = await self._dispatch(request, budget)
        finally:
            self.start_ahead()
        return Finished(ended, self._stopped, budget.total["stdout"], budget.total["stderr"])

    async def stop(self) -> None:
        """Ends what runs. A guest that makes no system call goes on burning a core: the worker has to go."""
        self._stopped = True
        for process in self._running:
            with contextlib.suppress(WasmerError):
                await process.kill()

    async def _is_folder(self, path: str) -> bool:
        if path == WORKSPACE:
            return True
        try:
            return (await self._sandbox.fs.stat(path)).kind == "directory"
        except WasmerError:
            return False

    async def _dispatch(self, request: Run, emit: Emit) -> Exit:
        ours = request.command in self._own
        match request.command:
            case "python" if ours:
                return await self._python_call(request, emit)
            case "js" if ours:
                code = ("-e", request.stdin.decode("utf-8", "replace")) if not request.args else request.args
                args = ("--std", "-I", f"{FOLDER}/cwd.js", *code)
                return await self._cold("js", args, request, emit, SANDBOX_CWD=request.cwd)
            case "sh" if ours:
                return await self._shell(request, emit)
            case other:
                return await self._cold(other, request.args, request, emit)

    async def _shell(self, request: Run, emit: Emit) -> Exit:
        """A shell, which asks us for `python`, `js` and the like."""
        process = await self._take("sh")
        full = Run(request.command, request.args, request.stdin, self._env | request.env, request.cwd)
        host = Host(emit, self._nested, self._remove)
        talk = functools.partial(converse, process, full, self.commands, self._modes, host)
        return await self._attend(process, emit, talk)

    async def _remove(self, path: str, recursive: bool) -> bool:
        if isinstance(in_workspace(path), Refusal) or path == WORKSPACE:
            return False
        try:
            await self._sandbox.fs.remove(path, recursive=recursive)
        except WasmerError:
            return False
        return True

    async def _nested(self, request: Run) -> Nested:
        """A program that a shell asked for; its output goes back to the shell."""
        heard: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}

        async def hear(stream: Stream, data: bytes) -> None:
            heard[stream] += data[: max(0, NESTED_OUTPUT_BYTES - len(heard[stream]))]

        cwd = request.cwd if await self._is_folder(request.cwd) else WORKSPACE
        env = {name: value for name, value in request.env.items() if self._env.get(name) != value}
        request = Run(request.command, request.args, request.stdin, env, cwd)
        ended = await self._dispatch(request, hear)
        if ended.code is None:
            heard["stderr"] += f"{request.command}: ended by a trap: {ended.trap}\n".encode()
        code = TRAPPED_CODE if ended.code is None else ended.code & 0xFF
        return Nested(bytes(heard["stdout"]), bytes(heard["stderr"]), code)

    async def _cold(self, command: str, args: tuple[str, ...], request: Run, emit: Emit, **more: str) -> Exit:
        env = self._env | request.env | more
        started = self._sandbox.command(command, args, cwd=request.cwd, env=env)
        process = await started.spawn(stdin="pipe" if request.stdin else "closed")
        return await self._serve(process, request.stdin, emit)

    async def _start(self, command: str, options: tuple[str, ...] = (), env: Mapping[str, str] = NO_ENV) -> Process:
        """An interpreter or a shell that waits for what it is to run."""
        module, program = ("python", ("start.py",)) if command == "python" else ("js", ("--std", "-m", "shell.js"))
        args = [*options, *program[:-1], f"{FOLDER}/{program[-1]}"]
        return await self._sandbox.command(module, args, env=self._env | dict(env)).spawn(stdin="pipe")

    async def _take(self, command: str) -> Process:
        """The one that was started ahead. From the first use on there is always a next one."""
        self._ahead.add(command)
        self.start_ahead()
        process = await self._spares.pop(command)
        self.start_ahead()
        return process

    async def _python_call(self, request: Run, emit: Emit) -> Exit:
        options, args = _split_options(request.args)
        if any(option.startswith(INFORMATION) for option in options):
            return await self._cold("python", request.args, request, emit)
        at_start = {name: value for name, value in request.env.items() if name.startswith("PYTHON")}
        fresh = options or at_start
        process = await (self._start("python", options, at_start) if fresh else self._take("python"))
        told = f"{WORKSPACE}/.exit-{secrets.token_hex(8)}" if workaround("F-045") else ""
        head = marshal.dumps((list(args), request.cwd, request.env, told), MARSHAL_VERSION)
        ended = await self._serve(process, b"%010d%s%s" % (len(head), head, request.stdin), emit)
        code = await self._told(told) if told and ended.code == TOLD_IN_FILE else ended.code
        return Exit(code, ended.trap, exact=bool(told))

    async def _told(self, path: str) -> int:
        """The exit code that does not fit where exit codes go."""
        try:
            code = int(await self._sandbox.fs.read(path))
            await self._sandbox.fs.remove(path)
        except (WasmerError, ValueError):
            return TOLD_IN_FILE
        return code

    async def _serve(self, process: Process, stdin: bytes, emit: Emit) -> Exit:
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

        return await self._attend(process, emit, talk)

    async def _attend(self, process: Process, emit: Emit, talk: Callable[[], Awaitable[int | None]]) -> Exit:
        """Waits for a program, while `talk` minds its stdin and stdout. What `talk` answers goes for its exit code."""
        assert process.stderr is not None
        self._running.add(process)
        if self._stopped:
            await process.kill()
        talking = asyncio.ensure_future(talk())
        hearing = asyncio.create_task(_hear(process.stderr, "stderr", emit))
        try:
            ended = Exit((await process.wait()).exit_code)
        except WasmerError as error:
            ended = Exit(None, _trap(str(error)))
        finally:
            self._running.discard(process)
            _, late = await asyncio.wait({talking, hearing}, timeout=CLOSING_S if self._stopped else None)
            for task in late:
                task.cancel()
        if talking in late or ended.code is None:
            return ended
        said = talking.result()
        return ended if said is None else Exit(said, exact=True)


def _split_options(args: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The interpreter's own options, and what it is to run."""
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] not in ("-", "-c", "-m"):
        at += 2 if args[at] in ("-X", "-W", "--check-hash-based-pycs") else 1
    return args[:at], args[at:]


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


async def _nowhere(_stream: Any, _data: bytes) -> None:
    pass


def _trap(message: str) -> str:
    """The reason of a trap, without the stack of addresses below it."""
    first = message.splitlines()[0] if message else "unknown"
    return first.removeprefix("command execution failed: ").removeprefix("RuntimeError: ")
