"""Reads and writes evidence, and the notes on what was already run here. Every write is whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from feedback_ledger.documents import read_text
from feedback_ledger.dumping import dump
from feedback_ledger.errors import BadLedger, Problem
from feedback_ledger.files import write_whole
from feedback_ledger.memory import Memory
from feedback_ledger.model import Cut, Evidence, Observation

_HEAD = "# Captured by feedback-ledger; run the reproducer again instead of editing this.\n"


class EvidenceStore:
    """The evidence below `findings/evidence/` of one ledger."""

    def __init__(self, root: Path, memory: Memory | None = None) -> None:
        self.root = root
        self._memory = memory or Memory()

    def path(self, stem: str, target: str, release: str | None) -> Path:
        """Where the evidence of one finding on one release is kept."""
        name = f"{target}-{release}" if release else target
        return self.root / "findings" / "evidence" / stem / f"{name}.yaml"

    def read_all(self, stem: str, target: str = "") -> dict[str | None, Evidence]:
        """Every release's evidence of one finding; that of `target` where an earlier target of the record has the same
        release. A file that is no evidence raises BadLedger.
        """
        folder = self.root / "findings" / "evidence" / stem
        found: dict[str | None, Evidence] = {}
        for path in sorted(folder.glob("*.yaml")):
            evidence = read_evidence(path, str(path.relative_to(self.root)), self._memory)
            if evidence.target == target or evidence.release not in found:
                found[evidence.release] = evidence
        return found

    def write(self, evidence: Evidence) -> Path:
        """Writes one capture in place of an earlier one of the same finding and release."""
        path = self.path(evidence.finding, evidence.target, evidence.release)
        write_whole(path, evidence_text(evidence))
        return path


def read_evidence(path: Path, shown: str, memory: Memory) -> Evidence:
    """One evidence file; `shown` is its name in errors."""
    parsed = memory.parse(read_text(path, shown), binary=True)
    if parsed.problems or not isinstance(parsed.data, dict):
        message = parsed.problems[0][2] if parsed.problems else "this is no evidence"
        raise BadLedger([Problem(shown, 1, "", f"{message}; delete it and run the reproducer again")])
    try:
        return Evidence.model_validate(parsed.data)
    except ValidationError as error:
        where = error.errors()[0]
        field = ".".join(str(part) for part in where["loc"])
        message = f"{where['msg']}; delete the file and run the reproducer again"
        raise BadLedger([Problem(shown, parsed.lines.get(where["loc"], 1), field, message)]) from error


def evidence_text(evidence: Evidence) -> str:
    """The file's text: facts in the order of a reader's interest, block text where it can be."""
    versions = evidence.versions.model_dump(exclude_none=True, exclude_defaults=True)
    plain: dict[str, Any] = {
        "finding": evidence.finding,
        "target": evidence.target,
        "release": evidence.release,
        "captured": evidence.captured.isoformat(),
        "command": evidence.command,
        "reproducer_sha256": evidence.reproducer_sha256,
        "versions": versions,
        "runs": evidence.runs,
        "hits": evidence.hits,
        **_observed(evidence.observations[0][0]),
    }
    if evidence.others:
        plain["others"] = [{"times": other.times, **_observed(other)} for other in evidence.others]
    return _HEAD + dump(plain)


def _observed(run: Observation) -> dict[str, Any]:
    plain = {"exit": run.exit, "duration_s": round(run.duration_s, 2), "stdout": run.stdout, "stderr": run.stderr}
    return plain if run.cut == Cut() else {**plain, "cut": run.cut.model_dump(exclude_defaults=True)}
