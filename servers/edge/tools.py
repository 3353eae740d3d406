"""The tools: from valid arguments to an answer."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from servers.edge import NAME, VERSION, cursors, models, outages, store
from servers.edge.connections import Link
from servers.edge.embedded import Embedded
from servers.edge.guards import scope_of
from servers.edge.migrations import Schema, connections_to
from servers.edge.models import (
    MAX_ID,
    MAX_TAG,
    MAX_TEXT,
    MAX_TITLE,
    Area,
    Cursor,
    DatabaseState,
    Echo,
    EchoPage,
    Feedback,
    FeedbackPage,
    Limit,
    ServerInfo,
    Severity,
    Stored,
    Versions,
    one_of,
)
from servers.edge.outages import Outage
from servers.edge.settings import Scope, Settings, Tls
from servers.refusal import Code, Refusal
from servers.toolserver import ErrorBody, ToolServer, refused, type_of_tool
from servers.workarounds import workaround

T = TypeVar("T")

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_VERSIONS = {name: importlib.metadata.version(name) for name in ("mcp", "pg8000")} | {
    "python": platform.python_version()
}
_SEARCH = "Only notes that contain this, in either case; at least three letters or digits in a row."


class Desk:
    """What the tools and the routes work with."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.schema, self.embedded = settings, Schema(), Embedded(settings.data)
        self.connections = connections_to(lambda: settings.database or self.embedded.database(), settings, self.schema)
        self.begun = time.monotonic()

    async def ask(self, work: Callable[[Link], T], *, wrote: bool = False) -> T:
        """Does `work` with a connection. Raises Outage."""
        try:
            return await self.connections.call(work, wrote=wrote)
        except Outage as outage:
            if outage.__cause__ and outages.sqlstate(outage.__cause__) == outages.UNDEFINED_TABLE:
                self.schema.forget()
            raise

    async def state(self) -> tuple[DatabaseState, str]:
        """How the database is, and its version if it is there."""
        database = self.settings.database
        latency, version, problem = None, "", None
        try:
            latency, version = await self.ask(lambda link: (store.latency_ms(link), link.server_version))
        except Outage as outage:
            problem = ErrorBody(**vars(outage.refusal))
        return DatabaseState(
            reachable=problem is None,
            latency_ms=latency,
            embedded=database is None,
            tls=database.tls if database else None,
            certificate_verified=database is not None and database.tls is Tls.VERIFY and workaround("F-013"),
            search_indexed=None if problem else self.schema.is_text_indexed,
            problem=problem,
        ), version


class EdgeServer(ToolServer):
    """A `ToolServer` that words outages of the database as refusals and minds what a caller's token allows."""

    def answering(self, *, title: str, hints: ToolAnnotations) -> Callable[[type_of_tool], type_of_tool]:
        """As of `ToolServer`."""
        register = super().answering(title=title, hints=hints)

        def guarded(function: type_of_tool) -> type_of_tool:
            @functools.wraps(function)
            async def call(*args: Any, **arguments: Any) -> Any:
                try:
                    return await function(*args, **arguments)
                except Outage as outage:
                    return outage.refusal

            register(call)
            return function

        return guarded

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """As of `ToolServer`."""
        tool = self._tool_manager.get_tool(name)
        if tool and tool.annotations is ADDS and context and scope_of(context.request_context.request) is Scope.READ:
            return refused(
                Refusal(
                    Code.NOT_ALLOWED,
                    f"{name} writes, and this token may only read",
                    "Use a token for writing, or one of the tools that read.",
                )
            )
        return await super().call_tool(name, arguments, context)


