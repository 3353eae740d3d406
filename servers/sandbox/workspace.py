"""The files of a sandbox, seen from inside its worker: walked, measured, changed, and told to the server."""

import asyncio
import hashlib
import itertools
import posixpath
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from wasmer_sdk import SandboxFileSystem, WasmerError

from servers.refusal import Code
from servers.sandbox.messages import Changed, Content, Entry, ListFolder, Read, Refused, Setup, Synced, Usage, Write
from servers.sandbox.paths import DEEPEST, WORKSPACE
from servers.workarounds import workaround

# A read hands over to a thread of the SDK's and back: with some on their way neither waits for the other.
READ_AT_ONCE = 16


@dataclass
class Tree:
    """A walk: every file's size, every folder."""

    files: dict[str, int] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    over: str = ""


class Workspace:
    """The files below `/workspace`. Remembers what the server has been told, as digests."""

    def __init__(self, fs: SandboxFileSystem, setup: Setup) -> None:
        self._fs = fs
        self._setup = setup
        self._told: dict[str, bytes] = {}
        self._seen: Tree | None = None

    async def kind(self, path: str) -> str | None:
        """`file`, `directory`, or None for what is not there."""
        try:
            return (await self._fs.stat(path)).kind
        except WasmerError:
            return None

    async def write(self, request: Write) -> Refused | None:
        """Writes a file, and makes the folders it is in."""
        self._seen = None
        if refused := await self._why_not_here(request.path):
            return refused
        await self._fs.mkdir(posixpath.dirname(request.path), recursive=True)
        await self._fs.write(request.path, request.data)
        self._told[request.path] = _digest(request.data)
        # The server knows of these as well: it asked for the file.
        for folder in map(str, PurePosixPath(request.path).parents):
            if folder.startswith(f"{WORKSPACE}/"):
                self._told.setdefault(folder, b"")
        return None

    async def _why_not_here(self, path: str) -> Refused | None:
        if not workaround("F-066"):
            return None
        if await self.kind(path) == "directory":
            return Refused(Code.INVALID_ARGUMENTS, f"{path} is a folder", "Give another name to the file.")
        above = posixpath.dirname(path)
        while above != WORKSPACE:
            match await self.kind(above):
                case "file":
                    return Refused(Code.INVALID_ARGUMENTS, f"{above} is a file", "Give the file another folder.")
                case "directory":
                    return None
            above = posixpath.dirname(above)
        return None

    async def restore(self, path: str, data: bytes | None) -> None:
        """Puts back what the workspace had."""
        if data is None:
            await self._fs.mkdir(path, recursive=True)
            self._told[path] = b""
        else:
            await self._fs.mkdir(posixpath.dirname(path), recursive=True)
            await self._fs.write(path, data)
            self._told[path] = _digest(data)

    async def read(self, request: Read) -> Content | Refused:
        """A piece of a file."""
        match await self.kind(request.path):
            case None:
                hint = (
                    "List the folder it should be in with list_sandbox_dir; each network policy has files of its own."
                )
                return Refused(Code.NOT_FOUND, f"there is no {request.path}", hint)
            case "directory":
                return Refused(Code.INVALID_ARGUMENTS, f"{request.path} is a folder", "List it with list_sandbox_dir.")
        try:
            data = await self._fs.read(request.path)
        except WasmerError:
            return Refused(Code.NOT_AVAILABLE, f"{request.path} is a link", "Read the file that it points to.")
        return Content(data[request.offset : request.offset + request.length], len(data))

    async def listing(self, request: ListFolder) -> tuple[Entry, ...] | Refused:
        """What a folder holds, sorted by name."""
        match await self.kind(request.path):
            case None:
                hint = "List /workspace; each network policy has files of its own."
                return Refused(Code.NOT_FOUND, f"there is no {request.path}", hint)
            case "file":
                return Refused(Code.INVALID_ARGUMENTS, f"{request.path} is a file", "Read it with read_sandbox_file.")
        items = await self._fs.read_dir(request.path)
        entries = [Entry(item.name, "directory" if item.kind == "directory" else "file", item.size) for item in items]
        return tuple(sorted(entries, key=lambda entry: entry.name))

    async def usage(self) -> Usage:
        """What the workspace holds, and the limit that it breaks. The next `sync` need not walk again."""
        self._seen = await self._walk()
        return self._measured(self._seen)

    def _measured(self, tree: Tree) -> Usage:
        return Usage(len(tree.files) + len(tree.folders), sum(tree.files.values()), tree.over)

    async def _walk(self) -> Tree:
        """All of it; or, once a limit is broken, what was seen up to there."""
        tree, todo, size = Tree(), [(WORKSPACE, 0)], 0
        while todo and not tree.over:
            folder, depth = todo.pop()
            for item in await self._fs.read_dir(folder):
                path = f"{folder}/{item.name}"
                if item.kind == "directory":
                    tree.folders.append(path)
                    todo.append((path, depth + 1))
                else:
                    tree.files[path] = item.size
                    size += item.size
                    if item.size > self._setup.file_bytes:
                        tree.over = f"{path} has {item.size} bytes; a file may have {self._setup.file_bytes}"
            if depth > DEEPEST:
                tree.over = f"folders are nested more than {DEEPEST} deep"
            elif len(tree.files) + len(tree.folders) > self._setup.workspace_files:
                tree.over = f"it holds more than {self._setup.workspace_files} files and folders"
            elif size > self._setup.workspace_bytes:
                tree.over = tree.over or f"it holds {size} bytes; it may hold {self._setup.workspace_bytes}"
        return tree

    async def _data(self, path: str) -> bytes | None:
        """The contents of a file; None for a link."""
        try:
            return await self._fs.read(path)
        except WasmerError:
            return None

    async def sync(self) -> AsyncIterator[Changed | Synced]:
        """What the server does not know yet, and at last what is gone."""
        tree, self._seen, unreadable = self._seen or await self._walk(), None, []
        if not tree.over:
            for folder in sorted(set(tree.folders) - set(self._told)):
                self._told[folder] = b""
                yield Changed(folder, None)
            paths = iter(tree.files)
            while some := list(itertools.islice(paths, READ_AT_ONCE)):
                for path, data in zip(some, await asyncio.gather(*map(self._data, some)), strict=True):
                    if data is None:
                        unreadable.append(path)
                    elif self._told.get(path) != (digest := _digest(data)):
                        self._told[path] = digest
                        yield Changed(path, data)
        there = set(tree.files) | set(tree.folders)
        gone = tuple(sorted(set(self._told) - there)) if not tree.over else ()
        for path in gone:
            del self._told[path]
        yield Synced(gone, tuple(unreadable), self._measured(tree))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
