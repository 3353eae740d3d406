"""The table of contents: open, select, run, render, file, start."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from feedback_ledger import releases, scaffold
from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.documents import read_text
from feedback_ledger.errors import BadLedger, Problem, UsageError
from feedback_ledger.fields import A_NAME, NAME
from feedback_ledger.files import write_whole
from feedback_ledger.issue import Other, TooLong, issue_text, named
from feedback_ledger.loader import Record, load, target_of
from feedback_ledger.memory import Memory
from feedback_ledger.model import Evidence
from feedback_ledger.redact import Redactor
from feedback_ledger.render import Entry, render_feedback
from feedback_ledger.settings import read_settings
from feedback_ledger.store import EvidenceStore
from feedback_ledger.targets import Settings
from feedback_ledger.vocabulary import Status

FEEDBACK = "FEEDBACK.md"
_TEMPLATES = ("FEEDBACK.md.j2", "issue.md.j2")


def open_ledger(root: Path, redactor: Redactor | None = None) -> Ledger:
    """Reads settings and records. Bad records are in `problems`; bad settings raise BadLedger, with those as well."""
    if not root.is_dir():
        raise UsageError(f"{root}: there is no such folder; --root names the one with findings/ and reproducers/")
    configuration = read_settings(root)
    memory = Memory(root / ".ledger" / "parsed.json")
    loaded = load(root, configuration, memory)
    redactor = redactor or Redactor.here()
    leaks: list[Problem] = []
    # One search through everything costs less than thousands, and nearly always finds nothing.
    if redactor.leaks("\n".join(loaded.texts.values())):
        leaks = [leak for shown, text in loaded.texts.items() for leak in _leaks(redactor, shown, text)]
    if configuration.problems:
        raise BadLedger([*configuration.problems, *loaded.problems, *leaks])
    settings = configuration.settings
    return Ledger(
        root,
        settings or Settings(),
        settings is not None,
        loaded.records,
        tuple(sorted((*loaded.problems, *leaks))),
        EvidenceStore(root, memory),
        memory,
        redactor,
    )


def require_good(ledger: Ledger) -> None:
    """Raises BadLedger with every problem of the ledger, if it has any."""
    if ledger.problems:
        raise BadLedger(ledger.problems)


def _leaks(redactor: Redactor, shown: str, text: str, remedy: str = "write {kind} or leave it out") -> list[Problem]:
    return [
        Problem(shown, line, "", f"this must not be published ({kind.strip('[]').lower()}); {remedy.format(kind=kind)}")
        for line, kind in redactor.leaks(text)
    ]


def select(
    ledger: Ledger, ids: Sequence[str] = (), target: str | None = None, shard: tuple[int, int] | None = None
) -> list[Record]:
    """The records that a command is about, by id or stem; without ids all but the withdrawn ones. `shard` is (i, n),
    i from 1.
    """
    by_name = {name: record for record in ledger.records for name in (record.finding.id, record.stem)}
    unknown = [name for name in ids if name not in by_name]
    if unknown:
        raise UsageError(f"no finding {', '.join(unknown)}; `list` shows which there are")
    if target is not None and target not in ledger.settings.targets and ledger.has_settings:
        raise UsageError(
            f"no target {target}; the settings define {', '.join(sorted(ledger.settings.targets)) or 'none'}"
        )
    chosen = (
        [by_name[name] for name in dict.fromkeys(ids)]
        if ids
        else [r for r in ledger.records if r.finding.status is not Status.WITHDRAWN]
    )
    chosen = [record for record in chosen if target is None or record.finding.target == target]
    if shard is not None:
        chosen = [record for place, record in enumerate(chosen) if place % shard[1] == shard[0] - 1]
    return chosen


def entries(ledger: Ledger) -> Iterator[Entry]:
    """Every finding with what the page says of it."""
    for record in ledger.records:
        captures, stale = current_captures(ledger, record)
        yield Entry(
            record,
            published_program(ledger, record),
            ledger.target(record.finding).package,
            releases.tested(ledger.target(record.finding)),
            captures,
            stale,
            ledger.needed(record.finding),
        )


def published_program(ledger: Ledger, record: Record) -> str:
    """A reproducer as it may be published: an address or a token in it gives way to a placeholder, as in evidence."""
    return ledger.redactor.text(record.reproducer.read_text(encoding="utf-8", errors="backslashreplace"))


def feedback_text(ledger: Ledger) -> str:
    """The text of FEEDBACK.md. Raises BadLedger if it would publish what must not be published."""
    text = render_feedback(templates(ledger.root), ledger.title, entries(ledger))
    if leaks := _leaks(ledger.redactor, FEEDBACK, text, "mend the record or reproducer"):
        raise BadLedger(leaks)
    return text


def feedback_leaks(ledger: Ledger) -> list[Problem]:
    """What the published page holds that must not be published."""
    path = ledger.root / FEEDBACK
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return _leaks(ledger.redactor, FEEDBACK, text, "mend the record or reproducer and render again")


def remember(ledger: Ledger) -> None:
    """Keeps what was read of the whole ledger for the next time."""
    ledger.memory.save()


def feedback_is_stale(ledger: Ledger, text: str) -> bool:
    """Whether FEEDBACK.md says something other than `text`."""
    path = ledger.root / FEEDBACK
    return not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text


def write_feedback(ledger: Ledger, text: str) -> bool:
    """Writes FEEDBACK.md if it changed; whether it did."""
    stale = feedback_is_stale(ledger, text)
    if stale:
        write_whole(ledger.root / FEEDBACK, text)
    return stale


def templates(root: Path) -> dict[str, str]:
    """The templates' text: the ledger's own where it has some, else those that come with this package."""
    here = Path(__file__).parent
    found: dict[str, str] = {}
    for name in _TEMPLATES:
        for folder in (root / "templates", here / "templates", here.parent / "templates"):
            if (folder / name).is_file():
                found[name] = read_text(folder / name, f"templates/{name}")
                break
    return found


def issue(ledger: Ledger, record: Record, evidence: Evidence) -> str | TooLong:
    """The text of the issue for one finding, from one capture of it."""
    program = published_program(ledger, record)
    target, needed = ledger.target(record.finding), ledger.needed(record.finding)
    names = named(record.finding, program)
    others = [
        Other(other.finding, verified=bool(current_captures(ledger, other)[0]))
        for other in sorted(ledger.records, key=lambda other: other.finding.number)
        if other.finding.id in names
    ]
    return issue_text(templates(ledger.root), record, target, evidence, program, needed, others)


def issue_release(ledger: Ledger, record: Record) -> str | None:
    """The release that an issue is about: the tested one; for a fixed finding the last that showed it."""
    known_bad = record.finding.known_bad
    if record.finding.status is Status.FIXED and known_bad:
        return known_bad[0]
    return releases.tested(ledger.target(record.finding))


def start_finding(ledger: Ledger, title: str, target: str) -> tuple[Path, Path]:
    """Writes a draft of a record and its reproducer with the next free number; returns their paths."""
    if ledger.has_settings and target not in ledger.settings.targets:
        raise UsageError(
            f"no target {target}; the settings define {', '.join(sorted(ledger.settings.targets)) or 'none'}"
        )
    if not re.fullmatch(NAME, target):
        raise UsageError(f'--target: expected {A_NAME}, found "{target}"')
    if not title.strip():
        raise UsageError("TITLE is empty; write what you claim, as a sentence")
    settings = target_of(ledger.settings if ledger.has_settings else None, target)
    number = _next_number(ledger.root)
    stem = f"F-{number:03d}-{scaffold.slug(title)}"
    record = ledger.root / "findings" / f"{stem}.yaml"
    reproducer = ledger.root / "reproducers" / f"{stem}{scaffold.reproducer_suffix(settings)}"
    write_whole(reproducer, scaffold.reproducer_text(settings, releases.tested(settings)))
    write_whole(record, scaffold.record_text(number, " ".join(title.split()), target))
    schema = ledger.root / "findings" / "schema.json"
    if not schema.exists():
        write_whole(schema, scaffold.schema_text())
    return record, reproducer


def _next_number(root: Path) -> int:
    """One more than the highest number that a record, a reproducer or evidence has ever had here."""
    taken = [0]
    for folder in (root / "findings", root / "reproducers", root / "findings" / "evidence"):
        for path in folder.iterdir() if folder.is_dir() else ():
            with contextlib.suppress(ValueError, IndexError):
                taken.append(int(path.name.split("-")[1].partition(".")[0]) if path.name.startswith("F-") else 0)
    return max(taken) + 1
