"""What a reproducer's header asks for, and which packages a run on one release therefore needs. Pure.

The header is PEP 723's: TOML in comments between `# /// script` and `# ///`; in JavaScript the comments begin with
`//`.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from feedback_ledger.ordering import in_range
from feedback_ledger.targets import Target
from feedback_ledger.vocabulary import Ecosystem

_BLOCK = r"(?m)^{c} /// script[ \t]*$\n(?P<content>(?:^{c}(?:| .*)$\n)+?)^{c} ///[ \t]*$"
_COMMENTS = {Ecosystem.PYPI: "#", Ecosystem.NPM: "//"}
_NPM_NAME = re.compile(r"(?P<name>(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*)(?:@(?P<version>[^@\s]+))?")


@dataclass(frozen=True)
class Wanted:
    """A set of packages for an interpreter; equal sets share one environment. `named` are their names, without
    versions.
    """

    ecosystem: Ecosystem
    requires_python: str
    requirements: tuple[str, ...]
    named: tuple[str, ...]

    def key(self, machine: Sequence[object]) -> str:
        """The name of its folder on a machine, which is told by what else the packages depend on there."""
        said = json.dumps([*map(str, machine), self.ecosystem, self.requires_python, self.requirements])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class BadHeader:
    """Why a header can't be read, in one line."""

    reason: str


@dataclass(frozen=True)
class _Header:
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()


def wanted(program: str, language: Ecosystem, target: Target, release: str | None) -> Wanted | BadHeader:
    """The packages for one run: those of the header, the target's own at the release under test, and its companions.

    A companion is a package that an old release needs at an older version than it asks for; one that the header names
    itself is left as the header has it.
    """
    header = _header(program, language)
    if isinstance(header, BadHeader):
        return header
    own = target.package if target.ecosystem is language else None
    companions = _companions(target, release) if own else ()
    try:
        if language is Ecosystem.NPM:
            return _wanted_from_npm(header, own, release, companions)
        return _wanted_from_pypi(header, own, release, companions)
    except (InvalidRequirement, InvalidSpecifier, ValueError) as error:
        return _bad(language, str(error))


def _header(program: str, language: Ecosystem) -> _Header | BadHeader:
    mark = _COMMENTS[language]
    blocks = list(re.finditer(_BLOCK.format(c=re.escape(mark)), program))
    if not blocks:
        return _Header()
    if len(blocks) > 1:
        return BadHeader(f"the reproducer has two `{mark} /// script` headers; keep one")
    lines = (line.removeprefix(mark).removeprefix(" ") for line in blocks[0]["content"].splitlines(keepends=True))
    try:
        data = tomllib.loads("".join(lines))
    except tomllib.TOMLDecodeError as error:
        return _bad(language, str(error))
    dependencies = data.get("dependencies", [])
    if not isinstance(dependencies, list):
        return _bad(language, "dependencies is no list")
    return _Header(str(data.get("requires-python", "")), tuple(map(str, dependencies)))


def _bad(language: Ecosystem, why: str) -> BadHeader:
    said = ": ".join(" ".join(line.split()) for line in why.splitlines()[:2])  # a third points at a column
    return BadHeader(f"the reproducer's `{_COMMENTS[language]} /// script` header is wrong: {said}")


def _companions(target: Target, release: str | None) -> tuple[str, ...]:
    return tuple(
        package
        for companion in target.companions
        if release is not None and in_range(release, companion.releases)
        for package in companion.packages
    )


def _wanted_from_pypi(header: _Header, own: str | None, release: str | None, companions: Sequence[str]) -> Wanted:
    SpecifierSet(header.requires_python)
    asked = {_name(requirement): requirement for requirement in map(Requirement, header.dependencies)}
    if own and release:
        mine = asked.setdefault(str(canonicalize_name(own)), Requirement(own))
        mine.specifier, mine.url = SpecifierSet(f"=={release}"), None
    for companion in map(Requirement, companions):
        asked.setdefault(_name(companion), companion)
    return Wanted(Ecosystem.PYPI, header.requires_python, tuple(sorted(map(str, asked.values()))), tuple(sorted(asked)))


def _name(requirement: Requirement) -> str:
    return str(canonicalize_name(requirement.name))


def _wanted_from_npm(header: _Header, own: str | None, release: str | None, companions: Sequence[str]) -> Wanted:
    asked = dict(map(_npm_parts, header.dependencies))
    if own and release:
        asked[own] = release
    for name, version in map(_npm_parts, companions):
        asked.setdefault(name, version)
    requirements = tuple(f"{name}@{version}" if version else name for name, version in sorted(asked.items()))
    return Wanted(Ecosystem.NPM, "", requirements, tuple(sorted(asked)))


def _npm_parts(dependency: str) -> tuple[str, str]:
    parts = _NPM_NAME.fullmatch(dependency)
    if parts is None:
        raise ValueError(f'expected a package such as "@scope/name@1.2.3", found "{dependency}"')
    return parts["name"], parts["version"] or ""
