"""Whether two captures state the same facts, and how they differ. Pure.

Durations, addresses, process ids, ports, dates and temporary names change from run to run; a difference in these
alone is none that a reader would care about.
"""

from __future__ import annotations

import difflib
import itertools
import re

from feedback_ledger.model import Evidence, Observation, Versions
from feedback_ledger.text import seen

_VOLATILE = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<date>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\d+(?:\.\d+)?(?= ?(?:ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?)\b)"), "<n>"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"(?i)\b(pid|process|thread|tid)([ =:#('\"<]{1,3})\d+"), r"\1\2<n>"),
    (re.compile(r"\b(127\.0\.0\.1|localhost|\[::1\]):\d{2,5}\b"), r"\1:<port>"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "<tmp>"),
)


def steady(text: str) -> str:
    """The text with everything replaced that changes from run to run."""
    for pattern, stands_for in _VOLATILE:
        text = pattern.sub(stands_for, text)
    return text


def same_facts(old: Evidence, new: Evidence) -> bool:
    """Whether `new` says nothing that a reader of `old` would care about."""
    return facts(old) == facts(new)


def facts(evidence: Evidence) -> tuple[object, ...]:
    """What a reader would care about; the same in every process, so that it can be kept as a digest."""
    return (
        (evidence.finding, evidence.target, evidence.release, evidence.command, evidence.reproducer_sha256),
        _version_facts(evidence.versions),
        outcome_facts(evidence.observations[0][0]),
        tuple(sorted({outcome_facts(run) for run, _ in evidence.observations}, key=repr)),
    )


def _version_facts(versions: Versions) -> tuple[object, ...]:
    python = ".".join(versions.python.split(".")[:2]) if versions.python else None
    libc = versions.libc.split()[0] if versions.libc else None
    named = tuple(sorted(versions.packages.items())), tuple(sorted(versions.commands.items()))
    return python, versions.platform, libc, versions.target, named


def outcome_facts(run: Observation) -> tuple[object, ...]:
    """What a reader would care about in one run; two runs with equal facts are the same outcome."""
    # surrogateescape: bytes that differ must stay different
    stdout, stderr = (steady(stream.decode("utf-8", "surrogateescape")) for stream in (run.stdout, run.stderr))
    return run.exit, stdout, _said_once(stderr), bool(run.cut.stdout), bool(run.cut.stderr)


def _said_once(stderr: str) -> tuple[str, ...]:
    """Lines without their repetitions: how often a warning is repeated depends on threads and retries."""
    return tuple(line for line, _ in itertools.groupby(stderr.split("\n")))


def diff(old: Evidence, new: Evidence) -> str:
    """A unified diff of what two captures show, in lines a person can read; empty if only what is volatile differs."""
    lines = difflib.unified_diff(
        _shown(old),
        _shown(new),
        fromfile=_of(old),
        tofile=_of(new),
        lineterm="",
    )
    return "\n".join(lines)


def _of(evidence: Evidence) -> str:
    return f"{evidence.target} {evidence.release or ''}".rstrip()


def _shown(evidence: Evidence) -> list[str]:
    lines: list[str] = []
    for run, _ in evidence.observations:
        lines.append(f"exit: {run.exit}")
        for name, stream in (("stdout", run.stdout), ("stderr", run.stderr)):
            lines += [f"{name}: {line}" for line in steady(seen(stream)).splitlines()]
    return lines
