"""What this machine has and lacks for running a ledger, and what is weak in the ledger itself."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys

from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.environment import find_uv
from feedback_ledger.report import columns
from feedback_ledger.requirements import command_version, described, machine, unmet
from feedback_ledger.workarounds import marked, unknown, unneeded


def diagnose(book: Ledger) -> tuple[str, bool]:
    """The text to print, and whether records, settings and markers of workarounds are in order."""
    lines = [
        "this machine:",
        *_indented(columns(_machine(book))),
        "",
        "requirements:",
        *_indented(columns(_requirements(book)) or "none"),
    ]
    fixtures = [(name, shlex.join(fixture.command)) for name, fixture in sorted(book.settings.fixtures.items())]
    if fixtures:
        lines += ["", "fixtures, started when a finding asks for them:", *_indented(columns(fixtures))]
    places = marked(book)
    problems = sorted((*book.problems, *unknown(book, places)))
    weak = [*_weak(book), *_ownerless(book), *map(str, unneeded(book, places))]
    lines += ["", "records:", f"  {len(book.records)} in order, {len(problems)} problems"]
    lines += _indented("\n".join(map(str, problems)))
    if weak:
        lines += ["", "worth a look:", *_indented("\n".join(weak))]
    return "\n".join(lines), not problems


def _machine(book: Ledger) -> list[tuple[str, str]]:
    uv = find_uv()
    return [
        ("python", f"{platform.python_version()} on {machine()}"),
        (
            "uv",
            (command_version([uv, "--version"]) or "found, but tells no version")
            if uv
            else "missing: Python reproducers can't run",
        ),
        ("node", command_version(["node", "--version"]) or "missing: only JavaScript reproducers need it"),
        ("disk", f"{shutil.disk_usage(book.root).free // 1024**2:,} MiB free"),
        ("encoding", sys.getfilesystemencoding()),
    ]


def _requirements(book: Ledger) -> list[tuple[str, str, str]]:
    rows = []
    for name, need in sorted(book.settings.requirements.items()):
        users = [record.finding.id for record in book.records if name in record.finding.requires]
        why = unmet(need, os.environ)
        rows.append(
            (name, f"lacking: {why}" if why else "met", f"{described(need)}; asked for by {', '.join(users) or 'none'}")
        )
    return rows


def _weak(book: Ledger) -> list[str]:
    said = []
    for record in book.records:
        shown = f"{record.path.relative_to(book.root)}:{record.line('reproducer', 'signature')}"
        signature = record.finding.reproducer.signature
        if not signature.proves_absence:
            said.append(
                f"{shown}: a program that printed nothing could pass for a fix; let gone or control expect text"
            )
        if signature.control is None:
            said.append(f"{shown}: no control; a run that never reaches the point under test can't be told from others")
        if current_captures(book, record)[1]:
            said.append(f"{record.finding.id}: the reproducer was edited since its evidence was captured; run it again")
    return said


def _ownerless(book: Ledger) -> list[str]:
    """Evidence that nobody reads any more, as its record was renamed or removed."""
    findings = book.root / "findings"
    return [
        f"findings/evidence/{folder.name}: there is no record of this name; run the finding again, and remove this"
        for folder in sorted(findings.glob("evidence/F-*"))
        if not (findings / f"{folder.name}.yaml").is_file()
    ]


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
