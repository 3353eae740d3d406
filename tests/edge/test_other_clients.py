"""Other people's programs: the official conformance suite, Inspector, and the TypeScript clients, all from npm."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.edge.running import ROOT, Postgres, in_process, settings_for
from tests.npm_tools import node, npm_tool

CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
SDK, CLIENT = "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"
TOOLS = ["get_server_info", "store_echo", "get_echo", "list_echoes", "record_feedback", "list_feedback"]


@pytest.fixture(scope="module")
def url(server: Postgres) -> Iterator[str]:
    with in_process(settings_for(server.fresh("other_clients"))) as address:
        yield f"{address}/mcp"


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """With Node, in a folder and a home of its own, as these programs write there."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return subprocess.run(
        [node(), *command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_the_conformance_suite(url: str, tmp_path: Path, version: str) -> None:
    suite = npm_tool(CONFORMANCE) / "dist" / "index.js"
    baseline = ROOT / "tests" / "data" / f"conformance-{version}.yml"
    options = ["--suite", "all", "--spec-version", version, "--expected-failures", str(baseline)]
    done = run(tmp_path, str(suite), "server", "--url", url, *options)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    for scenario in ("tools-list", "dns-rebinding-protection"):
        assert f"✓ {scenario}" in done.stdout


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_inspector_finds_nothing_to_complain_about(url: str, tmp_path: Path, era: str) -> None:
    program = npm_tool(INSPECTOR) / "clients" / "launcher" / "build" / "index.js"
    asked = ["--method", "tools/list", "--strict", "--format", "json"]
    done = run(tmp_path, str(program), "--cli", url, "--protocol-era", era, *asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]] == TOOLS


@pytest.mark.parametrize(("package", "era"), [(SDK, "sdk"), (CLIENT, "auto"), (CLIENT, "legacy")])
def test_the_typescript_clients(url: str, tmp_path: Path, package: str, era: str) -> None:
    done = run(tmp_path, str(ROOT / "tests" / "edge" / "session.mjs"), str(npm_tool(package)), url, era)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["tools"] == TOOLS
    assert said["got"]["text"] == "from TypeScript" and said["got"]["id"] == said["stored"]["id"]
    assert said["page"]["echoes"][0]["id"] == said["stored"]["id"] and said["page"]["next_cursor"] is None
    assert said["info"]["database"]["reachable"] and not said["info"]["isError"]
    assert said["refused"]["isError"] and said["refused"]["error"]["code"] == "invalid_arguments"
    assert said["missing"]["isError"] and said["missing"]["error"]["hint"]
