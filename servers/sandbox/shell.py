"""The host's side of the shell: a guest that prints JSON lines, some of which ask for another program to be run.

The shell is JavaScript in QuickJS, which cannot start a module. So it says what to run, and is told how that went.
"""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import msgspec
from wasmer_sdk import Process, ReadableBytes

from servers.sandbox.messages import Run, Stream

LONGEST_LINE = 64 << 20


class Spoken(msgspec.Struct, tag_field="type"):
    """A line of the shell."""


class Wrote(Spoken, tag="output"):
    """Something for the caller."""

    stream: Stream
    data: str


class Wants(Spoken, tag="run"):
    """A command that is not the shell's own, with the seconds that it may take, if there is a limit."""

    id: int
    command: str
    args: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    stdin: str
    time_s: float | None = None


class Removes(Spoken, tag="remove"):
    """A folder to be removed, which QuickJS cannot do."""

    id: int
    path: str
    recursive: bool


class Ends(Spoken, tag="exit"):
    """The last line. `modes` are there if a `chmod` changed one."""

    exit_code: int
    modes: dict[str, int] | None = None


class Begin(msgspec.Struct):
    """What the shell is told first."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    stdin: bytes
    commands: tuple[str, ...]
    modes: dict[str, int]
    remove: bool = True


class Reply(msgspec.Struct):
    """How a command went that the shell asked for."""

    id: int
    stdout: bytes
    stderr: bytes
    exit_code: int


class Removed(msgspec.Struct):
    """Whether a folder is gone; anything but 0 says that it is not."""

    id: int
    exit_code: int


@dataclass(frozen=True)
class Nested:
    """A program that ran for the shell."""

    stdout: bytes
    stderr: bytes
    exit_code: int


@dataclass(frozen=True)
class Host:
    """What a shell gets done: its output passed on, programs run, a folder removed (True if it is gone)."""

    emit: Callable[[Stream, bytes], Awaitable[None]]
    run: Callable[[Run, float | None], Awaitable[Nested]]
    remove: Callable[[str, bool], Awaitable[bool]]


async def converse(
    process: Process, request: Run, commands: tuple[str, ...], modes: dict[str, int], host: Host
) -> int | None:
    """Talks with the shell until it ends. The answer is its exit code, or None if it never said one.

    `modes` are the permission bits that the shell set, by path. The file system keeps none, so they are kept here.
    """
    assert process.stdin is not None and process.stdout is not None

    async def tell(line: msgspec.Struct) -> None:
        assert process.stdin is not None
        await process.stdin.write(msgspec.json.encode(line) + b"\n")

    await tell(Begin(request.args, request.cwd, request.env, request.stdin, commands, modes))
    async for line in _lines(process.stdout):
        match msgspec.json.decode(line, type=Wrote | Wants | Removes | Ends):
            case Wrote(stream, data):
                await host.emit(stream, base64.b64decode(data))
            case Wants() as wants:
                stdin = base64.b64decode(wants.stdin)
                request = Run(wants.command, wants.args, stdin, wants.env, wants.cwd)
                nested = await host.run(request, wants.time_s)
                await tell(Reply(wants.id, nested.stdout, nested.stderr, nested.exit_code))
            case Removes(number, path, recursive):
                await tell(Removed(number, 0 if await host.remove(path, recursive) else 1))
            case Ends(exit_code, changed):
                modes.update(changed or {})
                return exit_code
    return None


async def _lines(stream: ReadableBytes) -> AsyncIterator[bytes]:
    pending = bytearray()
    async for data in stream:
        pending += data
        if len(pending) > LONGEST_LINE:
            raise msgspec.DecodeError(f"a line of more than {LONGEST_LINE} bytes")
        *whole, rest = pending.split(b"\n")
        for line in whole:
            yield bytes(line)
        pending = bytearray(rest)
