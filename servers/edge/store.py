"""What is kept, in SQL. Arguments are valid already; each function is work for a link and raises what the driver does.

Each statement is complete in itself: no transaction spans two, so a connection is always between transactions. Rows
come as one JSON text, as the driver takes longer to make Python of 20 rows than Postgres does to find them.
"""

from __future__ import annotations

import json
import time
from typing import Any

from pydantic import TypeAdapter

from servers.edge.connections import Link
from servers.edge.models import Echo, Feedback, Stored

NEWEST = 2**63 - 1  # a cursor before which every row is
_BATCH = 5_000
_NEAR = 500

_NEWEST = "SELECT id, text, tag, created_at FROM edge_echoes WHERE id < :before ORDER BY id DESC LIMIT"
# Only the index on tags will do for this; left to its estimates, Postgres would walk all notes for a frequent tag.
_TAGGED = """
    SELECT id, text, tag, created_at FROM edge_echoes
    WHERE tag <> '' AND tag >= :tag AND (tag, id) < (:tag, :before)
    ORDER BY tag DESC, id DESC LIMIT
"""


def _search(newest: str) -> str:
    """A frequent text is found among the newest rows; for the others the index on texts is asked.

    Estimates for texts are far off, so Postgres has no choice: `id + 0` is in no index.
    """
    return f"""
        WITH near AS MATERIALIZED (
            {newest} {_NEAR}
        ), found AS MATERIALIZED (
            SELECT * FROM near WHERE text ILIKE :pattern ORDER BY id DESC LIMIT :count
        ), far AS MATERIALIZED (
            SELECT id, text, tag, created_at FROM edge_echoes
            WHERE id + 0 < (SELECT min(id) FROM near) AND (:tag = '' OR tag || '' = :tag) AND text ILIKE :pattern
            ORDER BY id + 0 DESC LIMIT :count
        )
        SELECT * FROM found
        UNION ALL SELECT * FROM far WHERE (SELECT count(*) FROM found) < :count
        ORDER BY id DESC LIMIT :count
    """


def _as_json(select: str) -> str:
    return f"SELECT coalesce(json_agg(found ORDER BY id DESC), '[]')::text FROM ({select}) found"


_ECHO = """
    SELECT row_to_json(found)::text FROM (SELECT id, text, tag, created_at FROM edge_echoes WHERE id = :number) found
"""
_PAGES = {False: _as_json(f"{_NEWEST} :count"), True: _as_json(f"{_TAGGED} :count")}  # by whether there is a tag
_SEARCHES = {False: _as_json(_search(_NEWEST)), True: _as_json(_search(_TAGGED))}
_FEEDBACK = _as_json("""
    SELECT id, area, severity, title, what_happened, versions, created_at FROM edge_feedback
    WHERE id < :before AND (:area = '' OR area = :area) AND (:severity = '' OR severity = :severity)
    ORDER BY id DESC LIMIT :count
""")
_ECHOES, _FEEDBACKS = TypeAdapter(list[Echo]), TypeAdapter(list[Feedback])


def latency_ms(link: Link) -> float:
    """How long the smallest question takes."""
    begun = time.perf_counter()
    link.run("SELECT 1")
    return round((time.perf_counter() - begun) * 1000, 3)


def add_echo(link: Link, text: str, tag: str) -> Stored:
    """Keeps a note."""
    return _stored(
        link.run(
            "INSERT INTO edge_echoes (text, tag) VALUES (:text, :tag) RETURNING id, created_at", text=text, tag=tag
        )
    )


def echo(link: Link, number: int) -> Echo | None:
    """The note of this id, if there is one."""
    rows = link.run(_ECHO, number=number)
    return Echo.model_validate_json(rows[0][0]) if rows else None


def echoes(link: Link, before: int, tag: str, text: str, count: int) -> list[Echo]:
    """Notes, newest first; `tag` and `text` narrow if they are not empty."""
    if not text:
        rows = link.run(_PAGES[bool(tag)], before=before, tag=tag, count=count)
    else:
        pattern = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = link.run(_SEARCHES[bool(tag)], before=before, tag=tag, pattern=f"%{pattern}%", count=count)
    return _ECHOES.validate_json(rows[0][0])


def add_feedback(
    link: Link, area: str, severity: str, title: str, what_happened: str, versions: dict[str, str]
) -> Stored:
    """Keeps a report."""
    return _stored(
        link.run(
            "INSERT INTO edge_feedback (area, severity, title, what_happened, versions)"
            " VALUES (:area, :severity, :title, :what_happened, cast(:versions AS json)) RETURNING id, created_at",
            area=area,
            severity=severity,
            title=title,
            what_happened=what_happened,
            versions=json.dumps(versions, ensure_ascii=False),
        )
    )


def feedback(link: Link, before: int, area: str, severity: str, count: int) -> list[Feedback]:
    """Reports, newest first; `area` and `severity` narrow if they are not empty."""
    rows = link.run(_FEEDBACK, before=before, area=area, severity=severity, count=count)
    return _FEEDBACKS.validate_json(rows[0][0])


def _stored(rows: list[list[Any]]) -> Stored:
    ((number, created_at),) = rows
    return Stored(id=number, created_at=created_at)


def prune(link: Link, days: int) -> int:
    """Deletes echoes older than `days`, oldest first and a few thousand at a time; how many there were."""
    deleted = 0
    while True:
        rows = link.run(
            f"WITH gone AS (DELETE FROM edge_echoes WHERE id IN (SELECT id FROM edge_echoes"
            f" WHERE created_at < now() - make_interval(days => :days) ORDER BY created_at LIMIT {_BATCH}"
            " FOR UPDATE SKIP LOCKED) RETURNING 1) SELECT count(*) FROM gone",  # two jobs at once do not wait
            days=days,
        )
        deleted += int(rows[0][0])
        if int(rows[0][0]) < _BATCH:
            return deleted
