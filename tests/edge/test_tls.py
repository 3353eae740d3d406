"""TLS towards the database, against a Postgres that speaks it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from servers.edge.settings import Database, Tls
from tests.edge.running import (
    ERAS,
    Postgres,
    ask,
    environment,
    free_port,
    in_process,
    postgres,
    program,
    session,
    settings_for,
    whole_session,
)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with postgres(tmp_path_factory.mktemp("tls"), tls=True) as one:
        yield one


def problem(database: Database) -> Any:
    with in_process(settings_for(database)) as url:
        error = ask(url, "list_echoes")["error"]
        assert error["code"] == "not_available"
        return error["message"]


@pytest.mark.parametrize("mode", ERAS)
def test_a_whole_session_over_a_verified_connection(secure: Postgres, mode: str) -> None:
    name = f"whole-{mode}"
    secure.run(f'CREATE DATABASE "{name}"')
    with in_process(settings_for(replace(secure.database, name=name), region="here")) as url:
        session(url, mode, whole_session)
        state = ask(url, "get_server_info", mode=mode)["database"]
        assert (state["tls"], state["certificate_verified"], state["embedded"]) == ("verify", True, False)
    assert secure.run("SELECT count(*) FROM pg_stat_ssl WHERE ssl") == [[0]]


def test_the_ca_may_be_given_as_text(secure: Postgres) -> None:
    pem = (secure.folder / "ca.crt").read_text()
    with in_process(settings_for(replace(secure.database, ca=pem))) as url:
        assert "echoes" in ask(url, "list_echoes")


def test_without_the_ca_nobody_is_believed(secure: Postgres) -> None:
    assert "certificate is not trusted" in problem(replace(secure.database, ca=""))


def test_a_ca_that_goes_away_while_the_server_runs(secure: Postgres, tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_bytes((secure.folder / "ca.crt").read_bytes())
    with in_process(settings_for(replace(secure.database, ca=str(ca)))) as url:
        assert "echoes" in ask(url, "list_echoes")
        ca.unlink()
        secure.run("SELECT pg_terminate_backend(pid) FROM pg_stat_ssl WHERE ssl")
        error = ask(url, "list_echoes")["error"]
        assert error["code"] == "not_available" and "DB_SSL_CA: there is no such file" in error["message"]
        assert "DB_SSL_CA" in httpx2.get(f"{url}/healthz").json()["database"]["problem"]


def test_a_wrong_ca(secure: Postgres, tmp_path: Path) -> None:
    make(tmp_path, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k", "-out", "ca.crt", "-subj", "/CN=x")
    assert "certificate is not trusted" in problem(replace(secure.database, ca=str(tmp_path / "ca.crt")))


@pytest.mark.parametrize(
    ("days", "name", "said"),
    [("-1", "IP:127.0.0.1", "certificate has expired"), ("1", "DNS:elsewhere", "IP address mismatch")],
)
def test_an_expired_certificate_and_one_for_another_name(
    secure: Postgres, tmp_path: Path, days: str, name: str, said: str
) -> None:
    (tmp_path / "cnf").write_text(f"[server]\nsubjectAltName={name}\n")
    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-sha256"]
    make(tmp_path, *new, "-x509", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=CA", "-days", "1")
    make(tmp_path, *new, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    sign = ["x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", "2"]
    make(tmp_path, *sign, "-days", days, "-extfile", "cnf", "-extensions", "server", "-out", "server.crt")
    kept = {file: (secure.folder / file).read_bytes() for file in ("server.crt", "server.key")}
    try:
        for file in kept:
            (secure.folder / file).write_bytes((tmp_path / file).read_bytes())
        secure.run("SELECT pg_reload_conf()")
        problem_said = problem(replace(secure.database, ca=str(tmp_path / "ca.crt")))
        assert problem_said.startswith(f"the database's certificate is not trusted: {said}")
    finally:
        for file, content in kept.items():
            (secure.folder / file).write_bytes(content)
        secure.run("SELECT pg_reload_conf()")


def make(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("tls", [Tls.VERIFY, Tls.REQUIRE])
def test_plain_where_tls_is_asked(server: Postgres, tls: Tls) -> None:
    assert problem(replace(server.database, tls=tls)) == "the database does not speak TLS"


def test_encryption_alone_must_be_asked_for_and_is_said(secure: Postgres, tmp_path: Path) -> None:
    port = free_port()
    unverified = replace(secure.database, tls=Tls.REQUIRE, ca="")
    with program(tmp_path, environment(unverified, port), port) as one:
        state = ask(one.url, "get_server_info")["database"]
        assert state["reachable"] and (state["tls"], state["certificate_verified"]) == ("require", False)
        assert (
            "DB_SSL=require: the connection to the database is encrypted, but whoever answers is believed" in one.said()
        )
