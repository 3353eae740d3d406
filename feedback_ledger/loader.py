"""Records to findings, with the line of every field, and the checks that need the whole ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from feedback_ledger.documents import Parsed, Wrong, parse, read_text
from feedback_ledger.errors import BadLedger, Problem
from feedback_ledger.memory import Memory
from feedback_ledger.model import Finding
from feedback_ledger.settings import Configuration
from feedback_ledger.targets import Settings, Target
from feedback_ledger.vocabulary import Ecosystem
from feedback_ledger.wording import Written, complaints, dotted

_ID = re.compile(r"F-[0-9]{3,}")
_STEM = re.compile(rf"{_ID.pattern}(-[A-Za-z0-9_]+)*")
_IGNORED = re.compile(r"^[._]|~$|\.(?:orig|rej|bak|swp|pyc)$")


@dataclass(frozen=True)
class Record:
    """A finding, the file that it came from, and its reproducer."""

    finding: Finding
    stem: str
    path: Path
    reproducer: Path

    def line(self, *path: str | int) -> int:
        """The line of a field, or of the nearest thing around it."""
        return parse(self.path.read_text(encoding="utf-8", errors="replace")).line(path)


@dataclass(frozen=True)
class Loaded:
    """Every record that is in order, by number; every problem of the others; and the text of all of them, by the name
    that messages give its file.
    """

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    texts: Mapping[str, str]


@dataclass(frozen=True)
class _Draft:
    """A record as far as it can be read, and what is wrong with it by itself."""

    path: Path
    text: str
    parsed: Parsed
    finding: Finding | None = None
    wrong: tuple[Wrong, ...] = ()

    def said(self, key: str) -> Any:
        """What a field says, right or wrong; None where it says nothing or was complained about."""
        told = any(where[:1] == (key,) for where, _, _ in self.wrong)
        return self.parsed.data.get(key) if isinstance(self.parsed.data, dict) and not told else None


def load(root: Path, configuration: Configuration, memory: Memory) -> Loaded:
    """Reads the whole ledger below `root`. Nothing is raised for a bad record: all problems are told together."""
    paths, problems = _record_paths(root)
    reproducers = _reproducers(root)
    texts: dict[str, str] = {}
    records: list[Record] = []
    first_with: dict[str, Path] = {}
    for path in paths:
        pair = reproducers.pop(path.stem, [])
        if misnamed := _misnamed(path):
            problems.append(Problem(_shown(path), 0, "", misnamed))
            continue
        draft = _read(path, memory)
        texts[_shown(path)] = draft.text
        wrong = [
            *draft.wrong,
            *_identity_problems(draft, first_with),
            *_pair_problems(draft, pair),
            *_name_problems(draft, configuration),
        ]
        problems += [Problem(_shown(path), line, dotted(where), message) for where, line, message in wrong]
        if draft.finding is not None and not wrong:
            records.append(Record(draft.finding, path.stem, path, pair[0]))
    problems += _orphans(reproducers)
    return Loaded(tuple(sorted(records, key=lambda r: (r.finding.number, r.stem))), tuple(sorted(problems)), texts)


def target_of(settings: Settings | None, name: str) -> Target:
    """A target's settings; without a settings file every target is a service without releases."""
    if settings is None:
        return Target(ecosystem=Ecosystem.SERVICE)
    return settings.targets[name]


def _shown(path: Path) -> str:
    """A record or reproducer as messages name it, from the ledger's root."""
    return f"{path.parent.name}/{path.name}"


def _record_paths(root: Path) -> tuple[list[Path], list[Problem]]:
    folder = root / "findings"
    if not folder.is_dir():
        return [], [Problem("findings", 0, "", f"there is no such folder in {root.name or root}; `new` makes it")]
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return [
        path
        for path in paths
        if path.suffix in (".yaml", ".yml") and not _IGNORED.search(path.name) and not path.is_dir()
    ], []


def _misnamed(path: Path) -> str:
    if path.suffix == ".yml":
        return f"a record's name ends in .yaml; rename it to {path.stem}.yaml"
    if not _STEM.fullmatch(path.stem):
        return "a record's name is F-, three digits or more, and a slug: F-012-what-fails.yaml"
    return ""


