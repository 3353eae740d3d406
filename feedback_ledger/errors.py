"""The few ways in which a ledger itself can be wrong.

A reproducer that fails, a package that won't install, a release that does not exist: those are outcomes, and are
values.
What is raised here always ends the command, with one line for each problem and exit code 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong in one file: where, and what to write instead."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        said = f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"
        # A key or a file's name may hold anything; a problem is one line, and does nothing to a terminal.
        return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), said)


_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class LedgerError(Exception):
    """Ends a command with exit code 2; its text is for the person who typed it."""


class BadLedger(LedgerError):
    """Records, settings or published files are wrong; every problem found is in `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(LedgerError):
    """The arguments ask for something that is not there."""


def in_words(error: OSError) -> str:
    """What the system refused, and where it is known, of what."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said
