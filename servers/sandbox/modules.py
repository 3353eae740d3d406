"""From WebAssembly to packages of the SDK: made in memory, limited, compiled once."""

import contextlib
import fcntl
import hashlib
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

from wasmer_sdk import Package, PackageCommandDefinition, PackageDefinition, Wasmer

from servers.sandbox.channel import Channel, teller
from servers.sandbox.guests import FOLDER
from servers.sandbox.messages import Install, ModuleFile, Setup
from servers.sandbox.wasm import HEADER, NotAModule, with_memory_limit, with_stack
from servers.workarounds import workaround

SDK_VERSION = importlib.metadata.version("wasmer-sdk")
MORE_STACK_BYTES = 4 << 20
WASIX = b"wasix_32v1"
GUEST = Path(__file__).parent / "guest"


async def own_package(wasmer: Wasmer, setup: Setup) -> Package:
    """The runtimes and what they need, made in memory: a package from a folder could show the host's files."""
    modules = {one.command: _limited(one, setup.memory_bytes) for one in setup.modules}
    parts = ("start.py", "cwd.js", "inspect.js", "shell/shell.js")
    files = {f"{FOLDER}/{Path(part).name}": (GUEST / part).read_bytes() for part in parts}
    if workaround("F-043"):
        files[f"{FOLDER}/site/sitecustomize.py"] = (GUEST / "sitecustomize.py").read_bytes()
    commands = {name: PackageCommandDefinition(module=name) for name in modules}
    return await wasmer.packages.create(PackageDefinition(modules=modules, commands=commands, files=files))


def _limited(one: ModuleFile, memory_bytes: int) -> bytes:
    module = _checked(one)
    if one.stack_top is not None:
        module = with_stack(module, one.stack_top, MORE_STACK_BYTES)
    return with_memory_limit(module, memory_bytes)


def _checked(one: ModuleFile) -> bytes:
    data = Path(one.path).read_bytes()
    if hashlib.sha256(data).hexdigest() != one.sha256:
        raise NotAModule(f"the runtime for {one.command} is not the one that was published: its sha256 differs")
    return data


async def load(wasmer: Wasmer, channel: Channel, request: Install, memory_bytes: int) -> Package:
    """A package from the registry, or from bytes; a plain module becomes one with a single command."""
    if request.data is None:
        return await wasmer.packages.load(request.name, on_progress=teller(channel, request.name))
    if not request.data.startswith(HEADER):
        return await wasmer.packages.load(request.data)
    module = with_memory_limit(request.data, memory_bytes)
    commands = {request.name: PackageCommandDefinition(module="main")}
    return await wasmer.packages.create(PackageDefinition(modules={"main": module}, commands=commands))


def can_spawn(request: Install) -> bool:
    """Whether what it installs can start programs that outlive it. Of a package we do not know what is in it."""
    return request.data is None or not request.data.startswith(HEADER) or WASIX in request.data


@contextlib.contextmanager
def compiling_alone(setup: Setup) -> Iterator[None]:
    """Held while modules are compiled, so that two workers do not compile the same one at once."""
    cache = Path(setup.cache)
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = (SDK_VERSION, MORE_STACK_BYTES, setup.memory_bytes, *(one.sha256 for one in setup.modules))
    warmed = cache / f"warmed-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}"
    with contextlib.ExitStack() as held:
        # Where the lock or the mark cannot be written, both compile: slower, and right.
        if not warmed.exists():
            with contextlib.suppress(OSError):
                lock = held.enter_context((cache / "compiling.lock").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        with contextlib.suppress(OSError):
            warmed.touch()