def _reproducers(root: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    folder = root / "reproducers"
    for path in sorted(folder.iterdir(), key=lambda path: path.name) if folder.is_dir() else ():
        if not _IGNORED.search(path.name) and path.is_file():
            found.setdefault(path.name.partition(".")[0], []).append(path)
    return found


def _read(path: Path, memory: Memory) -> _Draft:
    """One record by itself, with all that is wrong with it."""
    try:
        text = read_text(path, _shown(path))
    except BadLedger as error:
        return _Draft(
            path, "", Parsed("", None, ()), wrong=tuple(((), each.line, each.message) for each in error.problems)
        )
    parsed = memory.parse(text, binary=False)
    if isinstance(parsed.data, dict):
        try:
            finding = Finding.model_validate(parsed.data)
        except ValidationError as error:
            return _Draft(path, text, parsed, wrong=(*parsed.problems, *_complaints(parsed, error)))
        return _Draft(path, text, parsed, finding, tuple(parsed.problems))
    if parsed.problems:
        return _Draft(path, text, parsed, wrong=tuple(parsed.problems))
    what = "is empty" if parsed.data is None else "is no mapping of fields"
    return _Draft(path, text, parsed, wrong=(((), 1, f'the record {what}; `new "title"` writes one to start from'),))


def _complaints(parsed: Parsed, error: ValidationError) -> Iterator[Wrong]:
    """What pydantic says, but for what only follows from a value that could not be read."""
    unread = [where for where, _, _ in parsed.problems]
    for wrong in complaints(Finding, error, Written(parsed.data, parsed.line, parsed.raw)):
        place = wrong[0]
        if not any(where[: len(place)] == place for where in unread):
            yield wrong


def _identity_problems(draft: _Draft, first_with: dict[str, Path]) -> Iterator[Wrong]:
    """The file's name counts: it is there even if the record can't be read."""
    begun = "-".join(draft.path.stem.split("-")[:2])
    said = draft.said("id")
    message = ""
    if said is not None and said != begun:
        message = f"the file's name begins with {begun}, found {said}; make them the same"
    elif (first := first_with.setdefault(begun, draft.path)) != draft.path:
        message = f"{begun} is taken by {_shown(first)}; take the next free number"
    if message:
        yield ("id",), draft.parsed.line(("id",)), message


def _pair_problems(draft: _Draft, pair: list[Path]) -> Iterator[Wrong]:
    message = ""
    if not pair:
        missing = f"no reproducers/{draft.path.stem}.py or other file of that stem"
        message = f"{missing}; write the program that shows it"
    elif len(pair) > 1:
        message = f"one file is expected, found {', '.join(map(_shown, pair))}; keep one"
    if message:
        yield ("reproducer",), draft.parsed.line(("reproducer",)), message


def _name_problems(draft: _Draft, configuration: Configuration) -> Iterator[Wrong]:
    """Names that the settings do not define; where the settings are bad, nobody knows which they do."""
    if configuration.problems:
        return
    settings = configuration.settings
    target, requires = draft.said("target"), draft.said("requires")
    if settings is not None and target is not None and target not in settings.targets:
        known = ", ".join(sorted(settings.targets)) or "none"
        unknown = f'the settings define no target "{target}"; they define {known}'
        yield ("target",), draft.parsed.line(("target",)), unknown
    defined = set() if settings is None else {*settings.requirements, *settings.fixtures}
    for index, name in enumerate(requires or ()):
        if name not in defined:
            tables = " or ".join(configuration.table(kind, name) for kind in ("requirements", "fixtures"))
            place = ("requires", index)
            yield place, draft.parsed.line(place), f'the settings define no "{name}"; add {tables}'


def _orphans(reproducers: Mapping[str, list[Path]]) -> Iterator[Problem]:
    for stem, paths in reproducers.items():
        yield Problem(_shown(paths[0]), 0, "", f"no findings/{stem}.yaml; write its record, or remove it")
