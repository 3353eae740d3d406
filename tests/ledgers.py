"""Throwaway ledgers for tests: records with their reproducers, in a folder of their own; and ways to run them."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from feedback_ledger import ledger
from feedback_ledger.book import Ledger
from feedback_ledger.model import Evidence
from feedback_ledger.options import Options
from feedback_ledger.outcome import Outcome
from feedback_ledger.redact import Redactor
from feedback_ledger.session import Session
from feedback_ledger.store import EvidenceStore

SHOWN = "shown"
"""What a reproducer prints at the start of a line to show its finding, by the signature that `finding` gives by
default."""
NOT_SHOWN = "not shown"
"""What it prints when the finding is gone."""
SIGNATURE: Mapping[str, Any] = {"reproduces": {"stdout": f"^{SHOWN}"}, "gone": {"stdout": f"^{NOT_SHOWN}"}}
TODAY = datetime.date(2026, 1, 2)
PYTHON = f"#!{sys.executable} -IS\n"
"""The first line of an executable in plain Python, for which the engine builds no environment (give `suffix=""`)."""


def finding(
    root: Path,
    number: int,
    program: str | bytes,
    *,
    suffix: str = ".sh",
    slug: str = "case",
    executable: bool | None = None,
    target: str = "thing",
    signature: Mapping[str, Any] = SIGNATURE,
    timeout_s: float = 30.0,
    status: str = "open",
    requires: Sequence[str] = (),
    runs: int = 1,
    min_hits: int | None = None,
    serial: bool = False,
    **fields: Any,
) -> str:
    """Writes a record and its reproducer; returns their stem. `fields` replace or add fields of the record.

    The program is dedented. Without a suffix it is made executable, unless `executable` says otherwise.
    """
    stem = f"F-{number:03d}-{slug}"
    reproducer: dict[str, Any] = {"timeout_s": float(timeout_s), "runs": runs, "signature": dict(signature)}
    if min_hits is not None:
        reproducer["min_hits"] = min_hits
    if serial:
        reproducer["serial"] = True
    record = {
        "id": f"F-{number:03d}",
        "title": f"Case {number}",
        "target": target,
        "area": "tests",
        "nature": "bug",
        "severity": "minor",
        "status": status,
        "summary": "What happens.",
        "expected": "What should happen.",
        "actual": "What happens instead.",
        "impact": "Whom it hurts.",
        "proposed_fix": "What to do.",
        "requires": list(requires),
        "reproducer": reproducer,
        **fields,
    }
    record_path = root / "findings" / f"{stem}.yaml"
    record_path.parent.mkdir(parents=True, exist_ok=True)
    record_path.write_text(yaml.safe_dump(record, sort_keys=False, allow_unicode=True), encoding="utf-8")
    path = reproducer_path(root, stem, suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(program if isinstance(program, bytes) else textwrap.dedent(program).lstrip("\n").encode())
    path.chmod(0o755 if (suffix == "" if executable is None else executable) else 0o644)
    return stem


def reproducer_path(root: Path, stem: str, suffix: str = ".sh") -> Path:
    """Where the reproducer of one finding is."""
    return root / "reproducers" / f"{stem}{suffix}"


def settings(root: Path, toml: str) -> None:
    """Writes the ledger's settings. Once there are some, they must define every target: `[targets.thing]`."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "ledger.toml").write_text(textwrap.dedent(toml), encoding="utf-8")


def opened(root: Path, redactor: Redactor | None = None) -> Ledger:
    """The ledger in `root`, which must be free of problems."""
    book = ledger.open_ledger(root, redactor)
    ledger.require_good(book)
    return book


def run(root: Path, *ids: str, redactor: Redactor | None = None, **options: Any) -> list[Outcome]:
    """Runs findings in this process, as the command does; `options` are those of a session. One at a time by
    default."""
    book = opened(root, redactor)
    with Session(book, Options(**{"jobs": 1, **options}), TODAY) as session:
        return session.run(ledger.select(book, ids))


def evidence(root: Path, stem: str, release: str | None = None) -> Evidence:
    """The stored evidence of one finding, read back from its file."""
    return EvidenceStore(root).read_all(stem)[release]


def command(root: Path, *arguments: str) -> list[str]:
    """The command line of the ledger as another process would start it."""
    return [sys.executable, "-m", "feedback_ledger", "--root", str(root), *arguments]


def run_command(
    root: Path, *arguments: str, env: Mapping[str, str] | None = None, timeout_s: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Runs the command line to its end; `env` adds to the environment of this process."""
    return subprocess.run(
        command(root, *arguments),
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return sys.platform != "linux"
    return state != "Z"


def survivors(tmp: Path) -> list[int]:
    """On Linux, the processes that were started in a run whose folder was in `tmp`; elsewhere none are found."""
    marker = f"HOME={os.path.realpath(tmp)}/ledger-".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            said = place.read_bytes()
        except OSError:
            continue
        if any(part.startswith(marker) for part in said.split(b"\0")):
            found.append(int(place.parent.name))
    return found
