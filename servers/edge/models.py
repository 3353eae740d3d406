"""The arguments that tools take and the answers that they give. What gets past these is fit for SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from servers.edge.settings import Tls
from servers.toolserver import LONE_SURROGATE, Answer, ErrorBody
from servers.workarounds import workaround

MAX_TEXT, MAX_TAG, MAX_TITLE, MAX_SEARCH, MAX_PAGE, MAX_VERSIONS = 20_000, 100, 200, 200, 100, 20
MAX_ID = 2**63 - 1


class Area(StrEnum):
    """What a friction is about."""

    SDK = "sdk"
    EDGE = "edge"
    POSTGRES = "postgres"
    CLI = "cli"
    ANYBUILD = "anybuild"
    REGISTRY = "registry"
    MCP = "mcp"
    DOCS = "docs"
    OTHER = "other"


class Severity(StrEnum):
    """How much a friction hurts; the ledger's words."""

    BLOCKER = "blocker"
    MAJOR = "major"
    MINOR = "minor"
    PAPERCUT = "papercut"


def _bad(problem: str) -> PydanticCustomError:
    return PydanticCustomError("unfit", "{problem}", {"problem": problem})


def plain(text: str, least: int, most: int) -> str:
    """The text, if Postgres can keep it as it is. Raises what pydantic reports."""
    if not least <= len(text) <= most:
        raise _bad(f"must have from {least} to {most} characters, and has {len(text)}")
    if "\0" in text:
        raise _bad("must not hold the character NUL, which Postgres cannot keep")
    if workaround("F-055") and LONE_SURROGATE.search(text):
        raise _bad("must not hold half of a surrogate pair, which is no text in UTF-8")
    if least and not text.strip():
        raise _bad("must hold more than white space")
    return text


@dataclass(frozen=True)
class Check:
    """Something about a text argument, to be written into its annotation: what fits, and what its schema says."""

    fit: Callable[[str], str]
    schema: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.fit, handler(source))

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string"} | self.schema


def text(why: str, least: int, most: int) -> Check:
    """A text of so many characters."""
    return Check(lambda said: plain(said, least, most), {"description": why, "minLength": least, "maxLength": most})


def one_of(why: str, *words: str) -> Check:
    """One of a few words."""

    def fit(said: str) -> str:
        if said not in words:
            raise _bad(f"must be one of {', '.join(repr(str(word)) for word in words)}")
        return said

    return Check(fit, {"description": why, "enum": [str(word) for word in words]})


def text_to_find(why: str) -> Check:
    """A text to look for, by which the index can find something; or none."""

    def fit(said: str) -> str:
        runs = "".join(c if c.isalnum() else " " for c in plain(said, 0, MAX_SEARCH)).split()
        if said and not any(len(run) >= 3 for run in runs):
            raise _bad("must hold at least three letters or digits in a row, which is what the index goes by")
        return said

    return Check(fit, {"description": why, "maxLength": MAX_SEARCH})


def _fit_versions(versions: dict[str, str]) -> dict[str, str]:
    if len(versions) > MAX_VERSIONS:
        raise _bad(f"must have at most {MAX_VERSIONS} entries, and has {len(versions)}")
    for name, version in versions.items():
        plain(name, 1, MAX_TAG)
        plain(version, 1, MAX_TAG)
    return versions


# A text argument is annotated as `str` and nothing else, or the SDK would parse it as JSON. workaround: F-076
Limit = Annotated[int, Field(strict=True, ge=1, le=MAX_PAGE, description="How many to give at once.")]
Cursor = Annotated[str, text("The next_cursor of the page before, with the same filters; empty for the first.", 0, 200)]
Versions = Annotated[
    dict[str, str],
    AfterValidator(_fit_versions),
    Field(description=f"Versions in force, by package or program; at most {MAX_VERSIONS}."),
]


class Stored(Answer):
    """What was kept, and under which id."""

    id: int
    created_at: datetime


class Echo(Answer):
    """A note."""

    id: int
    text: str
    tag: str
    created_at: datetime


class EchoPage(Answer):
    """Notes, newest first. `next_cursor` is null on the last page."""

    echoes: list[Echo]
    next_cursor: str | None


class Feedback(Answer):
    """A friction that somebody met. A later version of this server may have kept it, and may know other areas."""

    id: int
    area: str
    severity: str
    title: str
    what_happened: str
    versions: dict[str, str]
    created_at: datetime


class FeedbackPage(Answer):
    """Frictions, newest first. `next_cursor` is null on the last page."""

    feedback: list[Feedback]
    next_cursor: str | None


class DatabaseState(Answer):
    """Whether the database answers. `tls` is null for the embedded one, which is on this machine."""

    reachable: bool
    latency_ms: float | None
    embedded: bool
    tls: Tls | None
    certificate_verified: bool
    search_indexed: bool | None
    problem: ErrorBody | None


class ServerInfo(Answer):
    """The instance that answers."""

    name: str
    version: str
    region: str | None
    uptime_s: float
    database: DatabaseState
    versions: dict[str, str]
