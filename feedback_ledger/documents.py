"""YAML text to plain data with the line of every field, and back.

Only the core schema is read: `null`, `true`, `false`, numbers, text. Dates and `yes`/`no` stay text; duplicate keys,
anchors and tags are refused; and an unquoted value remembers how it was written, so that `1.10` can be quoted back to
its author.
"""

from __future__ import annotations

import base64
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import yaml

from feedback_ledger.errors import BadLedger, Problem

Path = tuple[str | int, ...]
Wrong = tuple[Path, int, str]
"""What is wrong in a document: the path of the value, its line, and the message."""


def read_text(path: pathlib.Path, shown: str) -> str:
    """The text of a file that a person wrote; `shown` is its name in errors. Raises BadLedger if it can't be read."""
    try:
        return path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {error.start}); save it as UTF-8"
        raise BadLedger([Problem(shown, line, "", message)]) from error
    except OSError as error:
        raise BadLedger([Problem(shown, 0, "", f"cannot be read: {error.strerror}")]) from error


class Parsed:
    """Data and what is wrong with it; where each value stands is worked out only when somebody asks, as few records
    are wrong.
    """

    def __init__(self, text: str, data: Any, problems: Sequence[Wrong]) -> None:
        self.data = data
        self.problems = tuple(problems)
        self._text = text

    @cached_property
    def lines(self) -> Mapping[Path, int]:
        """The line, from 1, of each key and item by its path."""
        return {path: _line(place) for path, place, _ in self._places()}

    @cached_property
    def raw(self) -> Mapping[Path, str]:
        """How each unquoted number, `true` and `false` was written."""
        return {path: node.value for path, _, node in self._places() if node.tag in (_INT, _FLOAT, _BOOL)}

    def line(self, path: Path) -> int:
        """The line of the value at `path`, or of the innermost thing around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def _places(self) -> Iterator[tuple[Path, yaml.Node, yaml.Node]]:
        node = None if self.data is None else yaml.compose(self._text, Loader=_CoreLoader)
        return _walk(node, (), node) if node is not None else iter(())


_C_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_BINARY = f"{_TAG}binary"
# What a value is when no tag says so; compared by identity, as a tag may be spelled like anything.
_STR, _NULL, _BOOL, _INT, _FLOAT, _MAP, _SEQ = ("text", "null", "bool", "int", "float", "mapping", "list")
_WORDS = {
    **dict.fromkeys(("~", "null", "Null", "NULL", ""), _NULL),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), _BOOL),
}
_NUMBERS = (
    (re.compile(r"[-+]?[0-9]+"), _INT),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), _FLOAT),
)
_LONGEST_INT = 1_000
"""Python refuses to read integers of many more digits. No field of ours has a use for them: they are infinite."""
_DEEPEST = 50
"""No document of ours is a tenth as deep, and Python's stack holds this many times over."""


class _CoreLoader(_C_PARSER):  # type: ignore[misc]
    """Resolves plain scalars by the core schema only, and faster than PyYAML's rules for all of YAML 1.1."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool] | bool) -> str:
        if kind is not yaml.ScalarNode:
            return _MAP if kind is yaml.MappingNode else _SEQ
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


def parse(text: str, *, binary: bool = True) -> Parsed:
    """Reads one YAML document; `binary` says whether `!!binary` is read, the one tag that `dump` writes.

    Nothing is raised: what is wrong with the text is in `problems`.
    """
    try:
        _refuse_references(text)
        node = yaml.compose(text, Loader=_CoreLoader)
        problems: list[Wrong] = []
        data = None if node is None else _Construction(problems, binary).value(node, ())
        return Parsed(text, data, problems)
    except _Refused as refused:
        wrong: Wrong = refused.wrong
    except yaml.MarkedYAMLError as error:
        wrong = _not_yaml(*_explained(error, text))
    except yaml.reader.ReaderError as error:
        # The error counts bytes or characters, depending on who reads; the first such character is meant either way.
        line = text.count("\n", 0, max(0, text.find(chr(error.character)))) + 1
        wrong = _not_yaml(line, f"unacceptable character #x{error.character:04x}; remove it")
    except RecursionError:
        # Only PyYAML's own parser, where there is no libyaml, gets here.
        wrong = ((), 1, _TOO_DEEP)
    return Parsed(text, None, [wrong])


class _Refused(Exception):
    """There is no sense in reading on."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        self.wrong: Wrong = (path, line, message)
        super().__init__(message)


_TOO_DEEP = "nested too deeply; a record is a mapping of fields"
# The composer puts one node in many places and tells no alias's line, so these are looked for before it runs, where
# they can be at all: an ampersand that a letter follows and none precedes.
_ANCHOR = re.compile(r"(?<![\w>])&[\w-]")


