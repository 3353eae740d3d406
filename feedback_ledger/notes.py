"""What was already run on this machine and needs no second run, in `.ledger/runs/`. Losing it costs time only."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from feedback_ledger import __version__
from feedback_ledger.book import Ledger
from feedback_ledger.compare import facts
from feedback_ledger.files import write_whole
from feedback_ledger.loader import Record
from feedback_ledger.model import Evidence


class Notes:
    """One note for each finding and release."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._folder = ledger.root / ".ledger" / "runs"

    def up_to_date(self, record: Record, release: str | None, evidence: Evidence) -> bool:
        """Whether the same program was run here on the same release under the same settings, and its evidence is
        untouched.
        """
        try:
            note = json.loads(self._path(record, release).read_text(encoding="utf-8"))
            program = record.reproducer.read_bytes()
        except (OSError, ValueError):
            return False
        return bool(note == self._note(record, evidence, hashlib.sha256(program).hexdigest()))

    def remember(self, record: Record, release: str | None, evidence: Evidence) -> None:
        """Notes that `evidence`, as it is stored, is what a run on this machine has just shown."""
        note = self._note(record, evidence, evidence.reproducer_sha256)
        write_whole(self._path(record, release), json.dumps(note))

    def _path(self, record: Record, release: str | None) -> Path:
        evidence = self._ledger.store.path(record.stem, record.finding.target, release)
        return self._folder / record.stem / f"{evidence.stem}.json"

    def _note(self, record: Record, evidence: Evidence, reproducer_sha256: str) -> dict[str, str]:
        settings = self._ledger.settings
        said = [
            __version__,
            record.finding.reproducer.model_dump_json(),
            [
                (name, str(settings.requirements.get(name)), str(settings.fixtures.get(name)))
                for name in record.finding.requires
            ],
            self._ledger.target(record.finding).model_dump_json(include={"package", "companions", "folders"}),
            sys.version_info[:2],
            settings.output_limit,
        ]
        return {
            "reproducer": reproducer_sha256,
            # two ledgers at once may each write a capture that differs from the other's in durations alone
            "evidence": hashlib.sha256(repr((facts(evidence), evidence.runs)).encode()).hexdigest(),
            "settings": hashlib.sha256(json.dumps(said).encode()).hexdigest(),
        }
