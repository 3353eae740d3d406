"""What is kept, in SQL. Arguments are valid already; each function is work for a link and raises what the driver does.

Each statement is complete in itself: no transaction spans two, so a connection is always between transactions.
"""

from __future__ import annotations

import json
import time
from typing import Any

from servers.edge.connections import Link

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


_PAGES = {False: f"{_NEWEST} :count", True: f"{_TAGGED} :count"}  # by whether there is a tag
_SEARCHES = {False: _search(_NEWEST), True: _search(_TAGGED)}
_FEEDBACK_PAGE = """
    SELECT id, area, severity, title, what_happened, versions, created_at FROM edge_feedback
    WHERE id < :before AND (:area = '' OR area = :area) AND (:severity = '' OR severity = :severity)
    ORDER BY id DESC LIMIT :count
"""

Rows = list[list[Any]]


def latency_ms(link: Link) -> float:
    """How long the smallest question takes."""
    begun = time.perf_counter()
    link.run("SELECT 1")
    return round((time.perf_counter() - begun) * 1000, 3)


def add_echo(link: Link, text: str, tag: str) -> Rows:
    """(id, created_at)."""
    return link.run(
        "INSERT INTO edge_echoes (text, tag) VALUES (:text, :tag) RETURNING id, created_at", text=text, tag=tag
    )


def echo(link: Link, number: int) -> Rows:
    """(id, text, tag, created_at), or no row."""
    return link.run("SELECT id, text, tag, created_at FROM edge_echoes WHERE id = :number", number=number)


def echoes(link: Link, before: int, tag: str, text: str, count: int) -> Rows:
    """(id, text, tag, created_at), newest first; `tag` and `text` narrow if they are not empty."""
    if not text:
        return link.run(_PAGES[bool(tag)], before=before, tag=tag, count=count)
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return link.run(_SEARCHES[bool(tag)], before=before, tag=tag, pattern=f"%{escaped}%", count=count)


def add_feedback(
    link: Link, area: str, severity: str, title: str, what_happened: str, versions: dict[str, str]
) -> Rows:
    """(id, created_at)."""
    return link.run(
        "INSERT INTO edge_feedback (area, severity, title, what_happened, versions)"
        " VALUES (:area, :severity, :title, :what_happened, cast(:versions AS json)) RETURNING id, created_at",
        area=area,
        severity=severity,
        title=title,
        what_happened=what_happened,
        versions=json.dumps(versions, ensure_ascii=False),
    )


def feedback(link: Link, before: int, area: str, severity: str, count: int) -> Rows:
    """(id, area, severity, title, what_happened, versions, created_at), newest first."""
    return link.run(_FEEDBACK_PAGE, before=before, area=area, severity=severity, count=count)


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
