"""Markdown, made safe: fences that their content can't close, table cells on one line, control characters that can be
seen. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined, TemplateError, TemplateSyntaxError

from feedback_ledger.errors import BadLedger, Problem
from feedback_ledger.model import Evidence, Observation, Versions
from feedback_ledger.vocabulary import OUTPUT_LIMIT, TIMEOUT

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def rendered(templates: Mapping[str, str], name: str, said: Mapping[str, Any]) -> str:
    """One of some templates, given as text, with what it has to say. Raises BadLedger if it is no template, or asks for
    what there is not.
    """
    try:
        return _environment(templates).get_template(name).render(said)
    except TemplateError as error:
        line = error.lineno if isinstance(error, TemplateSyntaxError) else 0
        raise BadLedger([Problem(f"templates/{name}", line, "", error.message or type(error).__name__)]) from error


def _environment(templates: Mapping[str, str]) -> Environment:
    made = Environment(
        loader=DictLoader(templates),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"cell": cell, "line": one_line, "fenced": fenced}
    return made


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """The text as it can stand in a cell of a table."""
    return one_line(text).replace("\\|", "|").replace("|", "\\|")


def fenced(text: str, language: str = "") -> str:
    """The text in a code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    body = text if text.endswith("\n") or not text else text + "\n"
    return f"{fence}{language}\n{body}{fence}"


def seen(stream: bytes) -> str:
    """A stream as text on a page: what is no text, or would not be seen, is written as an escape."""
    return visible(stream.decode("utf-8", "backslashreplace").replace("\r\n", "\n"))


def visible(text: str) -> str:
    """The text with whatever would not be seen, or would do something to a terminal, written as an escape."""
    return _UNSEEN.sub(lambda found: found.group(0).encode("unicode_escape").decode(), text)


def outcome(run: Observation) -> str:
    """What one run printed and how it ended, as one block of text."""
    ended = {
        TIMEOUT: f"[still running after {run.duration_s:.1f} s, and ended]",
        OUTPUT_LIMIT: f"[still printing after {run.duration_s:.1f} s, and ended]",
    }.get(str(run.exit), f"[exit {run.exit}]")
    stdout, stderr = seen(run.stdout), seen(run.stderr)
    blocks = [stdout, f"[stderr]\n{stderr}" if stderr else "", ended]
    return "".join(block if block.endswith("\n") else f"{block}\n" for block in blocks if block)


def shortened(text: str, most: int) -> str:
    """At most about `most` characters: the middle is left out, by whole lines where there are lines, and that is
    said.
    """
    if len(text) <= most:
        return text
    half = max(most // 2 - 40, 0)
    head = text[:half]
    tail = text[len(text) - half :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    cut = len(text) - len(head) - len(tail)
    joint = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{joint}[... {cut:,} characters left out here ...]\n{tail}"


def rate(evidence: Evidence) -> str:
    """`k of n` for a finding that was run several times; empty for a single run."""
    return f"{evidence.hits} of {evidence.runs}" if evidence.runs > 1 else ""


def versions_lines(target: str, versions: Versions) -> list[str]:
    """What was in force, a line each, the target first; `target` is its package's name where it has one."""
    target_line = [f"{target} {versions.target}"] if versions.target else []
    packages = [f"{name} {version}" for name, version in versions.packages.items()]
    commands = [f"{name} {version}" for name, version in versions.commands.items()]
    python = [f"Python {versions.python}"] if versions.python else []
    system = f"{versions.platform}, {versions.libc}" if versions.libc else versions.platform
    return list(dict.fromkeys([*target_line, *packages, *commands, *python, system]))
