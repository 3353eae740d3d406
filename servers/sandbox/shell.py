"""The host's side of the shell: a guest that prints JSON lines, some of which ask for another program to be run.

The shell is JavaScript in QuickJS, which cannot start a module. So it says what to run, and is told how that went.
"""

import base64
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import msgspec
from wasmer_sdk import Process, ReadableBytes

from servers.sandbox.messages import Run

LONGEST_LINE = 64 << 20
Stream = Literal["stdout", "stderr"]


class Spoken(msgspec.Struct, tag_field="type"):
    """A line of the shell."""


class Wrote(Spoken, tag="output"):
    """Something for the caller."""

    stream: Stream
    data: str


class Wants(Spoken, tag="run"):
    """A command that is not the shell's own."""

    id: int
    command: str
    args: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    stdin: str


class Ends(Spoken, tag="exit"):
    """The last line."""

    exit_code: int


class Begin(msgspec.Struct):
    """What the shell is told first."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    stdin: bytes
    commands: tuple[str, ...]
    seed: bytes


class Reply(msgspec.Struct):
    """How a command went that the shell asked for."""

    id: int
    stdout: bytes
    stderr: bytes
    exit_code: int


@dataclass(frozen=True)
class Nested:
    """A program that ran for the shell."""

    stdout: bytes
    stderr: bytes
    exit_code: int


async def converse(
    process: Process,
    request: Run,
    commands: tuple[str, ...],
    emit: Callable[[Stream, bytes], Awaitable[None]],
    run: Callable[[Run], Awaitable[Nested]],
) -> int | None:
    """Talks with the shell until it ends. The answer is its exit code, or None if it never said one."""
    assert process.stdin is not None and process.stdout is not None
    begin = Begin(request.args, request.cwd, request.env, request.stdin, commands, secrets.token_bytes(32))
    await process.stdin.write(msgspec.json.encode(begin) + b"\n")
    async for line in _lines(process.stdout):
        match msgspec.json.decode(line, type=Wrote | Wants | Ends):
            case Wrote(stream, data):
                await emit(stream, base64.b64decode(data))
            case Wants() as wants:
                stdin = base64.b64decode(wants.stdin)
                nested = await run(Run(wants.command, wants.args, stdin, wants.env, wants.cwd))
                reply = Reply(wants.id, nested.stdout, nested.stderr, nested.exit_code)
                await process.stdin.write(msgspec.json.encode(reply) + b"\n")
            case Ends(exit_code):
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
