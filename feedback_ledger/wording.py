"""What pydantic found wrong, in one line for the person who wrote the file: what was expected, and what was found.
Pure.
"""

from __future__ import annotations

import copy
import difflib
import json
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from feedback_ledger.documents import Path, Wrong

_LONGEST = 80
_A_MAPPING = "a mapping of keys to values"
_KEY = "[key]"
"""How pydantic says that it means the key of a mapping and not the value there."""


def dotted(path: Path) -> str:
    """A field as messages name it: `affected[1].fixed`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


@dataclass(frozen=True)
class Written:
    """A document as a person wrote it: its data, the line of every path, and how unquoted values were spelled. `raw`
    is None where text always is in quotes, as in TOML.
    """

    data: Any
    line: Callable[[Path], int]
    raw: Mapping[Path, str] | None = None


def complaints(model: type[BaseModel], error: ValidationError, written: Written) -> list[Wrong]:
    """Everything that `error` says of a document that should have been a `model`."""
    details = error.errors(include_url=False)
    speaker = _Speaker(model, written)
    meant = {place for detail in details if (place := speaker.meant(detail))}
    found: dict[Wrong, None] = {}
    for detail in details:
        place = speaker.place(detail)
        if detail["type"] != "missing" or place not in meant:
            found[place, written.line(place), speaker.message(detail)] = None
    return list(found)


class _Speaker:
    """Turns pydantic's details about one document into words."""

    def __init__(self, model: type[BaseModel], written: Written) -> None:
        self._model = model
        self._written = written

    def place(self, detail: ErrorDetails) -> Path:
        """The path as the file has it: a single span of `affected` is no list there."""
        place: Path = ()
        value = self._written.data
        for part in detail["loc"][:-1] if _is_about_a_key(detail) else detail["loc"]:
            if not (isinstance(part, int) and isinstance(value, dict)):
                place = (*place, part)
                value = _inner(value, part)
        return place

    def meant(self, detail: ErrorDetails) -> Path | None:
        """The path of the known key that stands behind an unknown one, if there is any."""
        if detail["type"] != "extra_forbidden":
            return None
        *parent, key = self.place(detail)
        close = difflib.get_close_matches(str(key), self._known(detail), n=1, cutoff=0.7)
        return (*parent, close[0]) if close else None

    def message(self, detail: ErrorDetails) -> str:
        """What is wrong at one place, and what to write there."""
        place = self.place(detail)
        match detail["type"]:
            case "extra_forbidden":
                return self._unknown_key(detail)
            case "missing":
                return f"missing; write {self._described(detail)}"
            case "string_type" if self._written.raw is None:
                return f"expected text in quotes, found {self._found(detail)}"
            case "string_type" if self._quotes_help(place):
                return f'expected text, found {self._found(detail)}; write "{self._raw(place)}"'
        return f"expected {self._expected(detail)}, found {self._found(detail)}"

    def _unknown_key(self, detail: ErrorDetails) -> str:
        meant = self.meant(detail)
        if meant is None:
            return f"unknown key; expected one of {', '.join(self._known(detail))}"
        if meant[-1] in _value_at(self._written.data, meant[:-1]):
            return f"unknown key; {meant[-1]} is given on line {self._written.line(meant)}, so remove this one"
        return f"unknown key; write {meant[-1]}"

    def _expected(self, detail: ErrorDetails) -> str:
        match detail["type"]:
            case "value_error":
                return str(detail["ctx"]["error"]) or self._described(detail)
            case "bool_type":
                return "true or false"
            case "model_type" | "dict_type" | "mapping_type" | "model_attributes_type":
                return _A_MAPPING
            case _:
                return self._described(detail)

    def _described(self, detail: ErrorDetails) -> str:
        """What the innermost thing around the place that has a description says of itself."""
        path = (*detail["loc"][:-2], None) if _is_about_a_key(detail) else detail["loc"]
        said = [text for kind in self._kinds(path) if (text := _description(kind))]
        return " ".join(said[-1].split()) if said else _A_MAPPING

    def _known(self, detail: ErrorDetails) -> Mapping[str, FieldInfo]:
        """The fields that the mapping around the place may have."""
        *_, around = self._kinds(detail["loc"][:-1])
        return next((kind.model_fields for kind in _plain(around) if _is_model(kind)), {})

    def _kinds(self, path: Iterable[int | str | None]) -> Iterator[Any]:
        """The types of the document, of what is in it, and so on down to the place, as far as there are any."""
        kind: Any = self._model
        yield kind
        for part in path:
            kind = next((inner for plain in _plain(kind) if (inner := _inside(plain, part)) is not None), None)
            if kind is not None:
                yield kind

    def _found(self, detail: ErrorDetails) -> str:
        value = detail["input"]
        if detail["type"] == "value_error" and isinstance(value, BaseModel | Mapping):
            return "none"
        if detail["type"] == "too_short":
            return "an empty list"
        said = self._raw(self.place(detail)) or _shown(value)
        return said if len(said) <= _LONGEST else said[: _LONGEST - 3] + "..."

    def _raw(self, place: Path) -> str | None:
        return (self._written.raw or {}).get(place)

    def _quotes_help(self, place: Path) -> bool:
        """Whether an unquoted value would do if it were text."""
        raw = self._raw(place)
        if raw is None or len(raw) > _LONGEST:
            return False
        mended = copy.deepcopy(self._written.data)
        _value_at(mended, place[:-1])[place[-1]] = raw
        try:
            self._model.model_validate(mended)
        except ValidationError as error:
            return all(self.place(detail) != place for detail in error.errors(include_url=False))
        return True


def _is_about_a_key(detail: ErrorDetails) -> bool:
    return detail["loc"][-1:] == (_KEY,) and detail["type"].startswith("string_")


def _inner(value: Any, part: str | int) -> Any:
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None


def _value_at(value: Any, path: Path) -> Any:
    for part in path:
        value = _inner(value, part)
    return value


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and not isinstance(kind, types.GenericAlias) and issubclass(kind, BaseModel)


def _plain(kind: Any) -> Iterator[Any]:
    """The types that an annotation such as `Annotated[Matcher, ...] | None` is made of."""
    match typing.get_origin(kind):
        case typing.Annotated:
            yield from _plain(typing.get_args(kind)[0])
        case typing.Union | types.UnionType:
            for argument in typing.get_args(kind):
                yield from _plain(argument)
        case _:
            yield kind


def _inside(kind: Any, part: str | int | None) -> Any:
    """The annotation of what stands at `part` of a value, or for None of its keys; None if nothing can."""
    if _is_model(kind):
        field = kind.model_fields.get(part)
        return None if field is None else Annotated[field.annotation, field]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Mapping:
        return arguments[0] if part is None else arguments[1]
    return arguments[0] if origin is tuple and isinstance(part, int) else None


def _description(kind: Any) -> str | None:
    noted = [note.description for note in getattr(kind, "__metadata__", ()) if isinstance(note, FieldInfo)]
    return next((text for text in noted if text), None)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, BaseModel | Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | int | float) else str(value)
