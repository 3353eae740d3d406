"""The program of a worker: one sandbox of the SDK, driven by messages on stdin, answering on what was its stdout.

The SDK runs here and nowhere else, because one line of a guest can abort, deadlock or burn the process that holds it.
"""

import asyncio
import ctypes
import os
import resource
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvloop
from wasmer_sdk import Sandbox, Wasmer, WasmerError

from servers.refusal import Code
from servers.sandbox.channel import Channel, open_channel, teller
from servers.sandbox.guests import FOLDER, Guests
from servers.sandbox.messages import (
    Done,
    Ended,
    Install,
    Installed,
    ListFolder,
    Listing,
    Message,
    Output,
    Progress,
    Read,
    Ready,
    Refused,
    Request,
    Restore,
    Run,
    Setup,
    Stop,
    Sync,
    Write,
)
from servers.sandbox.modules import SDK_VERSION, can_spawn, compiling_alone, load, own_package
from servers.sandbox.paths import WORKSPACE
from servers.sandbox.wasm import NotAModule
from servers.sandbox.workspace import Workspace
from servers.workarounds import workaround

ENV = {
    "PYTHONPATH": f"{FOLDER}/site",
    "PYTHONUTF8": "1",
    "HOME": WORKSPACE,
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
}
if workaround("F-173"):
    ENV["PYTHONDONTWRITEBYTECODE"] = "1"  # compiled code would be taken for that of a file written anew since


class Server:
    """Answers requests, one after the other."""

    def __init__(self, channel: Channel, wasmer: Wasmer, sandbox: Sandbox, guests: Guests, setup: Setup) -> None:
        self._channel = channel
        self._wasmer = wasmer
        self._sandbox = sandbox
        self._guests = guests
        self._setup = setup
        self._workspace = Workspace(sandbox.fs, setup)

    async def forever(self) -> None:
        """Until the server closes the pipe."""
        serving: asyncio.Task[None] | None = None
        while True:
            request = await self._channel.receive()
            if isinstance(request, Stop):
                await self._guests.stop()
                continue
            if serving is not None:
                await serving
            serving = asyncio.create_task(self._serve(request))
            serving.add_done_callback(_die_of_errors)

    async def _serve(self, request: Request) -> None:
        try:
            async for message in self._answers(request):
                await self._channel.send(message)
        except WasmerError as error:
            text = str(error).splitlines()[0]
            await self._channel.send(
                Refused(Code.NOT_AVAILABLE, f"the sandbox refused: {text}", "Change what you asked for.")
            )

    async def _answers(self, request: Request) -> AsyncIterator[Message]:
        match request:
            case Run():
                yield await self._run(request)
            case Write():
                yield await self._workspace.write(request) or Done()
            case Restore():
                await self._workspace.restore(request.path, request.data)
                yield Done()
            case Read():
                yield await self._workspace.read(request)
            case ListFolder():
                entries = await self._workspace.listing(request)
                yield entries if isinstance(entries, Refused) else Listing(entries)
            case Sync():
                async for change in self._workspace.sync():
                    yield change
            case Install():
                yield await self._install(request)
            case Setup() | Stop():
                raise AssertionError(request)

    async def _run(self, request: Run) -> Message:
        finished = await self._guests.run(request, lambda stream, data: self._channel.send_soon(Output(stream, data)))
        if isinstance(finished, Refused):
            return finished
        end = finished.exit
        return Ended(
            how="stopped" if finished.stopped else "trapped" if end.trap else "exited",
            exit_code=None if finished.stopped else end.code,
            exact=end.exact,
            may_burn=finished.may_burn,
            detail=end.trap,
            stdout_bytes=finished.stdout_bytes,
            stderr_bytes=finished.stderr_bytes,
            usage=await self._workspace.usage(),
        )

    async def _install(self, request: Install) -> Message:
        try:
            package = await load(self._wasmer, self._channel, request, self._setup.memory_bytes)
        except NotAModule as error:
            return Refused(
                Code.INVALID_ARGUMENTS, str(error), "Give a .wasm file of a WASI program, or a .webc package."
            )
        except WasmerError as error:
            if request.data is not None:
                what = f"{request.name}: neither a WebAssembly module nor a package of Wasmer's"
                return Refused(Code.INVALID_ARGUMENTS, what, "Give a .wasm file of a WASI program, or a .webc package.")
            hint = "Check the name and the network, or install a .wasm file from an allowed folder."
            return Refused(Code.NOT_AVAILABLE, f"{request.name}: {str(error).splitlines()[0]}", hint)
        if taken := sorted(set(package.commands) & set(self._guests.commands)):
            return Refused(
                Code.INVALID_ARGUMENTS,
                f"the command {taken[0]!r} is there already",
                "Reset the sandbox, or use it as it is.",
            )
        if not package.commands:
            return Refused(Code.INVALID_ARGUMENTS, "the package has no commands", "Install one that has.")
        await self._sandbox.install_package(package)
        self._guests.installed |= set(package.commands)
        return Installed(package.commands, can_spawn(request))


