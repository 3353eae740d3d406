"""`[tool.ledger]` of pyproject.toml, or ledger.toml, to Settings. A folder with neither works with defaults."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pydantic import ValidationError

from feedback_ledger.errors import BadLedger, Problem
from feedback_ledger.model import Settings
from feedback_ledger.wording import complaints


def read_settings(root: Path) -> Settings | None:
    """The settings of the ledger in `root`; None where there are none. Raises BadLedger with every problem."""
    for name, prefix in (("pyproject.toml", ("tool", "ledger")), ("ledger.toml", ())):
        path = root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadLedger([_not_toml(name, str(error))]) from error
        for part in prefix:
            data = data.get(part, {}) if isinstance(data, dict) else {}
        if data or not prefix:
            return _validated(name, text, prefix, data)
    return None


def _validated(name: str, text: str, prefix: tuple[str, ...], data: object) -> Settings:
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise BadLedger(
            [
                Problem(name, _line_of(text, (*prefix, *map(str, path))), ".".join(map(str, path)), message)
                for path, message in complaints(Settings, error, {})
            ]
        ) from error


def _not_toml(name: str, said: str) -> Problem:
    place = re.search(r"\(at line (\d+), column \d+\)", said)
    line = int(place.group(1)) if place else 1
    return Problem(name, line, "", f"this is not TOML: {re.sub(r' *[(]at [^)]*[)]$', '', said)}")


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
