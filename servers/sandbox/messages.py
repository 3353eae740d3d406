"""What a server and its worker say to each other. One request at a time; its answers end with one `Last`."""

from typing import Literal

import msgspec

from servers.refusal import Code

Stream = Literal["stdout", "stderr"]


class Message(msgspec.Struct, tag=True, forbid_unknown_fields=True):
    """Everything that goes through the pipe."""


class ModuleFile(msgspec.Struct, frozen=True):
    """A WebAssembly module on disk, and what its bytes must hash to.

    `stack_top` is where its stack begins, if that has to be enlarged.
    """

    command: str
    path: str
    sha256: str
    stack_top: int | None = None


# ---- to the worker


class Setup(Message):
    """The first message: what the sandbox is. Answered by `Progress`, then `Ready`."""

    network: Literal["disabled", "host"]
    cache: str
    cache_is_temporary: bool
    server_pid: int
    modules: tuple[ModuleFile, ...]
    registry: dict[str, str]
    memory_bytes: int
    file_bytes: int
    workspace_bytes: int
    workspace_files: int
    output_bytes: int


class Restore(Message):
    """A file (or, without data, a folder) that the workspace had before. Answered by `Done`."""

    path: str
    data: bytes | None


class Run(Message):
    """A command. Answered by `Output`, then `Ended`."""

    command: str
    args: tuple[str, ...]
    stdin: bytes
    env: dict[str, str]
    cwd: str


class Stop(Message):
    """Ends the guest of the `Run` in progress; has no answer of its own."""


class Write(Message):
    """Answered by `Done`."""

    path: str
    data: bytes


class Read(Message):
    """Answered by `Content`."""

    path: str
    offset: int
    length: int


class ListFolder(Message):
    """Answered by `Listing`."""

    path: str


class Sync(Message):
    """What changed since the last one. Answered by `Changed`, then `Synced`."""


class Install(Message):
    """A registry name, or the bytes of a `.wasm` (as the command `name`) or `.webc`. `Progress`, then `Installed`."""

    name: str
    data: bytes | None


# ---- from the worker


class Progress(Message):
    """Something that takes long goes on."""

    text: str
    done: int = 0
    total: int = 0


class Output(Message):
    """What a guest wrote, up to the limit."""

    stream: Stream
    data: bytes


class Changed(Message):
    """A file with its contents, or a folder."""

    path: str
    data: bytes | None


class Usage(msgspec.Struct, frozen=True):
    """What the workspace holds. `over` is the limit that it breaks, in words; empty if none."""

    files: int
    size: int
    over: str = ""


class Ready(Message):
    """The sandbox takes requests."""

    sdk: str
    commands: tuple[str, ...]


class Done(Message):
    """It was done."""


class Ended(Message):
    """A guest ended. `exit_code` is None if it trapped or was stopped; not `exact`, it may be the low byte only.

    `may_burn` if a program was ended on the way that may go on using a core.
    """

    how: Literal["exited", "trapped", "stopped"]
    exit_code: int | None
    exact: bool
    may_burn: bool
    detail: str
    stdout_bytes: int
    stderr_bytes: int
    usage: Usage


class Content(Message):
    """A piece of a file, and the size of the whole, in bytes."""

    data: bytes
    size: int


class Entry(msgspec.Struct, frozen=True):
    """One thing in a folder."""

    name: str
    kind: Literal["file", "directory"]
    size: int


class Listing(Message):
    """A folder, sorted by name."""

    entries: tuple[Entry, ...]


class Synced(Message):
    """All changes were sent. `unreadable` are links and the like, which cannot be carried over."""

    removed: tuple[str, ...]
    unreadable: tuple[str, ...]
    usage: Usage


class Installed(Message):
    """The commands that the package added; whether they can start programs that outlive them."""

    commands: tuple[str, ...]
    can_spawn: bool


class Refused(Message):
    """A request that could not be done, for a reason that the user can do something about."""

    code: Code
    message: str
    hint: str


Request = Setup | Restore | Run | Stop | Write | Read | ListFolder | Sync | Install
Part = Progress | Output | Changed
Last = Ready | Done | Ended | Content | Listing | Synced | Installed | Refused