async def _start(channel: Channel, setup: Setup) -> Server | Refused:
    try:
        with compiling_alone(setup):
            wasmer = Wasmer(cache_root=setup.cache)
            await channel.send(Progress("loading the runtimes"))
            if setup.registry:
                names = list(setup.registry.values())
                packages = await wasmer.packages.load_many(names, on_progress=teller(channel, "the runtimes"))
            else:
                packages = [await own_package(wasmer, setup)]
            env = ENV if setup.modules else {}
            sandbox = await wasmer.sandboxes.create(packages=packages, env=env, network=setup.network)
            await sandbox.fs.mkdir(WORKSPACE, recursive=True)
            own = frozenset(one.command for one in setup.modules) | ({"sh"} if setup.modules else set())
            guests = Guests(sandbox, own, ENV, setup.output_bytes)
            for one in setup.modules:
                await channel.send(Progress(f"compiling {one.command}"))
                await guests.warm(one.command)
            guests.start_ahead()
    except NotAModule as error:
        return Refused(Code.NOT_AVAILABLE, str(error), "Install the server's packages again.")
    except (WasmerError, OSError) as error:
        hint = "Check the network and the cache folder; WASMER_SANDBOX_RUNTIMES=wheels needs neither a registry."
        return Refused(Code.NOT_AVAILABLE, _reason(error), hint)
    if setup.registry:
        guests.installed |= {command for package in packages for command in package.commands}
    return Server(channel, wasmer, sandbox, guests, setup)


def _reason(error: WasmerError | OSError) -> str:
    """In one line, without this machine's paths."""
    if isinstance(error, OSError) and error.filename:
        return f"{Path(os.fsdecode(error.filename)).name}: {error.strerror}"
    return str(error).splitlines()[0]


def _die_of_errors(task: "asyncio.Task[None]") -> None:
    """An error of the worker's own ends it; the server starts another."""
    if not task.cancelled() and (error := task.exception()) is not None:
        sys.excepthook(type(error), error, error.__traceback__)
        os._exit(70)


def _die_with_the_server() -> None:
    """On Linux the kernel sees to it, even if this process hangs; elsewhere the end of the pipe does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


async def _work() -> None:
    channel = await open_channel()
    setup = await channel.receive()
    assert isinstance(setup, Setup)
    if not setup.cache_is_temporary:
        _die_with_the_server()
    try:
        server = await _start(channel, setup)
        if isinstance(server, Refused):
            await channel.send(server)
            return
        await channel.send(Ready(sdk=SDK_VERSION, commands=server._guests.commands))
        await server.forever()
    finally:
        if setup.cache_is_temporary and os.getppid() != setup.server_pid:
            shutil.rmtree(setup.cache, ignore_errors=True)


def main() -> None:
    """Ends without the interpreter's own exit, which the SDK's threads turn into an abort now and then."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    status = 0
    try:
        uvloop.run(_work())
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 70
    os._exit(status)
