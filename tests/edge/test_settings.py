"""The environment: what it may say, and one clear line for what it may not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from servers.edge import tls
from servers.edge.settings import BadSetting, Database, Scope, Settings, Tls, Token, load
from tests.edge.running import ROOT

DB = {"DB_HOST": "db.example", "DB_NAME": "n", "DB_USERNAME": "u", "DB_PASSWORD": "a-secret-password"}


def test_nothing_said() -> None:
    assert load({}) == Settings()
    assert load({"PORT": "", "DB_HOST": " "}) == Settings()


def test_everything_said() -> None:
    read, write, jobs = "r" * 16, "w" * 16, "j" * 16
    said = DB | {
        "PORT": "9000",
        "FASTMCP_PORT": "9001",
        "FASTMCP_HOST": "127.0.0.1",
        "DB_PORT": "31813",
        "DB_SSL": "require",
        "DB_POOL": "2",
        "DB_TIMEOUT": "9",
        "EDGE_REGION": "fr-roub1",
        "ALLOWED_HOSTS": "App.example.com, localhost:80",
        "ALLOWED_ORIGINS": "https://app.example.com:8443",
        "MCP_TOKENS": f"read:{read}, write:{write}",
        "JOBS_TOKEN": jobs,
        "RATE_LIMIT": "7",
    }
    assert load(said) == Settings(
        host="127.0.0.1",
        port=9000,
        database=Database("db.example", 31813, "n", "u", "a-secret-password", Tls.REQUIRE),
        pool=2,
        timeout_s=9,
        region="fr-roub1",
        hosts=("app.example.com", "localhost:80"),
        origins=("https://app.example.com:8443",),
        tokens=(Token.of(read, Scope.READ), Token.of(write, Scope.WRITE)),
        jobs_token=Token.of(jobs, Scope.WRITE),
        rate=7,
    )
    assert load({"FASTMCP_PORT": "9001"}).port == 9001
    shown = repr(load(said))
    assert not [secret for secret in (read, write, jobs, "a-secret-password") if secret in shown]


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({"PORT": "http"}, "PORT: 'http' is no whole number from 1 to 65535"),
        ({"PORT": "0"}, "PORT: '0' is no whole number from 1 to 65535"),
        ({"FASTMCP_PORT": "70000"}, "FASTMCP_PORT: '70000' is no whole number from 1 to 65535"),
        ({"DB_HOST": "x"}, "DB_NAME: must be set when DB_HOST is; or unset DB_HOST for the embedded Postgres"),
        (DB | {"DB_PORT": "-1"}, "DB_PORT: '-1' is no whole number from 1 to 65535"),
        (DB | {"DB_SSL": "off"}, "DB_SSL: 'off' is none of verify, require, disable"),
        ({"DB_POOL": "1e3"}, "DB_POOL: '1e3' is no whole number from 1 to 100"),
        ({"ALLOWED_HOSTS": "https://x.example"}, "ALLOWED_HOSTS: 'https://x.example' is not a host such as"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS: '*' is not a host such as"),
        ({"ALLOWED_ORIGINS": "x.example"}, "ALLOWED_ORIGINS: 'x.example' is not an origin such as"),
        ({"MCP_TOKENS": "read:short-secret"}, "MCP_TOKENS: entry 1 is not read:TOKEN or write:TOKEN"),
        ({"MCP_TOKENS": f"read:{'x' * 16},{'s' * 16}"}, "MCP_TOKENS: entry 2 is not read:TOKEN or write:TOKEN"),
        ({"MCP_TOKENS": f"admin:{'s' * 16}"}, "MCP_TOKENS: entry 1 is not read:TOKEN or write:TOKEN"),
        ({"JOBS_TOKEN": "short-secret"}, "JOBS_TOKEN: a token has 16 or more of the characters"),
        ({"RATE_LIMIT": "many"}, "RATE_LIMIT: 'many' is no whole number from 0 to 1000000"),
    ],
)
def test_what_may_not_be_said(said: dict[str, str], line: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load(said)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
    assert not [word for word in ("short-secret", "s" * 16, "a-secret-password") if word in str(caught.value)]


@pytest.mark.parametrize("ca", ["/nowhere/ca.crt", "-----BEGIN CERTIFICATE-----\nnothing"])
def test_a_ca_that_is_none(ca: str) -> None:
    with pytest.raises(BadSetting, match=r"^DB_SSL_CA: "):
        tls.context(Database("h", 1, "n", "u", "p", Tls.VERIFY, ca))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback(host: str) -> None:
    assert Settings(host=host).is_loopback
    assert not Settings(host="0.0.0.0").is_loopback
    assert not Settings(host="::").jobs_are_served


def run_main(*options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "main.py"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("env", "line"),
    [
        ({"PORT": "x"}, "main.py: PORT: 'x' is no whole number from 1 to 65535\n"),
        ({"LEDGER_WITHOUT": "F77"}, "main.py: LEDGER_WITHOUT: 'F77' is no finding; write ids such as F-077, separated"),
        (DB | {"DB_SSL_CA": "/nowhere"}, "main.py: DB_SSL_CA: there is no such file; give the path of a CA's"),
    ],
)
def test_the_program_says_it_in_one_line(env: dict[str, str], line: str) -> None:
    done = run_main(**env)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(line)


def test_a_bare_python_is_told_what_to_run(tmp_path: Path) -> None:
    done = run_main("-S", "-E")
    assert done.returncode == 1
    assert done.stderr == "main.py: the package mcp is not here; run `make setup`, then `.venv/bin/python main.py`\n"
