"""An issue that can be filed as it is. Pure."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback_ledger.loader import Record
from feedback_ledger.model import Evidence, Finding
from feedback_ledger.render import LANGUAGES
from feedback_ledger.targets import Target
from feedback_ledger.text import outcome, rate, rendered, shortened, versions_lines
from feedback_ledger.vocabulary import Disclosure, Ecosystem, Status

MOST_CHARACTERS = 65_536
"""What GitHub takes as the body of an issue; a longer one is refused, or lost without a word."""
_MOST_IN_ADDRESS = 6_000
_NAMED = re.compile(r"(?<![\w-])F-[0-9]{3,}(?!\w)")


@dataclass(frozen=True)
class TooLong:
    """Why no issue can be made: its text stays too long even without any output."""

    characters: int


@dataclass(frozen=True)
class Other:
    """Another finding that an issue names; `verified` tells whether it has a capture."""

    finding: Finding
    verified: bool

    @property
    def said(self) -> str:
        """What upstream may be told of it, in a line: of a private finding nothing."""
        if self.finding.disclosure is Disclosure.PRIVATE:
            return f"{self.finding.id}: not public yet"
        if self.finding.status is Status.WITHDRAWN:
            return f"{self.finding.id}: withdrawn"
        notes = [] if self.finding.status is Status.OPEN else [self.finding.status.value]
        notes += [] if self.verified else ["not verified yet"]
        note = f" ({', '.join(notes)})" if notes else ""
        reported = f"; reported: {self.finding.upstream.issue}" if self.finding.upstream.issue else ""
        return f"{self.finding.id}: {self.finding.title}{note}{reported}"


def named(finding: Finding, program: str) -> set[str]:
    """The ids that the texts of a finding and its program name, but for its own; there may be no such findings."""
    texts = [finding.title, finding.summary, finding.expected, finding.actual, finding.impact, finding.proposed_fix]
    texts += [finding.workaround or "", program]
    return {found for text in texts for found in _NAMED.findall(text)} - {finding.id}


def issue_text(
    templates: Mapping[str, str],
    record: Record,
    target: Target,
    evidence: Evidence,
    program: str,
    needed: Sequence[str],
    others: Sequence[Other] = (),
) -> str | TooLong:
    """The text for one finding from a fresh capture: under 65,536 characters, output cut first, and said to be.
    `others` are the findings that it names.
    """
    finding = record.finding
    is_python = record.reproducer.suffix == ".py"
    said = {
        "finding": finding,
        "file_name": record.reproducer.name,
        "program": pinned(program, target, evidence),
        "language": LANGUAGES.get(record.reproducer.suffix, ""),
        "with_uv": is_python,
        "command": _commands(record, evidence),
        "versions": versions_lines(target.package or finding.target, evidence.versions),
        "needs": " and ".join(needed),
        "rate": rate(evidence),
        "known": _known(record),
        "others": [other.said for other in others],
    }
    output = outcome(evidence.observations[0][0])
    text = rendered(templates, "issue.md.j2", {**said, "output": output})
    over = len(text) - (MOST_CHARACTERS - 1)
    if over > 0:
        output = shortened(output, max(len(output) - over - 200, 0))
        text = rendered(templates, "issue.md.j2", {**said, "output": output})
    return text if len(text) < MOST_CHARACTERS else TooLong(len(text))


def _commands(record: Record, evidence: Evidence) -> str:
    """What to type in an empty folder that holds nothing but the program."""
    name = record.reproducer.name
    if record.reproducer.suffix == ".py":
        return f"uv run {name}"
    if evidence.command.startswith("node ") and evidence.versions.packages:
        packages = " ".join(f"{package}@{version}" for package, version in evidence.versions.packages.items())
        return f"npm install {packages}\n{evidence.command}"
    return f"chmod +x {name}\n{evidence.command}" if evidence.command.startswith("./") else evidence.command


def pinned(program: str, target: Target, evidence: Evidence) -> str:
    """The program with its header asking for what was in force: the target at the release that was run, and packages
    that only the settings had added.
    """
    if target.package is None or evidence.release is None:
        return program
    if target.ecosystem is Ecosystem.NPM:
        own = re.compile(rf"(?m)^(// .*[\"']){re.escape(target.package)}(?:@[^\"']*)?(?=[\"'])")
        return own.sub(rf"\g<1>{target.package}@{evidence.release}", program, count=1)
    own = re.compile(rf"(?im)^(# .*[\"'])({_spelled(target.package)}(?:\[[^\]]*\])?)\s*(?:[=<>!~][^\"';]*)?(?=[\"';])")
    program = own.sub(rf"\g<1>\g<2>=={evidence.release}", program, count=1)
    added = [
        f'"{name}=={version}", '
        for name, version in evidence.versions.packages.items()
        if not re.search(rf"(?im)^#.*[\"']{_spelled(name)}\b", program)
    ]
    return re.sub(r"(?m)^(# *dependencies *= *\[)", rf"\g<1>{''.join(added)}", program, count=1)


def _spelled(package: str) -> str:
    """A pattern for every way in which a package's name may be written."""
    return "[-_.]+".join(map(re.escape, re.split(r"[-_.]+", package)))


def _known(record: Record) -> str:
    finding = record.finding
    said = [f"Reported: {finding.upstream.issue}"] if finding.upstream.issue else []
    if finding.status is Status.FIXED:
        fixed = [span.fixed for span in finding.affected if span.fixed]
        said.append(f"It no longer shows in {', '.join(fixed)}." if fixed else "It no longer shows in later releases.")
    return " ".join(said)


def issue_address(upstream: str, title: str, text: str) -> str:
    """The address that opens a filled-in form in a browser, at GitHub where `upstream` names no host; the text is cut
    to what addresses can carry, and that is said.
    """
    whole = text.partition("\n")[2].lstrip("\n")
    body, most = whole, len(whole)
    while len(urllib.parse.quote(body)) > _MOST_IN_ADDRESS:
        most = most * 9 // 10
        body = shortened(whole, most)
    repository = upstream if upstream.count("/") > 1 else f"github.com/{upstream}"
    if repository.lower().startswith("gitlab."):
        form, said = "/-/issues/new", {"issue[title]": title, "issue[description]": body}
    else:
        form, said = "/issues/new", {"title": title, "body": body}
    return f"https://{repository}{form}?{urllib.parse.urlencode(said, quote_via=urllib.parse.quote)}"
