"""The tools of `wasmer-sandbox`, on a pool of sandboxes."""

import functools
import importlib.metadata
import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from servers.local_answers import (
    MOST_READ,
    Args,
    CodeText,
    Encoding,
    EntryAnswer,
    Env,
    FileAnswer,
    FolderAnswer,
    InfoAnswer,
    InstalledAnswer,
    LimitsAnswer,
    NetworkName,
    Path_,
    RanAnswer,
    ResetAnswer,
    SlotAnswer,
    Stdin,
    Timeout,
    WrittenAnswer,
    bytes_of,
    ran_answer,
    shown,
)
from servers.refusal import Code, Refusal
from servers.sandbox import limits, packages, runtimes
from servers.sandbox.messages import Progress, Run
from servers.sandbox.outcome import Network
from servers.sandbox.paths import WORKSPACE, in_workspace
from servers.sandbox.pool import Pool
from servers.workarounds import switched_off

ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def timed(
    tool: Callable[..., Awaitable[RanAnswer | Refusal]], allowed: limits.Limits
) -> Callable[..., Awaitable[RanAnswer | Refusal]]:
    """The tool, publishing the limits on time that the user set."""

    @functools.wraps(tool)
    async def call(*args: Any, **arguments: Any) -> RanAnswer | Refusal:
        return await tool(*args, **arguments)

    signature = inspect.signature(tool, eval_str=True)
    longest = Annotated[Timeout, Field(le=allowed.longest_s)]
    default = min(allowed.time_s, allowed.longest_s)
    parameters = [
        one.replace(annotation=longest, default=default) if one.name == "timeout" else one
        for one in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


class Tools:
    """The tools, on a pool of sandboxes."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def run_python(
        self,
        code: CodeText,
        args: Args = [],  # noqa: B006
        stdin: Stdin = "",
        env: Env = {},  # noqa: B006
        timeout: Timeout = limits.Limits.time_s,
        network: NetworkName = Network.DISABLED,
    ) -> RanAnswer | Refusal:
        """Run Python in a sandbox: CPython with the standard library, no pip, no threads, no subprocesses.

        A fresh interpreter for each call, in /workspace, whose files stay for later calls with the same `network`;
        what is written elsewhere, /tmp included, goes with the call. A non-zero exit code is a normal answer. When the
        time is over, what was printed until then is answered.
        """
        return await self._run("python", ["-c", code, *args], stdin, env, WORKSPACE, timeout, network)

    async def run_command(
        self,
        command: Annotated[str, Field(description="`python`, `js`, `sh`, or what an installed package added.")],
        args: Args = [],  # noqa: B006
        stdin: Stdin = "",
        env: Env = {},  # noqa: B006
        cwd: Annotated[str, Field(description="The folder to run in, below /workspace.")] = WORKSPACE,
        timeout: Timeout = limits.Limits.time_s,
        network: NetworkName = Network.DISABLED,
    ) -> RanAnswer | Refusal:
        """Run a command in a sandbox: python ["main.py"], js ["-e", "console.log(1)"], sh ["-c", "ls | wc -l"].

        `js` is QuickJS, not Node: ES modules, `std` and `os` (as globals, or from "qjs:std" and "qjs:os"). `sh` is a
        shell with the usual text tools (grep, sed, awk, sort, find, jq ...), which starts `python` and `js` as well.
        Files in /workspace stay for later calls with the same `network`; /tmp is each program's own and gone at its
        end. A non-zero exit code is a normal answer.
        """
        return await self._run(command, args, stdin, env, cwd, timeout, network)

    async def write_sandbox_file(
        self,
        path: Path_,
        content: Annotated[str, Field(description="Text, or base64 if `encoding` says so.")],
        encoding: Annotated[Encoding, Field(description="What `content` is.")] = Encoding.TEXT,
        network: NetworkName = Network.DISABLED,
    ) -> WrittenAnswer | Refusal:
        """Write a file into a sandbox, with the folders it is in; one that is there is overwritten.

        Each `network` has files of its own.
        """
        where = in_workspace(path)
        data = bytes_of(content, encoding)
        if isinstance(where, Refusal) or isinstance(data, Refusal):
            return where if isinstance(where, Refusal) else data  # type: ignore[return-value]
        size = await self._pool[network].write(where, data)
        return size if isinstance(size, Refusal) else WrittenAnswer(path=where, size=size)

    async def read_sandbox_file(
        self,
        path: Path_,
        offset: Annotated[
            int,
            Field(
                ge=0,
                le=2**53,
                description="Where to begin, in bytes; `next_offset` of an answer never cuts a character.",
            ),
        ] = 0,
        limit: Annotated[int, Field(ge=1, le=MOST_READ, description="How many bytes at most.")] = MOST_READ,
        encoding: Annotated[
            Encoding | None, Field(description="Text or base64; if left out, text where the bytes are UTF-8.")
        ] = None,
        network: NetworkName = Network.DISABLED,
    ) -> FileAnswer | Refusal:
        """Read a file of a sandbox, whole or a piece: as text, or as base64 for bytes that are no text.

        Each `network` has files of its own.
        """
        where = in_workspace(path)
        if isinstance(where, Refusal):
            return where
        piece = await self._pool[network].read(where, offset, limit)
        if isinstance(piece, Refusal):
            return piece
        encoding, content, taken = shown(piece.data, encoding, more=offset + len(piece.data) < piece.size)
        end = offset + taken
        following = end if taken and end < piece.size else None
        return FileAnswer(
            path=where, encoding=encoding, content=content, offset=offset, size=piece.size, next_offset=following
        )

    async def list_sandbox_dir(
        self, path: Path_ = WORKSPACE, network: NetworkName = Network.DISABLED
    ) -> FolderAnswer | Refusal:
        """List a folder of a sandbox, sorted by name, with the kind and the size of each entry.

        Each `network` has files of its own.
        """
        where = in_workspace(path)
        if isinstance(where, Refusal):
            return where
        entries = await self._pool[network].listing(where)
        if isinstance(entries, Refusal):
            return entries
        return FolderAnswer(
            path=where,
            entries=[EntryAnswer(name=entry.name, kind=entry.kind, size=entry.size) for entry in entries],
        )

    async def install_sandbox_package(
        self,
        package: Annotated[
            str, Field(description="A package of the Wasmer registry such as `wasmer/lua`, or a .wasm or .webc file.")
        ],
        context: Context[Any, Any],
        network: NetworkName = Network.DISABLED,
    ) -> InstalledAnswer | Refusal:
        """Add a package's commands to a sandbox, until it is reset.

        A file has to lie in a folder that the user allowed with WASMER_SANDBOX_PACKAGES; get_sandbox_info lists them.
        Downloads report progress. Each `network` has packages of its own.
        """
        found = packages.find(package)
        if isinstance(found, Refusal):
            return found

        async def tell(progress: Progress) -> None:
            await context.report_progress(progress.done, progress.total or None, progress.text)

        commands = await self._pool[network].install(found, tell)
        return commands if isinstance(commands, Refusal) else InstalledAnswer(commands=list(commands))

    async def get_sandbox_info(self) -> InfoAnswer | Refusal:
        """Tell the sandboxes' health and commands, the versions, the runtimes, the limits, uptime and restarts."""
        states = [slot.state() for slot in self._pool.slots]
        return InfoAnswer(
            version=version(),
            sdk_version=next((state.sdk for state in states if state.sdk), ""),
            runtime_source=self._pool.runtimes.source,
            runtimes=self._pool.runtimes.titles,
            uptime_s=round(self._pool.uptime_s, 1),
            limits=LimitsAnswer(**{name: getattr(self._pool.limits, name) for name in LimitsAnswer.model_fields}),
            sandboxes=[
                SlotAnswer(
                    network=state.network,
                    health=state.health,
                    detail=state.detail,
                    commands=list(state.commands),
                    waiting_calls=state.waiting,
                    restarts=state.restarts,
                    files=state.files,
                    workspace_bytes=state.workspace_bytes,
                    memory_bytes=state.memory_bytes,
                )
                for state in states
            ],
            package_folders=[str(folder) for folder in packages.folders()],
            notes=_notes(self._pool),
        )

    async def reset_sandbox(self, network: NetworkName = Network.DISABLED) -> ResetAnswer | Refusal:
        """Empty a sandbox: all its files and installed packages are gone. The other one stays as it is."""
        removed = await self._pool[network].reset()
        return removed if isinstance(removed, Refusal) else ResetAnswer(network=network, files_removed=removed)

    async def _run(
        self,
        command: str,
        args: list[str],
        stdin: str,
        env: dict[str, str],
        cwd: str,
        timeout: float,
        network: Network,
    ) -> RanAnswer | Refusal:
        where = in_workspace(cwd)
        if isinstance(where, Refusal):
            return where
        if (refusal := _unusable(command, args, env)) is not None:
            return refusal
        request = Run(command, tuple(args), stdin.encode("utf-8", "surrogatepass"), env, where)
        ran = await self._pool[network].run(request, timeout)
        return ran if isinstance(ran, Refusal) else ran_answer(ran)


def _unusable(command: str, args: list[str], env: dict[str, str]) -> Refusal | None:
    """What no program can be given."""
    texts = [command, *(args[2:] if args[:1] == ["-c"] else args), *env, *env.values()]
    if any("\0" in text for text in texts):
        what = "an argument or a variable holds a NUL character, which ends a text there"
        return Refusal(Code.INVALID_ARGUMENTS, what, "Pass it on stdin, or in a file.")
    if bad := [name for name in env if not ENV_NAME.fullmatch(name)]:
        what = f"env: {bad[0]!r} is no name of a variable"
        return Refusal(Code.INVALID_ARGUMENTS, what, "Use letters, digits and underscores.")
    return None


def _notes(pool: Pool) -> list[str]:
    notes = [pool.cache.note] if pool.cache.note else []
    if pool.runtimes.source is runtimes.Source.REGISTRY:
        notes.append("runtimes of the registry keep their own memory limits")
    if off := switched_off():
        notes.append(f"workarounds are switched off: {', '.join(sorted(off))}")
    return notes


@functools.cache
def version() -> str:
    """Of this project."""
    return importlib.metadata.version("wasmer-feedback-ledger")
