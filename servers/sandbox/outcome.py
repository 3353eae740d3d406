"""What a sandbox tells: values only."""

from dataclasses import dataclass
from enum import StrEnum


class Network(StrEnum):
    """What a guest may reach. It is fixed when a sandbox is made, so each policy has a sandbox of its own."""

    DISABLED = "disabled"
    HOST = "host"


class Outcome(StrEnum):
    """How a command ended."""

    EXITED = "exited"
    TRAPPED = "trapped"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"


class Files(StrEnum):
    """What became of the workspace: as the command left it, or put back to how it was before."""

    KEPT = "kept"
    RESTORED = "restored"


class Health(StrEnum):
    """What a call would meet."""

    READY = "ready"
    BUSY = "busy"
    WARMING = "warming"
    FAILED = "failed"


@dataclass(frozen=True)
class Ran:
    """A command that ran. Output is what was kept of it, up to the limit; `*_bytes` is how much there was."""

    outcome: Outcome
    exit_code: int | None
    exit_code_is_exact: bool
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    duration_s: float
    files: Files
    note: str


@dataclass(frozen=True)
class State:
    """What can be told of a sandbox without asking its worker."""

    network: Network
    health: Health
    detail: str
    waiting: int
    restarts: int
    files: int
    workspace_bytes: int
    memory_bytes: int
    commands: tuple[str, ...]
    sdk: str