def add_tools(server: EdgeServer, desk: Desk) -> None:
    """Registers every tool."""

    @server.answering(title="Server information", hints=READS)
    async def get_server_info() -> ServerInfo | Refusal:
        """Whether the database is reachable and how fast, where this instance runs, since when, and every version."""
        database, postgres = await desk.state()
        versions = _VERSIONS | ({"postgres": postgres} if postgres else {})
        return ServerInfo(
            name=NAME,
            version=VERSION,
            region=desk.settings.region or None,
            uptime_s=round(time.monotonic() - desk.begun, 3),
            database=database,
            versions=versions,
        )

    @server.answering(title="Store a note", hints=ADDS)
    async def store_echo(
        text: Annotated[str, models.text("The note.", 1, MAX_TEXT)],
        tag: Annotated[str, models.text("A word to find it by; optional.", 0, MAX_TAG)] = "",
    ) -> Stored | Refusal:
        """Keeps a note that outlives the conversation, and gives its id."""
        return await desk.ask(lambda link: store.add_echo(link, text, tag), wrote=True)

    @server.answering(title="Get a note", hints=READS)
    async def get_echo(
        id: Annotated[int, Field(strict=True, ge=1, le=MAX_ID, description="What store_echo or list_echoes gave.")],
    ) -> Echo | Refusal:
        """Gives one note by its id."""
        found = await desk.ask(lambda link: store.echo(link, id))
        return found or Refusal(
            Code.NOT_FOUND,
            f"there is no note {id}",
            "Call list_echoes for those that there are; old ones are removed after some days.",
        )

    @server.answering(title="List notes", hints=READS)
    async def list_echoes(
        tag: Annotated[str, models.text("Only notes with exactly this tag.", 0, MAX_TAG)] = "",
        text: Annotated[str, models.text_to_find(_SEARCH)] = "",
        limit: Limit = 20,
        cursor: Cursor = "",
    ) -> EchoPage | Refusal:
        """Lists notes, newest first, if wanted only those with a tag or with a text in them; page by page."""
        filters = {"of": "echoes", "tag": tag, "text": text}

        def page(link: Link) -> list[Echo] | Refusal:
            before = _position(desk, cursor, filters, "list_echoes")
            return before if isinstance(before, Refusal) else store.echoes(link, before, tag, text, limit + 1)

        found = await desk.ask(page)
        if isinstance(found, Refusal):
            return found
        return EchoPage(echoes=found[:limit], next_cursor=_next(desk, found, limit, filters))

    @server.answering(title="Report a friction", hints=ADDS)
    async def record_feedback(
        area: Annotated[str, one_of("What it is about.", *Area)],
        severity: Annotated[str, one_of("How much it hurts.", *Severity)],
        title: Annotated[str, models.text("The claim, as a sentence.", 1, MAX_TITLE)],
        what_happened: Annotated[str, models.text("What you did, what you expected, what happened.", 1, MAX_TEXT)],
        versions: Versions = {},  # noqa: B006  copied by pydantic
    ) -> Stored | Refusal:
        """Reports a friction met while using Wasmer, so that it lands in the database, and gives its id."""
        return await desk.ask(
            lambda link: store.add_feedback(link, area, severity, title, what_happened, versions), wrote=True
        )

    @server.answering(title="List reported frictions", hints=READS)
    async def list_feedback(
        area: Annotated[str, one_of("Only those about this; empty for all.", "", *Area)] = "",
        severity: Annotated[str, one_of("Only those that hurt this much; empty for all.", "", *Severity)] = "",
        limit: Limit = 20,
        cursor: Cursor = "",
    ) -> FeedbackPage | Refusal:
        """Lists reported frictions, newest first, page by page."""
        filters = {"of": "feedback", "area": area, "severity": severity}

        def page(link: Link) -> list[Feedback] | Refusal:
            before = _position(desk, cursor, filters, "list_feedback")
            return before if isinstance(before, Refusal) else store.feedback(link, before, area, severity, limit + 1)

        found = await desk.ask(page)
        if isinstance(found, Refusal):
            return found
        return FeedbackPage(feedback=found[:limit], next_cursor=_next(desk, found, limit, filters))


def _position(desk: Desk, cursor: str, filters: dict[str, str], tool: str) -> int | Refusal:
    """Where a page begins. Asked with a connection at hand, as the key of cursors comes from the database."""
    if not cursor:
        return store.NEWEST
    try:
        return cursors.opened(desk.schema.cursor_key, cursor, filters)
    except cursors.BadCursor:
        return Refusal(
            Code.INVALID_ARGUMENTS,
            "cursor: not one that this listing gave for these filters",
            f"Call {tool} without a cursor, and then with the next_cursor that it gives and the same filters.",
        )


def _next(desk: Desk, found: Sequence[Echo | Feedback], limit: int, filters: dict[str, str]) -> str | None:
    return cursors.seal(desk.schema.cursor_key, found[limit - 1].id, filters) if len(found) > limit else None
