"""The tables, brought up to date by whichever instance comes first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from pg8000.exceptions import DatabaseError

from servers.edge import outages
from servers.edge.connections import Connections, Link
from servers.edge.settings import Database, Settings

_LOCK = 5_301_842_117  # of nobody else; any fixed number will do
_LIMIT_S = 60

MIGRATIONS = (
    """
    CREATE TABLE edge_keys (name text PRIMARY KEY, key text NOT NULL);
    INSERT INTO edge_keys VALUES ('cursors', gen_random_uuid()::text || gen_random_uuid()::text);
    CREATE TABLE edge_echoes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        text text NOT NULL,
        tag text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX edge_echoes_tag ON edge_echoes (tag, id) WHERE tag <> '';
    CREATE INDEX edge_echoes_age ON edge_echoes (created_at);
    CREATE TABLE edge_feedback (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        area text NOT NULL,
        severity text NOT NULL,
        title text NOT NULL,
        what_happened text NOT NULL,
        versions json NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX edge_feedback_area ON edge_feedback (area, id);
    CREATE INDEX edge_feedback_severity ON edge_feedback (severity, id);
    """,
)
# Not every Postgres has the extension, and not every user may add it. Without it a search works, but reads every row.
_TEXT_INDEX = """
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX IF NOT EXISTS edge_echoes_text ON edge_echoes USING gin (text gin_trgm_ops);
"""
log = logging.getLogger(__name__)


class Schema:
    """Sees to it, once for each process, that the tables are there. Safe in threads, and in several processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_ready = False
        self.cursor_key = b""
        self.is_text_indexed = False

    def ensure(self, link: Link) -> None:
        """Migrates if need be. Raises what the driver raises; the link must be closed then."""
        with self._lock:
            if self._is_ready:
                return
            if _version(link) < len(MIGRATIONS):
                _migrate(link)
            ((key, self.is_text_indexed),) = link.script(
                "SELECT FROM edge_echoes, edge_feedback LIMIT 0;"  # raises if they are not there
                "SELECT key, to_regclass('edge_echoes_text') IS NOT NULL FROM edge_keys WHERE name = 'cursors'"
            )
            self.cursor_key = str(key).encode()
            self._is_ready = True

    def forget(self) -> None:
        """Look again before the next call: somebody has put another database in its place."""
        self._is_ready = False


def _version(link: Link) -> int:
    ((exists,),) = link.script(
        "SELECT to_regclass('edge_migrations') IS NOT NULL"
    )  # works in a read-only database, too
    return int(link.script("SELECT coalesce(max(version), 0) FROM edge_migrations")[0][0]) if exists else 0


def _migrate(link: Link) -> None:
    limits = f"SET statement_timeout = '{_LIMIT_S} s'; SET lock_timeout = '{_LIMIT_S} s'"
    old = f"SET statement_timeout = {int(link.timeout_s * 1000)}; SET lock_timeout = {int(link.timeout_s * 1000)}"
    link.patience(_LIMIT_S)
    # One instance migrates, the others wait for it. All or nothing, as every step is in the one transaction.
    link.script(
        f"{limits}; BEGIN; SELECT pg_advisory_xact_lock({_LOCK});"
        "CREATE TABLE IF NOT EXISTS edge_migrations (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
    )
    version = _version(link)
    for number, sql in enumerate(MIGRATIONS[version:], version + 1):
        link.script(f"{sql}; INSERT INTO edge_migrations (version) VALUES ({number})")
        log.info("migrated the database to version %d", number)
    if version == 0:
        link.script("SAVEPOINT text_index")
        try:
            link.script(_TEXT_INDEX)
        except DatabaseError as error:  # the server's own answer was read to its end, so the connection is in step
            if outages.is_lost(error):
                raise
            log.warning("searches are not indexed, as pg_trgm cannot be had: %s", error)
            link.script("ROLLBACK TO SAVEPOINT text_index")
    link.script(f"COMMIT; {old}")
    link.patience(link.timeout_s)


def connections_to(database: Callable[[], Database], settings: Settings, schema: Schema) -> Connections:
    """A pool whose connections find the tables in place. `database` says where, for each anew; it may raise Outage."""

    def open_link() -> Link:
        link = Link(database(), settings.timeout_s)
        try:
            schema.ensure(link)
        except Exception as error:
            link.close()
            log.warning("the tables cannot be brought up to date: %s: %s", type(error).__name__, error)
            raise outages.while_preparing(error, settings.timeout_s) from error
        return link

    return Connections(open_link, settings.pool)
