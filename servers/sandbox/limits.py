"""What a guest may use up."""

import os
from dataclasses import dataclass, fields

MIB = 1 << 20
PREFIX = "WASMER_SANDBOX_"
WORKER_OWN_BYTES = 640 * MIB


class BadLimit(ValueError):
    """A limit in the environment that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Limits:
    """Limits of one sandbox. Sizes are in bytes, times in seconds."""

    time_s: float = 30.0
    longest_s: float = 600.0
    memory_bytes: int = 256 * MIB
    output_bytes: int = MIB
    file_bytes: int = 50 * MIB
    workspace_bytes: int = 100 * MIB
    workspace_files: int = 10_000
    queue: int = 1_000

    @property
    def worker_bytes(self) -> int:
        """What a worker may hold in memory: the runtimes, two guests, and the workspace while it is copied."""
        return WORKER_OWN_BYTES + 2 * self.memory_bytes + 3 * self.workspace_bytes


def from_environment() -> Limits:
    """The limits with what `WASMER_SANDBOX_TIME_S`, `WASMER_SANDBOX_MEMORY_BYTES` and so on change."""
    changed: dict[str, float] = {}
    for field in fields(Limits):
        name = PREFIX + field.name.upper()
        if (text := os.environ.get(name)) is None:
            continue
        try:
            changed[field.name] = float(text) if isinstance(field.default, float) else int(text)
        except ValueError:
            raise BadLimit(f"{name}: {text!r} is not a number; write one, such as {field.default}") from None
        if not 0 < changed[field.name] < 1 << 40:
            raise BadLimit(f"{name}: {text} is out of range; write a positive number, such as {field.default}")
    return Limits(**changed)  # type: ignore[arg-type]
