"""YAML text to plain data with the line of every field, and back.

Only the core schema is read: `null`, `true`, `false`, numbers, text. Dates and `yes`/`no` stay text, duplicate keys and
anchors are refused, and an unquoted number remembers how it was written, so that `1.10` can be quoted back to its
author.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import yaml

Path = tuple[str | int, ...]


@dataclass
class Parsed:
    """Data, the line of each value by its path, how each plain scalar was written, and (path, line, message) of what
    is wrong.
    """

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    raw: dict[Path, str] = field(default_factory=dict)
    problems: list[tuple[Path, int, str]] = field(default_factory=list)


_C_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = (
    ("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789")),
    (
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
        list("-+0123456789."),
    ),
)


class _CoreLoader(_C_PARSER):  # type: ignore[misc]
    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


for _tag, _pattern, _first in _CORE:
    _CoreLoader.add_implicit_resolver(_tag, _pattern, _first)


def parse(text: str) -> Parsed:
    """Reads one YAML document. Nothing is raised: what is wrong with the text is in `problems`."""
    parsed = Parsed()
    try:
        node = yaml.compose(text, Loader=_CoreLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(str(error.problem or error.context or error).split())
        parsed.problems.append(((), mark.line + 1 if mark else 1, f"this is not YAML: {said}"))
        return parsed
    except yaml.YAMLError as error:
        parsed.problems.append(((), 1, f"this is not YAML: {' '.join(str(error).split())}"))
        return parsed
    except RecursionError:
        parsed.problems.append(((), 1, "nested too deeply; a record is a mapping of fields"))
        return parsed
    if node is not None:
        parsed.data = _construct(node, (), parsed, set())
    return parsed


def _construct(node: yaml.Node, path: Path, parsed: Parsed, seen: set[int]) -> Any:
    line = node.start_mark.line + 1
    parsed.lines.setdefault(path, line)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, path, parsed)
    if id(node) in seen:
        parsed.problems.append((path, line, "anchors and aliases are not read; write the value out"))
        return None
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, (*path, index), parsed, seen) for index, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, parsed, seen)
    raise AssertionError(f"an unknown kind of node: {node!r}")


def _mapping(node: yaml.MappingNode, path: Path, parsed: Parsed, seen: set[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            parsed.problems.append((path, line, "a key must be plain text"))
            continue
        key = str(key_node.value)
        here = (*path, key)
        if key in found:
            first = parsed.lines[here]
            parsed.problems.append((here, line, f"duplicate key, first given on line {first}; remove one"))
            continue
        parsed.lines[here] = line
        found[key] = _construct(value_node, here, parsed, seen)
    return found


def _scalar(node: yaml.ScalarNode, path: Path, parsed: Parsed) -> Any:
    value = str(node.value)
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return value.lower() == "true"
        case "int":
            parsed.raw[path] = value
            return int(value)
        case "float":
            parsed.raw[path] = value
            return float(value)
        case "binary":
            return _CoreLoader("").construct_yaml_binary(node)
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
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


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
