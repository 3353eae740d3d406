"""`[tool.ledger]` of pyproject.toml, or ledger.toml, to Settings. A folder with neither works with defaults."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from feedback_ledger.documents import Path as FieldPath
from feedback_ledger.documents import read_text
from feedback_ledger.errors import BadLedger, Problem
from feedback_ledger.targets import Settings
from feedback_ledger.wording import Written, complaints, dotted


@dataclass(frozen=True)
class Configuration:
    """What a ledger's settings file says: the settings, None where there is no file or it is bad; what its tables'
    names begin with; and what is wrong with it.
    """

    settings: Settings | None = None
    prefix: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def table(self, *path: str) -> str:
        """The header of a table of this file."""
        return f"[{'.'.join((*self.prefix, *path))}]"


def read_settings(root: Path) -> Configuration:
    """The settings of the ledger in `root`. Nothing is raised: what is wrong with them is in `problems`."""
    for name, prefix in (("pyproject.toml", ("tool", "ledger")), ("ledger.toml", ())):
        if not (root / name).is_file():
            continue
        try:
            text = read_text(root / name, name)
            data = _data(name, text)
        except BadLedger as error:
            return Configuration(problems=error.problems)
        for part in prefix:
            data = data.get(part, {}) if isinstance(data, dict) else {}
        if data or not prefix:
            return _validated(root, name, text, prefix, data)
    return Configuration()


def _data(name: str, text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, line = str(error), len(text.splitlines())
        if place := re.search(r"\(at line (\d+), column \d+\)", said):
            line = int(place.group(1))
        problem = Problem(name, line, "", f"this is not TOML: {re.sub(r' *[(]at [^)]*[)]$', '', said)}")
    except (ValueError, RecursionError) as error:
        # Neither tells where: Python refuses to read integers of thousands of digits, and tomllib calls itself.
        said = "nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        problem = Problem(name, 0, "", f"this cannot be read: {said}")
    raise BadLedger([problem])


def _validated(root: Path, name: str, text: str, prefix: tuple[str, ...], data: object) -> Configuration:
    def line(path: FieldPath) -> int:
        return _line_of(text, (*prefix, *map(str, path)))

    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        wrong = complaints(Settings, error, Written(data, line))
        problems = tuple(Problem(name, number, dotted(path), message) for path, number, message in wrong)
        return Configuration(prefix=prefix, problems=problems)
    good = Configuration(settings, prefix)
    problems = tuple(
        Problem(name, line(path), dotted(path), message)
        for path, message in (*_shared_names(good), *_missing_folders(root, settings))
    )
    return Configuration(prefix=prefix, problems=problems) if problems else good


def _shared_names(configuration: Configuration) -> Iterator[tuple[FieldPath, str]]:
    """`requires` says no more than a name, so it would mean two things."""
    settings = configuration.settings or Settings()
    for name in settings.fixtures:
        if name in settings.requirements:
            table = configuration.table("requirements", name)
            yield ("fixtures", name), f"{table} has the same name; give one of them another"


def _missing_folders(root: Path, settings: Settings) -> Iterator[tuple[FieldPath, str]]:
    """A folder that was moved or misspelled would be searched for nothing, for ever."""
    for index, folder in enumerate(settings.workarounds):
        place = ("workarounds", index)
        if not os.path.isdir(root / folder):  # noqa: PTH112  Path.is_dir raises for a name that is too long
            yield place, f'there is no folder "{folder}" in the ledger\'s root; name one that is there, or none'
        elif not (root / folder).resolve().is_relative_to(root.resolve()):
            yield place, f'"{folder}" is a link that leaves the ledger\'s root; name a folder inside of it'


def _line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of the key at `path`, or of the longest part of it that is there; tomllib itself tells no lines."""
    table: tuple[str, ...] = ()
    best, best_length = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}", line):
            table = _parts(header.group(1))
            here = table
        elif key := re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line):
            here = (*table, *_parts(key.group(1)))
        else:
            continue
        if here == path[: len(here)] and len(here) > best_length:
            best, best_length = number, len(here)
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted))
