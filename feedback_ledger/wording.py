"""What pydantic found wrong, in one line for the person who wrote the file: what was expected, and what was found.
Pure.
"""

from __future__ import annotations

import difflib
import json
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from feedback_ledger.documents import Path

Complaint = tuple[Path, str]


def complaints(model: type[BaseModel], error: ValidationError, raw: Mapping[Path, str]) -> list[Complaint]:
    """The path and the message of everything that `error` says; `raw` tells how unquoted numbers were written."""
    found: dict[Complaint, None] = {}
    for detail in error.errors(include_url=False):
        path = tuple(part for part in detail["loc"] if part != "[key]")
        found[path, _message(model, detail, path, raw)] = None
    return list(found)


def _message(model: type[BaseModel], detail: ErrorDetails, path: Path, raw: Mapping[Path, str]) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        return _unknown_key(_fields_at(model, path[:-1]), str(path[-1]))
    if kind == "missing":
        return f"missing; write {_described(model, path)}"
    expected = _expected(model, detail, path)
    return f"expected {expected}, found {_found(detail['input'])}{_in_quotes(kind, path, raw)}"


def _unknown_key(known: Mapping[str, FieldInfo], key: str) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f"unknown key; write {close[0]}" if close else f"unknown key; expected one of {', '.join(known)}"


def _expected(model: type[BaseModel], detail: ErrorDetails, path: Path) -> str:
    match detail["type"]:
        case "value_error":
            return str(detail["ctx"]["error"])
        case "string_type":
            return "text"
        case "bool_type":
            return "true or false"
        case "list_type" | "tuple_type":
            return "a list"
        case "model_type" | "dict_type" | "mapping_type" | "model_attributes_type":
            return "a mapping of keys to values"
        case _:
            return _described(model, path)


def _described(model: type[BaseModel], path: Path) -> str:
    """A field's own description; of a list's or a table's item, that of the whole."""
    while path:
        fields = _fields_at(model, path[:-1])
        field = fields.get(str(path[-1]))
        if field is not None and field.description:
            return " ".join(field.description.split())
        path = path[:-1]
    return "a mapping of keys to values"


def _fields_at(model: type[BaseModel], path: Path) -> Mapping[str, FieldInfo]:
    """The fields that the mapping at `path` may have."""
    current: Any = model
    for part in path:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(part))
            if field is None:
                return {}
            current = _model_in(field.annotation)
    return current.model_fields if isinstance(current, type) and issubclass(current, BaseModel) else {}


def _model_in(annotation: Any) -> Any:
    """The model inside an annotation such as `tuple[Span, ...]`, `Matcher | None` or `Mapping[Name, Target]`."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation
    for argument in typing.get_args(annotation):
        inner = _model_in(argument)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return None


def _found(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, BaseModel | Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    said = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | int | float) else str(value)
    return said if len(said) <= 80 else said[:77] + "..."


def _in_quotes(kind: str, path: Path, raw: Mapping[Path, str]) -> str:
    """An unquoted release reads as a number; say how to write it."""
    return f'; write "{raw[path]}"' if kind == "string_type" and path in raw else ""
