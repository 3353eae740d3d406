"""Records to findings, with the line of every field, and the checks that need the whole ledger."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from feedback_ledger.documents import Parsed, parse
from feedback_ledger.documents import Path as FieldPath
from feedback_ledger.errors import Problem
from feedback_ledger.model import Ecosystem, Finding, Settings, Target
from feedback_ledger.wording import complaints

STEM = re.compile(r"^F-\d{3,}(-[A-Za-z0-9_]+)*$")
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
        return _line_in(self.path, path)


@dataclass(frozen=True)
class Loaded:
    """Every record that is in order, by number, and every problem of the others."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def load(root: Path, settings: Settings | None) -> Loaded:
    """Reads the whole ledger below `root`. Nothing is raised for a bad record: all problems are told together."""
    paths, problems = _record_paths(root)
    reproducers = _reproducers(root)
    records: list[Record] = []
    first_with: dict[str, str] = {}
    for path in paths:
        finding, wrong = _read(path)
        problems += wrong
        pair = reproducers.pop(path.stem, [])
        if finding is None:
            continue
        wrong = [
            *_identity_problems(path, finding, first_with),
            *_pair_problems(path, pair),
            *_name_problems(path, finding, settings),
        ]
        first_with.setdefault(finding.id, _shown(path))
        problems += wrong
        if not wrong:
            records.append(Record(finding, path.stem, path, pair[0]))
    problems += _orphans(reproducers)
    return Loaded(tuple(sorted(records, key=lambda r: (r.finding.number, r.stem))), tuple(sorted(problems)))


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
    paths, problems = [], []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.suffix not in (".yaml", ".yml") or _IGNORED.search(path.name) or path.is_dir():
            continue
        if path.suffix == ".yml":
            wrong = f"a record's name ends in .yaml; rename it to {path.stem}.yaml"
            problems.append(Problem(_shown(path), 0, "", wrong))
        elif not STEM.match(path.stem):
            wrong = "a record's name is F-, three digits or more, and a slug: F-012-what-fails.yaml"
            problems.append(Problem(_shown(path), 0, "", wrong))
        else:
            paths.append(path)
    return paths, problems


def _reproducers(root: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    folder = root / "reproducers"
    for path in sorted(folder.iterdir(), key=lambda path: path.name) if folder.is_dir() else ():
        if not _IGNORED.search(path.name) and path.is_file():
            found.setdefault(path.name.partition(".")[0], []).append(path)
    return found


def _read(path: Path) -> tuple[Finding | None, list[Problem]]:
    """One record; None with what is wrong with it, all of it, if anything is."""
    shown = _shown(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return None, [Problem(shown, 1, "", f"not UTF-8 (byte {error.start}); save it as UTF-8")]
    except OSError as error:
        return None, [Problem(shown, 0, "", f"cannot be read: {error.strerror}")]
    parsed = parse(text)
    problems = [Problem(shown, line, _dotted(where), message) for where, line, message in parsed.problems]
    if isinstance(parsed.data, dict):
        try:
            finding = Finding.model_validate(parsed.data)
        except ValidationError as error:
            return None, problems + _complaints(shown, parsed, error)
        return (None, problems) if problems else (finding, [])
    if not problems:
        what = "is empty" if parsed.data is None else "is no mapping of fields"
        problems.append(Problem(shown, 1, "", f'the record {what}; `new "title"` writes one to start from'))
    return None, problems


def _complaints(shown: str, parsed: Parsed, error: ValidationError) -> list[Problem]:
    told = {where for where, _, _ in parsed.problems}
    problems = []
    for where, message in complaints(Finding, error, parsed.raw):
        place = _as_written(parsed.lines, where)
        if place not in told:
            problems.append(Problem(shown, _line(parsed.lines, place), _dotted(place), message))
    return problems


def _as_written(lines: Mapping[FieldPath, int], path: FieldPath) -> FieldPath:
    """The path as the file has it: a single span of `affected` is no list there."""
    written: FieldPath = ()
    for part in path:
        if not isinstance(part, int) or (*written, part) in lines:
            written = (*written, part)
    return written


def _line(lines: Mapping[FieldPath, int], path: Iterable[str | int]) -> int:
    """The line of the value at `path`, or of the innermost thing around it that is there."""
    here = tuple(path)
    while here and here not in lines:
        here = here[:-1]
    return lines.get(here, 1)


def _line_in(path: Path, field: FieldPath) -> int:
    return _line(parse(path.read_text(encoding="utf-8", errors="replace")).lines, field)


def _dotted(path: FieldPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _identity_problems(path: Path, finding: Finding, first_with: Mapping[str, str]) -> Iterator[Problem]:
    begun = "-".join(path.stem.split("-")[:2])
    wrong = []
    if begun != finding.id:
        wrong.append(f"the file's name begins with {begun}, found {finding.id}; make them the same")
    if finding.id in first_with:
        wrong.append(f"{finding.id} is taken by {first_with[finding.id]}; take the next free number")
    for message in wrong:
        yield Problem(_shown(path), _line_in(path, ("id",)), "id", message)


def _pair_problems(path: Path, pair: list[Path]) -> Iterator[Problem]:
    if not pair:
        missing = f"no reproducers/{path.stem}.py or other file of that stem; write the program that shows it"
        yield Problem(_shown(path), 1, "reproducer", missing)
    if len(pair) > 1:
        found = ", ".join(map(_shown, pair))
        yield Problem(_shown(path), 1, "reproducer", f"one file is expected, found {found}; keep one")


def _name_problems(path: Path, finding: Finding, settings: Settings | None) -> Iterator[Problem]:
    if settings is not None and finding.target not in settings.targets:
        known = ", ".join(sorted(settings.targets)) or "none"
        unknown = f'the settings define no target "{finding.target}"; they define {known}'
        yield Problem(_shown(path), _line_in(path, ("target",)), "target", unknown)
    defined = set() if settings is None else {*settings.requirements, *settings.fixtures}
    for index, name in enumerate(finding.requires):
        if name not in defined:
            unknown = f'the settings define no "{name}"; add [requirements.{name}] or [fixtures.{name}]'
            yield Problem(_shown(path), _line_in(path, ("requires", index)), f"requires[{index}]", unknown)


def _orphans(reproducers: Mapping[str, list[Path]]) -> Iterator[Problem]:
    for stem, paths in reproducers.items():
        yield Problem(_shown(paths[0]), 0, "", f"no findings/{stem}.yaml; write its record, or remove it")
