"""What a workspace held when its worker last told: all that is left of it when a guest takes its worker down."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from servers.sandbox.messages import Changed, Restore, Synced
from servers.sandbox.paths import WORKSPACE


@dataclass
class Journal:
    """Files by path, folders, and the links that cannot be carried over."""

    files: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    links: tuple[str, ...] = ()

    def change(self, change: Changed) -> None:
        """Notes one file or folder."""
        if change.data is None:
            self.folders.add(change.path)
        else:
            self.files[change.path] = change.data

    def missing_folders(self, path: str) -> list[str]:
        """The folders that a file of this path needs and that are not there."""
        above = itertools.takewhile(lambda folder: folder != WORKSPACE, map(str, PurePosixPath(path).parents))
        return [folder for folder in above if folder not in self.folders]

    def write(self, path: str, data: bytes) -> None:
        """Notes a file, and the folders that were made for it."""
        self.folders.update(self.missing_folders(path))
        self.files[path] = data

    def finish(self, synced: Synced) -> None:
        """Notes the links, and forgets what is gone."""
        self.links = synced.unreadable
        for path in synced.removed:
            self.files.pop(path, None)
            self.folders.discard(path)

    def restoring(self) -> Iterator[Restore]:
        """What puts everything back, folders first."""
        for folder in sorted(self.folders):
            yield Restore(folder, None)
        for path, data in self.files.items():
            yield Restore(path, data)

    @property
    def is_empty(self) -> bool:
        """Whether the workspace held nothing."""
        return not self.files and not self.folders

    @property
    def size(self) -> int:
        """Bytes in files."""
        return sum(map(len, self.files.values()))
