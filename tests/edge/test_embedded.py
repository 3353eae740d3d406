"""`main.py` with nothing set up: a Postgres of its own, whose data stays and of which nothing survives."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from servers.edge import embedded
from servers.edge.outages import Outage
from tests.edge.running import ROOT, ask, environment, free_port, program, until


def postgres_of(folder: Path) -> int:
    """The process that serves the data in this folder; 0 if there is none."""
    noted = folder / "cluster" / "data" / "postmaster.pid"
    return int(noted.read_text().splitlines()[0]) if noted.exists() else 0


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{process}/status").read_text() if sys.platform == "linux" else True


def prune(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "servers.edge.jobs", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_from_nothing_over_a_kill_to_a_stop(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    port = free_port()
    env = environment(None, port, EDGE_DATA=str(folder))
    with program(tmp_path, env, port) as one:
        assert ask(one.url, "store_echo", {"text": "first"})["id"] == 1
        info = ask(one.url, "get_server_info")["database"]
        assert info["reachable"] and info["embedded"] and info["tls"] is None
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600
        assert (folder / "password").read_text() not in one.said()
        # A job beside it works on the same data.
        assert json.loads(prune(env, "prune", "--days", "1").stdout) == {"days": 1, "deleted": 0}
        # Postgres is killed: it comes back by itself.
        os.kill(postgres_of(folder), signal.SIGKILL)
        until(lambda: ask(one.url, "get_echo", {"id": 1}).get("text") == "first", "Postgres is back", 30)
        number = ask(one.url, "store_echo", {"text": "second"})["id"]
        server = postgres_of(folder)
        assert one.end(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: not is_alive(server), "Postgres ends after the server was killed")
    with program(tmp_path, env, port) as two:
        kept = ask(two.url, "list_echoes")["echoes"]
        assert [found["id"] for found in kept] == [number, 1]
        server = postgres_of(folder)
        two.end()
        assert "Traceback" not in two.said()
    assert not is_alive(server) and postgres_of(folder) == 0
    # With no server beside it, a job starts Postgres itself, and stops it.
    done = prune(env, "prune")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"days": 7, "deleted": 0}), done.stderr
    assert postgres_of(folder) == 0


def test_two_callers_make_one_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link, others = os.link, list[str]()

    def later(*paths: Path) -> None:
        monkeypatch.undo()
        others.append(embedded._password(tmp_path))
        link(*paths)

    monkeypatch.setattr(os, "link", later)
    assert [embedded._password(tmp_path)] == others == [(tmp_path / "password").read_text()]
    assert len(others[0]) > 30 and len(list(tmp_path.iterdir())) == 1


def test_once_stopped_it_is_not_started_for_a_call_that_is_late(tmp_path: Path) -> None:
    one = embedded.Embedded(tmp_path)
    one.stop()
    with pytest.raises(Outage, match="starting or stopping"):
        one.database()
    assert postgres_of(tmp_path) == 0


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def test_two_servers_on_the_same_data(tmp_path: Path) -> None:
    folder, ports = tmp_path / "data", (free_port(), free_port())
    with contextlib.ExitStack() as both:
        envs = [environment(None, port, EDGE_DATA=str(folder)) for port in ports]
        one, two = (
            both.enter_context(program(tmp_path, env, port, ready=False)) for env, port in zip(envs, ports, strict=True)
        )
        # Started at the same time, so that neither finds the other's Postgres.
        until(lambda: "Uvicorn running" in one.said() and "Uvicorn running" in two.said(), "both are ready", 60)
        for each in (one, two):
            assert ask(each.url, "store_echo", {"text": "x"})["id"]
        supervisor = parent_of(postgres_of(folder))
        first, second = (one, two) if parent_of(supervisor) == one.process.pid else (two, one)
        first.end()  # and with it its Postgres: the other starts one of its own
        until(lambda: len(ask(second.url, "list_echoes").get("echoes", [])) == 2, "the other goes on", 30)
        supervisor = parent_of(postgres_of(folder))
        assert parent_of(supervisor) == second.process.pid
        os.kill(supervisor, signal.SIGKILL)
        until(lambda: len(ask(second.url, "list_echoes").get("echoes", [])) == 2, "it starts another", 30)
        second.end()
        assert postgres_of(folder) == 0


def test_wrong_arguments_of_a_job_and_a_database_that_is_not_there(tmp_path: Path) -> None:
    for days in ("0", "x", "-3"):
        done = prune({}, "prune", f"--days={days}")
        assert (done.returncode, done.stderr) == (
            2,
            "servers.edge.jobs: days: must be a whole number from 1 to 3650\n",
        )
    assert prune({}, "tidy").returncode == 2
    for wrong in ({"PORT": "x"}, {"LEDGER_WITHOUT": "x"}):
        done = prune(wrong, "prune")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    nowhere = {"DB_HOST": "127.0.0.1", "DB_PORT": str(free_port()), "DB_NAME": "n"}
    done = prune(nowhere | {"DB_USERNAME": "u", "DB_PASSWORD": "a-secret"}, "prune")
    assert done.returncode == 1 and "cannot be reached" in done.stderr and "a-secret" not in done.stderr


def test_where_there_is_no_postgres_the_server_says_so(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cluster").write_text("not a folder")
    with program(tmp_path, environment(None, port, EDGE_DATA=str(tmp_path / "data")), port) as one:
        error = ask(one.url, "list_echoes")["error"]
        assert error["code"] == "not_available" and "own Postgres cannot be started" in error["message"]
        assert str(tmp_path) not in str(error) and str(tmp_path) in one.said() and "set DB_HOST" in one.said()
