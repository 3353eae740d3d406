"""What single fields of documents may hold, and what is said where one holds something else."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
)

from feedback_ledger.vocabulary import NONZERO, PLACEHOLDER, SIGNALS, TIMEOUT

MOST_RUNS = 10_000
_LONGEST_S = 86_400
SECONDS = f"a positive number of seconds, at most {_LONGEST_S}"
# GitHub takes no dot in an owner's name, so that a host without an owner is noticed.
_HOST = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::(?P<port>[0-9]{1,5}))?"
_REPOSITORY = re.compile(
    rf"(?!-)(?:{_HOST}/(?!\.)[A-Za-z0-9_.-]+|[A-Za-z0-9_-]+)/(?!\.{{1,2}}$)[A-Za-z0-9_.-]+(?<!\.git)"
)
# Bidirectional controls are among them: they make a terminal show other text than is there.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Document(BaseModel):
    """Frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _is_exit(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    if isinstance(value, str) and (value in (TIMEOUT, NONZERO) or value in SIGNALS):
        return value
    raise ValueError


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A matcher's pattern; checked once and searched often."""
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return re.compile(pattern, re.MULTILINE)


def _is_pattern(value: str) -> str:
    if value.startswith((PLACEHOLDER, f"^{PLACEHOLDER}")):
        raise ValueError("a regular expression in place of the placeholder")
    try:
        matches_nothing = compiled(value).search("")
    except (re.error, OverflowError) as error:
        raise ValueError(f"a regular expression ({error})") from error
    except RecursionError as error:
        raise ValueError("a regular expression (nested too deeply)") from error
    if matches_nothing:
        raise ValueError("a regular expression that does not match the empty text, as this one matches any output")
    return value


def _is_filled_in(value: str) -> str:
    if not value.strip():
        raise ValueError("text that is not empty")
    if value.lstrip().startswith(PLACEHOLDER):
        raise ValueError("your own words in place of the placeholder")
    return value


def _is_one_line(value: str) -> str:
    line = value.strip()
    if len(line.splitlines()) > 1:
        raise ValueError("one line")
    if _CONTROL.search(line):
        raise ValueError("one line without control characters")
    return line


def _has_a_port(value: str) -> str:
    if not 1 <= int(value.rpartition(":")[2]) <= 65_535:
        raise ValueError
    return value


def _is_a_repository(value: str) -> str:
    found = _REPOSITORY.fullmatch(value)
    if found is None or (found["port"] and not 1 <= int(found["port"]) <= 65_535):
        raise ValueError
    return value


def _is_below_the_root(value: str) -> str:
    folder = PurePosixPath(value)
    if not value.strip() or _CONTROL.search(value) or folder.is_absolute() or ".." in folder.parts:
        raise ValueError('a folder inside of the ledger\'s root, seen from there, such as "src"')
    return value


def as_list(value: Any) -> Any:
    """A single mapping where a list of them may stand."""
    return [value] if isinstance(value, Mapping) else value


# Where a validator gives no reason, the field's description is all there is to say.
Text = Annotated[str, AfterValidator(_is_filled_in)]
Title = Annotated[Text, AfterValidator(_is_one_line)]
Pattern = Annotated[str, AfterValidator(_is_pattern)]
Seconds = Annotated[float, Strict(), Field(gt=0, le=_LONGEST_S, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(ge=1, le=MOST_RUNS)]
RELEASE = r"^[0-9A-Za-z][0-9A-Za-z.+_!-]*$"
Release = Annotated[str, StringConstraints(pattern=RELEASE)]
NAME = r"^[a-z0-9][a-z0-9._-]*$"
A_NAME = 'a name of small letters, digits, ".", "_" and "-"'
Name = Annotated[str, StringConstraints(pattern=NAME), Field(description=A_NAME)]
ExitCondition = Annotated[
    int | str,
    BeforeValidator(_is_exit),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "string"}]}),
]
Id = Annotated[str, StringConstraints(pattern=r"^F-[0-9]{3,}$")]
Repository = Annotated[str, AfterValidator(_is_a_repository)]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Place = Annotated[str, StringConstraints(pattern=r"^.+:[0-9]{1,5}$"), AfterValidator(_has_a_port)]
Releases = Annotated[str, StringConstraints(pattern=r"^\S+$")]
Folder = Annotated[str, AfterValidator(_is_below_the_root)]
Words = Annotated[tuple[str, ...], Field(min_length=1)]
