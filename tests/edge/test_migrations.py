"""The tables: made once, however many instances start at once, and whatever may not be done."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from servers.edge import migrations, store
from servers.edge.connections import Link
from servers.edge.migrations import Schema, connections_to
from servers.edge.settings import Database
from tests.edge.running import Postgres, ask, environment, free_port, in_process, program, settings_for, until


def test_many_instances_that_start_at_once(server: Postgres, database: Database) -> None:
    schemas, start = [Schema() for _ in range(6)], threading.Barrier(6)

    def first_call(schema: Schema) -> int:
        connections = connections_to(lambda: database, settings_for(database), schema)
        start.wait(10)
        rows = connections.use(lambda link: link.run("SELECT count(*) FROM edge_echoes"))
        connections.close()
        return int(rows[0][0])

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(first_call, schemas)) == [0] * 6
    assert len({schema.cursor_key for schema in schemas}) == 1 and schemas[0].is_text_indexed
    assert server.run("SELECT version FROM edge_migrations", database.name) == [[1]]


def test_two_programs_that_start_at_once(server: Postgres, database: Database, tmp_path: Path) -> None:
    ports = free_port(), free_port()
    with (
        program(tmp_path, environment(database, ports[0]), ports[0], ready=False) as one,
        program(tmp_path, environment(database, ports[1]), ports[1]) as two,
    ):
        number = ask(two.url, "store_echo", {"text": "x", "tag": "t"})["id"]
        ask(two.url, "store_echo", {"text": "y", "tag": "t"})
        cursor = ask(two.url, "list_echoes", {"tag": "t", "limit": 1})["next_cursor"]
        rest = ask(one.url, "list_echoes", {"tag": "t", "cursor": cursor})  # good on every instance
        assert [found["id"] for found in rest["echoes"]] == [number]
    assert server.run("SELECT version FROM edge_migrations", database.name) == [[1]]


def test_a_migration_that_fails_leaves_nothing(
    server: Postgres, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, "CREATE TABLE half (x int); SELECT 1/0"))
    with in_process(settings_for(database)) as url:
        assert ask(url, "list_echoes")["error"]["code"] == "internal"
        assert server.run("SELECT to_regclass('edge_echoes'), to_regclass('half')", database.name) == [[None, None]]
    monkeypatch.undo()
    with in_process(settings_for(database)) as url:
        assert ask(url, "list_echoes")["echoes"] == []


def test_a_user_who_may_not_add_extensions_searches_without_the_index(server: Postgres, database: Database) -> None:
    server.run("CREATE ROLE plain LOGIN PASSWORD 'throw-away'")
    server.run("GRANT CREATE, USAGE ON SCHEMA public TO plain", database.name)
    with in_process(settings_for(replace(database, user="plain", password="throw-away"))) as url:
        ask(url, "store_echo", {"text": "a needle"})
        assert [one["text"] for one in ask(url, "list_echoes", {"text": "needle"})["echoes"]] == ["a needle"]
        assert ask(url, "get_server_info")["database"]["search_indexed"] is False


def test_a_user_who_may_not_make_tables_is_told_so(server: Postgres, database: Database) -> None:
    server.run("CREATE ROLE weak LOGIN PASSWORD 'throw-away'")
    with in_process(settings_for(replace(database, user="weak", password="throw-away"))) as url:
        error = ask(url, "list_echoes")["error"]
        assert error["code"] == "not_available" and "lacks a right" in error["message"]


@pytest.mark.parametrize(
    "spoilt",
    ["CREATE TABLE edge_echoes (x int)", "CREATE TABLE edge_migrations (x int)"],
)
def test_tables_of_somebody_else(server: Postgres, database: Database, spoilt: str) -> None:
    server.run(spoilt, database.name)
    with in_process(settings_for(database)) as url:
        error = ask(url, "list_echoes")["error"]
        assert error["code"] == "not_available" and "tables in the database" in error["message"]


@pytest.mark.parametrize("spoil", ["DROP TABLE edge_echoes", "ALTER TABLE edge_echoes DROP COLUMN tag"])
def test_tables_that_somebody_changes(server: Postgres, database: Database, spoil: str) -> None:
    with in_process(settings_for(database, pool=1)) as url:
        ask(url, "store_echo", {"text": "x"})
        server.run(spoil, database.name)
        ask(url, "list_echoes")
        error = ask(url, "list_echoes")["error"]
        assert error["code"] == "not_available" and "tables in the database" in error["message"]


def test_what_a_later_version_left_is_lived_with(server: Postgres, database: Database) -> None:
    with in_process(settings_for(database)) as url:
        report = {"area": "sdk", "severity": "minor", "title": "t", "what_happened": "w"}
        ask(url, "record_feedback", report)
        server.run("INSERT INTO edge_migrations (version) VALUES (2)", database.name)
        server.run("ALTER TABLE edge_feedback ADD COLUMN more int NOT NULL DEFAULT 1", database.name)
        server.run("UPDATE edge_feedback SET area = 'new', severity = 'grave'", database.name)
    with in_process(settings_for(database)) as url:
        ask(url, "record_feedback", report)
        assert [one["area"] for one in ask(url, "list_feedback")["feedback"]] == ["sdk", "new"]


def test_searches_and_pages_go_by_an_index(server: Postgres, database: Database) -> None:
    connections = connections_to(lambda: database, settings_for(database), Schema())
    connections.use(lambda link: store.add_echo(link, "the needle", "x"))
    server.run(
        "INSERT INTO edge_echoes (text, tag) SELECT 'some hay with the number ' || n, n % 10"
        " FROM generate_series(1, 20000) n",
        database.name,
    )
    server.run("ANALYZE edge_echoes", database.name)

    def rows_read() -> int:
        sql = "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'edge_echoes'"
        return int(server.run(sql, database.name)[0][0])

    def read_by(before: int, tag: str, text: str) -> int:
        def work(link: Link) -> None:
            store.echoes(link, before, tag, text, 21)
            link.script("SELECT pg_stat_force_next_flush()")
            link.script("SELECT 1")  # the counts are passed on at the end of a statement

        was = rows_read()
        connections.use(work)
        return until(lambda: rows_read() - was, "the counts arrive")

    for before in (store.NEWEST, 10_000):
        for tag in ("", "3"):
            assert read_by(before, tag, "") <= 25
            for text in ("needle", "nowhere to be found", "some hay", "number 19999"):
                assert read_by(before, tag, text) <= 600, (before, tag, text)
    connections.close()
