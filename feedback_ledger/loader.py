"""Records to findings, with the line of every field, and the checks that need the whole ledger."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from feedback_ledger.documents import Parsed, parse
from feedback_ledger.documents import Path as FieldPath
from feedback_ledger.errors import Problem
from feedback_ledger.model import Ecosystem, Finding, Settings, Target
from feedback_ledger.wording import complaints

STEM = re.compile(r"^F-\d{3,}(-[a-z0-9]+)*$")
_IGNORED = re.compile(r"^[._]|~$|\.(?:orig|rej|bak|swp|pyc)$")


@dataclass(frozen=True)
class Record:
    """A finding, the file that it came from, and its reproducer."""

    finding: Finding
    stem: str
    path: Path
    reproducer: Path
    lines: Mapping[FieldPath, int] = field(compare=False, repr=False)

    def line(self, *path: str | int) -> int:
        """The line of a field, or of the nearest thing around it."""
        return _line(self.lines, path)


@dataclass(frozen=True)
class Loaded:
    """Every record that is in order, by number, and every problem of the others."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def load(root: Path, settings: Settings | None) -> Loaded:
    """Reads the whole ledger below `root`. Nothing is raised for a bad record: all problems are told together."""
    paths, problems = _record_paths(root)
    reproducers = _reproducers(root)
    drafts: list[tuple[Path, Finding, Parsed]] = []
    bad_stems: set[str] = set()
    for path in paths:
        shown = str(path.relative_to(root))
        finding, parsed, wrong = _read(path, shown)
        problems += wrong
        if finding is None:
            bad_stems.add(path.stem)
            continue
        drafts.append((path, finding, parsed))
    records: list[Record] = []
    first_with: dict[str, str] = {}
    for path, finding, parsed in drafts:
        shown = str(path.relative_to(root))
        pair = reproducers.get(path.stem, [])
        wrong = [
            *_identity_problems(shown, path.stem, finding, parsed, first_with),
            *_pair_problems(shown, path.stem, pair),
            *_name_problems(shown, finding, parsed, settings),
        ]
        first_with.setdefault(finding.id, shown)
        problems += wrong
        if not wrong:
            records.append(Record(finding, path.stem, path, pair[0], parsed.lines))
    known = {path.stem for path, _, _ in drafts} | bad_stems
    problems += _orphans(root, reproducers, known)
    return Loaded(tuple(sorted(records, key=lambda r: (r.finding.number, r.stem))), tuple(sorted(problems)))


def target_of(settings: Settings | None, name: str) -> Target:
    """A target's settings; without a settings file every target is a service without releases."""
    if settings is None:
        return Target(ecosystem=Ecosystem.SERVICE)
    return settings.targets[name]


def _record_paths(root: Path) -> tuple[list[Path], list[Problem]]:
    folder = root / "findings"
    if not folder.is_dir():
        return [], [Problem("findings", 0, "", f"there is no such folder in {root.name or root}; `new` makes it")]
    paths, problems = [], []
    for path in sorted(folder.iterdir()):
        if path.is_dir() or _IGNORED.search(path.name):
            continue
        shown = str(path.relative_to(root))
        if path.suffix == ".yml":
            problems.append(Problem(shown, 0, "", f"a record's name ends in .yaml; rename it to {path.stem}.yaml"))
        elif path.suffix == ".yaml" and not STEM.match(path.stem):
            problems.append(
                Problem(shown, 0, "", "a record's name is F-, three digits or more, and a slug: F-012-what-fails.yaml")
            )
        elif path.suffix == ".yaml":
            paths.append(path)
    return paths, problems


def _reproducers(root: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    folder = root / "reproducers"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and not _IGNORED.search(path.name):
            found.setdefault(path.name.partition(".")[0], []).append(path)
    return found


def _read(path: Path, shown: str) -> tuple[Finding | None, Parsed, list[Problem]]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return None, Parsed(), [Problem(shown, 1, "", f"not UTF-8 (byte {error.start}); save it as UTF-8")]
    except OSError as error:
        return None, Parsed(), [Problem(shown, 0, "", f"cannot be read: {error.strerror}")]
    parsed = parse(text)
    problems = [Problem(shown, line, _shown_path(where), message) for where, line, message in parsed.problems]
    if problems and parsed.data is None:
        return None, parsed, problems
    if not isinstance(parsed.data, dict):
        what = "is empty" if parsed.data is None else "is no mapping of fields"
        return (
            None,
            parsed,
            [*problems, Problem(shown, 1, "", f'the record {what}; `new "title"` writes one to start from')],
        )
    try:
        finding = Finding.model_validate(parsed.data)
    except ValidationError as error:
        told = {where for where, _, _ in parsed.problems}
        for where, message in complaints(Finding, error, parsed.raw):
            place = _as_written(parsed.lines, where)
            if place not in told:
                problems.append(Problem(shown, _line(parsed.lines, place), _shown_path(place), message))
        return None, parsed, problems
    return (None if problems else finding), parsed, problems


def _as_written(lines: Mapping[FieldPath, int], path: FieldPath) -> FieldPath:
    """The path as the file has it: a single span of `affected` is no list there."""
    written: FieldPath = ()
    for part in path:
        if isinstance(part, int) and (*written, part) not in lines:
            continue
        written = (*written, part)
    return written


def _line(lines: Mapping[FieldPath, int], path: Iterable[str | int]) -> int:
    here = tuple(path)
    while here and here not in lines:
        here = here[:-1]
    return lines.get(here, 1)


def _shown_path(path: FieldPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _identity_problems(
    shown: str, stem: str, finding: Finding, parsed: Parsed, first_with: Mapping[str, str]
) -> Iterator[Problem]:
    line = _line(parsed.lines, ("id",))
    if "-".join(stem.split("-")[:2]) != finding.id:
        begun = "-".join(stem.split("-")[:2])
        yield Problem(shown, line, "id", f"the file's name begins with {begun}, found {finding.id}; make them the same")
    if finding.id in first_with:
        yield Problem(
            shown, line, "id", f"{finding.id} is taken by {first_with[finding.id]}; take the next free number"
        )


def _pair_problems(shown: str, stem: str, pair: list[Path]) -> Iterator[Problem]:
    if not pair:
        yield Problem(
            shown,
            1,
            "reproducer",
            f"no reproducers/{stem}.py or other file of that stem; write the program that shows it",
        )
    if len(pair) > 1:
        names = ", ".join(f"reproducers/{path.name}" for path in pair)
        yield Problem(shown, 1, "reproducer", f"one file is expected, found {names}; keep one")


def _name_problems(shown: str, finding: Finding, parsed: Parsed, settings: Settings | None) -> Iterator[Problem]:
    if settings is not None and finding.target not in settings.targets:
        known = ", ".join(sorted(settings.targets)) or "none"
        yield Problem(
            shown,
            _line(parsed.lines, ("target",)),
            "target",
            f'the settings define no "{finding.target}"; they define {known}',
        )
    defined = set() if settings is None else {*settings.requirements, *settings.fixtures}
    for index, name in enumerate(finding.requires):
        if name not in defined:
            line = _line(parsed.lines, ("requires", index))
            yield Problem(
                shown,
                line,
                f"requires[{index}]",
                f'the settings define no "{name}"; add [requirements.{name}] or [fixtures.{name}]',
            )


def _orphans(root: Path, reproducers: Mapping[str, list[Path]], known: set[str]) -> Iterator[Problem]:
    for stem, paths in reproducers.items():
        if stem not in known:
            shown = str(paths[0].relative_to(root))
            yield Problem(shown, 0, "", f"no findings/{stem}.yaml; write its record, or remove it")
