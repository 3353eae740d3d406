"""Programs inside a sandbox: started, fed, listened to, stopped. Runs in the worker."""

import asyncio
import functools
import marshal
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec
from wasmer_sdk import Process, Sandbox, WasmerError

from servers.refusal import Code, Refusal
from servers.sandbox.messages import Refused, Run, Stream
from servers.sandbox.paths import WORKSPACE, in_workspace
from servers.sandbox.programs import Budget, Emit, Exit, Programs
from servers.sandbox.shell import Host, Nested, converse
from servers.workarounds import workaround

FOLDER = "/opt/sandbox"
TOLD_IN_FILE = 222
NESTED_OUTPUT_BYTES = 16 << 20
TRAPPED_CODE = 134
TIMED_OUT_CODE = 124
ALSO = {"python3": "python", "bash": "sh"}
INFORMATION = ("-V", "--version", "-h", "--help", "-?")
MARSHAL_VERSION = 2
NO_ENV: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Finished:
    """How a command ended, and how much it wrote, in bytes.

    `may_burn` if a program was ended that may go on using a core.
    """

    exit: Exit
    stopped: bool
    may_burn: bool
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
        self._programs = Programs()
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
        self._programs = Programs()
        budget = Budget(emit, self._output_bytes)
        try:
            ended = await self._dispatch(request, budget)
        finally:
            self.start_ahead()
        programs = self._programs
        return Finished(ended, programs.stopped, programs.ended_early, budget.total["stdout"], budget.total["stderr"])

    async def stop(self) -> None:
        """Ends the command in progress."""
        await self._programs.stop()

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
        return await self._programs.attend(process, emit, talk)

    async def _remove(self, path: str, recursive: bool) -> bool:
        if isinstance(in_workspace(path), Refusal) or path == WORKSPACE:
            return False
        try:
            await self._sandbox.fs.remove(path, recursive=recursive)
        except WasmerError:
            return False
        return True

    async def _nested(self, request: Run, time_s: float | None) -> Nested:
        """A program that a shell asked for; its output goes back to the shell."""
        heard: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}

        async def hear(stream: Stream, data: bytes) -> None:
            heard[stream] += data

        budget = Budget(hear, NESTED_OUTPUT_BYTES)
        cwd = request.cwd if await self._is_folder(request.cwd) else WORKSPACE
        env = {name: value for name, value in request.env.items() if self._env.get(name) != value}
        async with self._programs.limited(time_s) as over:
            ended = await self._dispatch(Run(request.command, request.args, request.stdin, env, cwd), budget)
        code = TRAPPED_CODE if ended.code is None else ended.code & 0xFF
        if over.is_set():
            code = TIMED_OUT_CODE
        elif ended.code is None:
            heard["stderr"] += f"{request.command}: ended by a trap: {ended.trap}\n".encode()
        if (written := max(budget.total.values())) > NESTED_OUTPUT_BYTES:
            # Whoever reads less than there was must be able to know.
            what = (
                f"wrote {written:,} bytes, of which a shell takes {NESTED_OUTPUT_BYTES:,}; let it write a file itself"
            )
            heard["stderr"] += f"{request.command}: {what}\n".encode()
            code = code or 1
        return Nested(bytes(heard["stdout"]), bytes(heard["stderr"]), code)

    async def _cold(self, command: str, args: tuple[str, ...], request: Run, emit: Emit, **more: str) -> Exit:
        env = self._env | request.env | more
        started = self._sandbox.command(command, args, cwd=request.cwd, env=env)
        process = await started.spawn(stdin="pipe" if request.stdin else "closed")
        return await self._programs.serve(process, request.stdin, emit)

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
        ended = await self._programs.serve(process, b"%010d%s%s" % (len(head), head, request.stdin), emit)
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


def _split_options(args: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The interpreter's own options, and what it is to run."""
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] not in ("-", "-c", "-m"):
        at += 2 if args[at] in ("-X", "-W", "--check-hash-based-pycs") else 1
    return args[:at], args[at:]


async def _nowhere(_stream: Stream, _data: bytes) -> None:
    pass