def _refuse_references(text: str) -> None:
    """Raises _Refused for the first alias or, where there is none, for the first anchor."""
    if "&" not in text or not _ANCHOR.search(text):
        return
    anchor: _Refused | None = None
    for path, event in _events(text):
        if event.anchor is not None:
            found = _Refused(path, _line(event), "anchors and aliases are not read; write the value out")
            if isinstance(event, yaml.AliasEvent):
                raise found
            anchor = anchor or found
    if anchor:
        raise anchor


def _events(text: str) -> Iterator[tuple[Path, yaml.NodeEvent]]:
    """Everything that begins a value, in the order written, with its path."""
    # Of each open collection: the index or key of what comes next; None in a mapping whose next key is to come.
    steps: list[str | int | None] = []
    for event in yaml.parse(text, Loader=_CoreLoader):
        if isinstance(event, yaml.NodeEvent):
            yield tuple(step for step in steps if step is not None), event
            if isinstance(event, yaml.CollectionStartEvent):
                steps.append(0 if isinstance(event, yaml.SequenceStartEvent) else None)
                continue
        elif isinstance(event, yaml.CollectionEndEvent):
            steps.pop()
        else:
            continue
        match steps[-1:]:
            case [int(index)]:
                steps[-1] = index + 1
            case [None]:
                steps[-1] = event.value if isinstance(event, yaml.ScalarEvent) else "?"
            case [_]:
                steps[-1] = None


def _not_yaml(line: int, said: str) -> Wrong:
    return (), line, f"this is not YAML: {' '.join(said.split())}"


def _explained(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """The line that a person has to look at, and what the parser says of it, with a way out where one is known."""
    context, said = error.context or "", error.problem or error.context or str(error)
    at: Any = error.problem_mark or error.context_mark
    opened: Any = error.context_mark or error.problem_mark
    if at is None:
        return 1, said
    if context.startswith("while parsing a flow"):
        at = opened
    elif context.startswith("while scanning a quoted"):
        at, said = opened, "the quote that opens here is not closed"
    elif said == "found character that cannot start any token" or "alias" in f"{context} {said}":
        begun = text[opened.index]
        tab = "a tab cannot indent; write spaces"
        said = tab if begun == "\t" else f'text cannot begin with "{begun}"; put it in quotes'
    else:
        said = _WAYS_OUT.get(said, said)
    return int(at.line) + 1, said


_WAYS_OUT = {
    "but found another document": "expected a single document, but found another document",
    "mapping values are not allowed in this context": (
        'mapping values are not allowed in this context; put text that holds ": " in quotes'
    ),
}


class _Construction:
    """Plain data out of YAML's nodes."""

    def __init__(self, problems: list[Wrong], binary: bool) -> None:
        self._problems = problems
        self._binary = binary

    def value(self, node: yaml.Node, path: Path) -> Any:
        tag = node.tag
        if tag is _MAP or tag is _SEQ:
            if len(path) > _DEEPEST:
                raise _Refused((), _line(node), _TOO_DEEP)
            if tag is _MAP:
                return self._mapping(node, path)
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            return self._scalar(node, path)
        except ValueError:
            self._wrong(node, path, "this is not base64; write the text itself")
            return None

    def _mapping(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, yaml.Node] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if key_node.tag is not _STR:
                self._wrong(key_node, path, "a key must be plain text")
            elif key in found:
                said = f"duplicate key, first given on line {_line(first[key])}; remove one"
                self._wrong(key_node, (*path, key), said)
            else:
                first[key] = key_node
                # Most values are text, and need no path.
                found[key] = value_node.value if value_node.tag is _STR else self.value(value_node, (*path, key))
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        tag, value = node.tag, node.value
        if tag is _STR:
            return value
        if tag is _NULL:
            return None
        if tag is _BOOL:
            return value.lower() == "true"
        if tag is _FLOAT or (tag is _INT and len(value) > _LONGEST_INT):
            return float(value)
        if tag is _INT:
            return int(value)
        if tag == _BINARY and self._binary:
            return base64.b64decode(value)
        said = f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
        self._wrong(node, path, f"tags are not read; write the value without {said}")
        return None

    def _wrong(self, node: yaml.Node, path: Path, message: str) -> None:
        self._problems.append((path, _line(node), message))


def _line(at: Any) -> int:
    """The line on which a node or an event begins."""
    return int(at.start_mark.line) + 1


def _walk(node: yaml.Node, path: Path, place: yaml.Node) -> Iterator[tuple[Path, yaml.Node, yaml.Node]]:
    """Each value with its path and the node that its line is read from: its key, where it has one."""
    yield path, place, node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.tag is _STR:
                yield from _walk(value, (*path, key.value), key)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*path, index), item)
