"""An issue that can be filed as it is. Pure."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger.loader import Record
from feedback_ledger.model import Evidence
from feedback_ledger.render import LANGUAGES
from feedback_ledger.targets import Target
from feedback_ledger.text import environment, outcome, rate, shortened, versions_lines
from feedback_ledger.vocabulary import Ecosystem, Status

MOST_CHARACTERS = 65_536
"""What GitHub takes as the body of an issue; a longer one is refused, or lost without a word."""
_MOST_IN_ADDRESS = 6_000


@dataclass(frozen=True)
class TooLong:
    """Why no issue can be made: its text stays too long even without any output."""

    characters: int


def issue_text(
    templates: Mapping[str, str],
    record: Record,
    target: Target,
    evidence: Evidence,
    program: str,
    needed: Sequence[str],
) -> str | TooLong:
    """The text for one finding from a fresh capture: under 65,536 characters, output cut first, and said to be."""
    template = environment(templates).get_template("issue.md.j2")
    finding = record.finding
    is_python = record.reproducer.suffix == ".py"
    package = target.package if target.ecosystem is Ecosystem.PYPI else None
    command = evidence.command
    if is_python:
        command = f"uv run {record.reproducer.name}"
    elif command.startswith("./"):
        command = f"chmod +x {record.reproducer.name}\n{command}"
    said = {
        "finding": finding,
        "file_name": record.reproducer.name,
        "program": pinned(program, package, evidence.release) if is_python else program,
        "language": LANGUAGES.get(record.reproducer.suffix, ""),
        "with_uv": is_python,
        "command": command,
        "versions": versions_lines(finding.target, evidence.versions),
        "needs": " and ".join(needed),
        "rate": rate(evidence),
        "known": _known(record),
    }
    output = outcome(evidence.observations[0][0])
    text = template.render(**said, output=output)
    over = len(text) - (MOST_CHARACTERS - 1)
    if over > 0:
        text = template.render(**said, output=shortened(output, max(len(output) - over - 200, 0)))
    return text if len(text) < MOST_CHARACTERS else TooLong(len(text))


def pinned(program: str, package: str | None, release: str | None) -> str:
    """The program with the header's pin of the target set to the release that was run."""
    if package is None or release is None:
        return program
    name = re.sub(r"[-_.]+", "[-_.]+", re.escape(package).replace("\\-", "-"))
    pattern = re.compile(rf"(?im)^(# .*[\"'])({name}(?:\[[^\]]*\])?)\s*(?:[=<>!~][^\"';]*)?(?=[\"';])")
    return pattern.sub(rf"\g<1>\g<2>=={release}", program, count=1)


def _known(record: Record) -> str:
    finding = record.finding
    said = [f"Reported: {finding.upstream.issue}"] if finding.upstream.issue else []
    if finding.status is Status.FIXED:
        fixed = [span.fixed for span in finding.affected if span.fixed]
        said.append(f"It no longer shows in {', '.join(fixed)}." if fixed else "It no longer shows in later releases.")
    return " ".join(said)


def issue_address(upstream: str, title: str, text: str) -> str:
    """The address that opens a filled-in form in a browser; the text is cut to what addresses can carry, and that is
    said.
    """
    whole = text.partition("\n")[2].lstrip("\n")
    body, most = whole, len(whole)
    while len(urllib.parse.quote(body)) > _MOST_IN_ADDRESS:
        most = most * 9 // 10
        body = shortened(whole, most)
    query = urllib.parse.urlencode({"title": title, "body": body}, quote_via=urllib.parse.quote)
    return f"https://github.com/{upstream}/issues/new?{query}"
