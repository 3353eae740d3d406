"""How a session runs: what the command line may choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """How a session runs.

    `runs` overrides the records' own number; `write` is off for `check`; `resume` leaves alone whatever was run here
    and has not changed, and not only what is as recorded.
    """

    jobs: int = 0
    release: str | None = None
    latest: bool = False
    runs: int | None = None
    fresh: bool = False
    resume: bool = False
    recapture: bool = False
    write: bool = True
    also_known_bad: bool = False
