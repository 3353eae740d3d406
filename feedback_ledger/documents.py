"""YAML text to plain data with the line of every field, and back.

Only the core schema is read: `null`, `true`, `false`, numbers, text. Dates and `yes`/`no` stay text, duplicate keys and
anchors are refused, and an unquoted number remembers how it was written, so that `1.10` can be quoted back to its
author.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import yaml

Path = tuple[str | int, ...]


class Parsed:
    """Data and what is wrong with it; where each value stands is worked out only when somebody asks, as few records
    are wrong.

    `problems` holds (path, line, message).
    """

    def __init__(self, node: yaml.Node | None = None) -> None:
        self.problems: list[tuple[Path, int, str]] = []
        self._node = node
        self.data: Any = None if node is None else _Construction(self.problems).value(node, ())

    @cached_property
    def lines(self) -> Mapping[Path, int]:
        """The line, from 1, of each key and item by its path."""
        return {path: place.start_mark.line + 1 for path, place, _ in self._places()}

    @cached_property
    def raw(self) -> Mapping[Path, str]:
        """How each unquoted number was written."""
        return {path: node.value for path, _, node in self._places() if node.tag in (_INT, _FLOAT)}

    def _places(self) -> Iterator[tuple[Path, yaml.Node, yaml.Node]]:
        return _walk(self._node, (), self._node) if self._node is not None else iter(())


_C_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_STR, _NULL, _BOOL, _INT, _FLOAT = (f"{_TAG}{name}" for name in ("str", "null", "bool", "int", "float"))
_WORDS = {
    **dict.fromkeys(("~", "null", "Null", "NULL", ""), _NULL),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), _BOOL),
}
_NUMBERS = (
    (re.compile(r"[-+]?[0-9]+"), _INT),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), _FLOAT),
)


class _CoreLoader(_C_PARSER):  # type: ignore[misc]
    """Resolves plain scalars by the core schema only, and faster than PyYAML's rules for all of YAML 1.1."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool] | bool) -> str:
        if kind is not yaml.ScalarNode:
            return f"{_TAG}map" if kind is yaml.MappingNode else f"{_TAG}seq"
        assert value is not None and isinstance(implicit, tuple)
        if not implicit[0]:
            return _STR
        if value[:1] in "-+.0123456789":
            return next((tag for pattern, tag in _NUMBERS if pattern.fullmatch(value)), _STR) if value else _NULL
        return _WORDS.get(value, _STR)

    def descend_resolver(self, *_: object) -> None:
        """Nothing here depends on where a node stands."""

    def ascend_resolver(self) -> None:
        """The other half of that."""


def parse(text: str) -> Parsed:
    """Reads one YAML document. Nothing is raised: what is wrong with the text is in `problems`."""
    try:
        return Parsed(yaml.compose(text, Loader=_CoreLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        said = f"this is not YAML: {error.problem or error.context or error}"
    except yaml.YAMLError as error:
        line, said = 1, f"this is not YAML: {error}"
    except RecursionError:
        line, said = 1, "nested too deeply; a record is a mapping of fields"
    parsed = Parsed()
    parsed.problems.append(((), line, " ".join(said.split())))
    return parsed


class _Construction:
    """Plain data out of YAML's nodes."""

    def __init__(self, problems: list[tuple[Path, int, str]]) -> None:
        self._problems = problems
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, path: Path) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self._seen:
            self._wrong(node, path, "anchors and aliases are not read; write the value out")
            return None
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key, str):
                self._wrong(key_node, path, "a key must be plain text")
            elif key in found:
                self._wrong(key_node, (*path, key), f"duplicate key, first given on line {first[key]}; remove one")
            else:
                first[key] = key_node.start_mark.line + 1
                found[key] = self.value(value_node, (*path, key))
        return found

    def _wrong(self, node: yaml.Node, path: Path, message: str) -> None:
        self._problems.append((path, node.start_mark.line + 1, message))


def _walk(node: yaml.Node, path: Path, place: yaml.Node) -> Iterator[tuple[Path, yaml.Node, yaml.Node]]:
    """Each value with its path and the node that its line is read from: its key, where it has one."""
    yield path, place, node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key.value, str):
                yield from _walk(value, (*path, key.value), key)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*path, index), item)


def _scalar(node: yaml.ScalarNode) -> Any:
    value = node.value
    if node.tag == _STR:
        return value
    match node.tag.removeprefix(_TAG):
        case "null":
            return None
        case "bool":
            return value.lower() == "true"
        case "int":
            return int(value)
        case "float":
            return float(value)
        case "binary":
            return base64.b64decode(value)
        case _:
            return value


# A block literal keeps tabs and trailing spaces, which PyYAML's emitter would rather escape; what it can't keep is
# any other control character, a carriage return, or one of the line breaks that a YAML reader folds into a newline.
_BLOCKABLE = re.compile(r"[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")


class _Dumper(yaml.SafeDumper):
    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        if "\n" in scalar and _BLOCKABLE.fullmatch(scalar):
            analysis.allow_block = True
        return analysis

    def determine_block_hints(self, text: str) -> str:
        # Readers take a leading tab for indentation unless they are told how deep the block is.
        hints = str(super().determine_block_hints(text))
        return f"{self.best_indent}{hints}" if text.startswith("\t") else hints


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    block = "|" if "\n" in value else None
    style = block if _BLOCKABLE.fullmatch(value) else '"'
    return dumper.represent_scalar(_STR, value, style=style)


def _represent_bytes(dumper: yaml.SafeDumper, value: bytes) -> yaml.Node:
    try:
        return _represent_text(dumper, value.decode("utf-8"))
    except UnicodeDecodeError:
        return dumper.represent_binary(value)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(bytes, _represent_bytes)


def dump(data: Mapping[str, Any]) -> str:
    """YAML text that `parse` reads back to the same data: keys in the order given, block text where it can be.

    Bytes that are UTF-8 are written as text, others as `!!binary`.
    """
    return str(
        yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31, default_flow_style=False)
    )
