"""A ledger as it was read: its settings, its records, and where their evidence is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from feedback_ledger.errors import Problem
from feedback_ledger.loader import Record, target_of
from feedback_ledger.memory import Memory
from feedback_ledger.model import Finding
from feedback_ledger.redact import Redactor
from feedback_ledger.requirements import described
from feedback_ledger.store import EvidenceStore
from feedback_ledger.targets import Settings, Target


@dataclass(frozen=True)
class Ledger:
    """A folder with findings and reproducers, read once. `settings` are the defaults where the folder has none."""

    root: Path
    settings: Settings
    has_settings: bool
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    store: EvidenceStore
    memory: Memory
    redactor: Redactor

    def target(self, finding: Finding) -> Target:
        """The settings of a finding's target."""
        return target_of(self.settings if self.has_settings else None, finding.target)

    def needed(self, finding: Finding) -> list[str]:
        """What the finding's requirements and fixtures are, in words."""
        needs = self.settings.requirements
        return [described(needs[name]) if name in needs else self._fixture(name) for name in finding.requires]

    def _fixture(self, name: str) -> str:
        """A fixture in words: running a reproducer by hand takes such a server, and the variables to reach it."""
        exports = ", ".join(f"`{variable}`" for variable in self.settings.fixtures[name].exports)
        return f"the fixture `{name}`" + (f", a server that is reached by {exports}" if exports else "")

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.settings.title
