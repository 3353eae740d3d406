"""`wasmer-sandbox` in other people's clients, and what those are told to start."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from feedback_ledger import __version__
from servers import workarounds
from servers.sandbox import cache as compiled
from servers.sandbox import limits, packages, runtimes
from tests.npm_tools import node, npm_tool
from tests.sandbox.harness import CACHE, COMMAND, ROOT
from tests.sandbox.test_tools import GREETER

SDK = "@modelcontextprotocol/sdk@1.32.2"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
README = ROOT / "servers" / "sandbox" / "README.md"
DONE_S = 120
LAUNCHER = "clients/launcher/build/index.js"

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("write_sandbox_file", {"path": "ü.txt", "content": "€"}),
    ("run_python", {"code": "print(open('ü.txt').read()); raise SystemExit(300)"}),
    ("run_command", {"command": "js", "args": ["-e", "console.log(6 * 7)"]}),
    ("read_sandbox_file", {"path": "ü.txt"}),
    ("list_sandbox_dir", {}),
    ("get_sandbox_info", {}),
    ("reset_sandbox", {}),
    ("install_sandbox_package", {"package": "greeter.wasm"}),
    ("run_command", {"command": "greeter"}),
    ("install_sandbox_package", {"package": "missing.wasm"}),
    ("read_sandbox_file", {"path": "missing"}),
    ("run_python", {"code": "0", "colour": "red"}),
    ("run_python", {}),
    ("run_ruby", {}),
]
REFUSED = ["not_allowed", "not_found", "invalid_arguments", "invalid_arguments", "unknown_tool"]


def environment(home: Path) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "WASMER_SANDBOX_CACHE": str(CACHE)}


# ---- the TypeScript SDK


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the SDK's client saw."""
    home = tmp_path_factory.mktemp("typescript")
    (home / "greeter.wasm").write_bytes(GREETER)
    told = subprocess.run(
        [node(20), str(Path(__file__).with_name("client.mjs")), str(npm_tool(SDK)), str(COMMAND)],
        input=json.dumps(CALLS),
        capture_output=True,
        text=True,
        timeout=DONE_S,
        check=False,
        env=environment(home) | {packages.VARIABLE: str(home)},
    )
    assert told.returncode == 0, told.stderr
    seen: dict[str, Any] = json.loads(told.stdout)
    return seen


def test_the_typescript_sdk_sees_every_tool(typescript: dict[str, Any]) -> None:
    assert typescript["server"] == {"name": "wasmer-sandbox", "title": "Wasmer sandbox", "version": __version__}
    tools = {tool["name"]: tool for tool in typescript["tools"]}
    assert {name for name, _ in CALLS} - {"run_ruby"} == set(tools)
    assert all(tool["title"] and tool["outputSchema"] and tool["annotations"] for tool in tools.values())


def test_the_typescript_sdk_shows_each_answer(typescript: dict[str, Any]) -> None:
    results = typescript["results"]
    assert [one for one in results if "threw" in one] == []
    answers = [one for one in results if not one["isError"]]
    assert len(answers) == len(CALLS) - len(REFUSED)
    assert all(json.loads(one["content"][0]["text"]) == one["structuredContent"] for one in answers)
    wrote, python, js, read, listed, info, _, installed, greeted = (one["structuredContent"] for one in answers)
    assert wrote == {"path": "/workspace/ü.txt", "size": 3}
    assert (python["stdout"], python["exit_code"], js["stdout"]) == ("€\n", 300, "42\n")
    assert (read["content"], listed["entries"][0]["name"]) == ("€", "ü.txt")
    assert info["runtime_source"] == "wheels"
    assert (installed, greeted["stdout"], greeted["exit_code"]) == ({"commands": ["greeter"]}, "hi\n", 7)


def test_the_typescript_sdk_shows_each_error(typescript: dict[str, Any]) -> None:
    """It checks structured content against the output schema, errors' too, and throws -32602 where they differ."""
    errors = [one for one in typescript["results"] if one.get("isError")]
    assert [one["structuredContent"]["error"]["code"] for one in errors] == REFUSED
    for one in errors:
        error = one["structuredContent"]["error"]
        assert one["content"][0]["text"] == f"{error['code']}: {error['message']}\n{error['hint']}"


# ---- Inspector


def inspect(home: Path, era: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    given = environment(home)
    return subprocess.run(
        [
            *(node(22), str(npm_tool(INSPECTOR) / LAUNCHER), "--cli", str(COMMAND)),
            *("-e", f"WASMER_SANDBOX_CACHE={CACHE}", "-e", f"TMPDIR={home}"),
            *("--protocol-era", era, "--format", "json", *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=DONE_S,
        check=False,
        env=given,
    )


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


def test_inspector_finds_no_fault_with_the_schemas(tmp_path: Path, era: str) -> None:
    told = inspect(tmp_path, era, "--method", "tools/list", "--strict")
    assert (told.returncode, told.stderr) == (0, "")
    assert len(json.loads(told.stdout)["result"]["tools"]) == 8


def test_inspector_calls_a_tool(tmp_path: Path, era: str) -> None:
    told = inspect(
        tmp_path, era, "--method", "tools/call", "--tool-name", "run_python", "--tool-arg", "code=print(6 * 7)"
    )
    assert (told.returncode, told.stderr) == (0, "")
    result = json.loads(told.stdout)["result"]
    assert (result["structuredContent"]["stdout"], result["isError"]) == ("42\n", False)


def test_inspector_shows_an_error(tmp_path: Path, era: str) -> None:
    told = inspect(
        tmp_path, era, "--method", "tools/call", "--tool-name", "read_sandbox_file", "--tool-arg", "path=missing"
    )
    result = json.loads(told.stdout)["result"]
    assert result["isError"]
    assert result["structuredContent"]["error"]["code"] == "not_found"
    assert result["content"][0]["text"].startswith("not_found: ")


# ---- what clients start


def configured() -> dict[str, Any]:
    servers = json.loads((ROOT / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert list(servers) == ["wasmer-sandbox"]
    server: dict[str, Any] = servers["wasmer-sandbox"]
    return server


def test_a_fresh_clone_sets_itself_up_and_keeps_stdout_clean(tmp_path: Path) -> None:
    """With a `make setup` that is noisy, and reads its stdin, in place of the real one, which takes long."""
    (tmp_path / ".mcp.json").write_text((ROOT / ".mcp.json").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "Makefile").write_text(
        f"setup:\n\t@echo noise; cat; mkdir -p .venv/bin; ln -sf {COMMAND} .venv/bin/wasmer-sandbox\n"
    )
    below = tmp_path / "some" / "folder"
    below.mkdir(parents=True)
    server = configured()

    async def use() -> str:
        told = StdioServerParameters(
            command=server["command"], args=server["args"], cwd=below, env=environment(tmp_path / "home")
        )
        async with Client(told, read_timeout_seconds=DONE_S) as client:
            return str((await client.list_tools()).tools[0].name)

    assert asyncio.run(use()) == "run_python"


def test_a_set_up_that_fails_is_said_on_stderr(tmp_path: Path) -> None:
    server = configured()
    told = subprocess.run(
        [server["command"], *server["args"]], cwd=tmp_path, capture_output=True, text=True, timeout=DONE_S, check=False
    )
    assert (told.returncode != 0, told.stdout, "setup" in told.stderr) == (True, "", True)


def published() -> dict[str, Any]:
    told: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    return told


def test_the_registrys_description_is_in_its_format() -> None:
    told = published()
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", told["name"])
    assert 1 <= len(told["description"]) <= 100
    assert told["version"] == __version__
    for package in told["packages"]:
        assert {"registryType", "identifier", "version", "transport"} <= set(package)
        assert (package["version"], package["transport"]) == (__version__, {"type": "stdio"})
        for argument in package["runtimeArguments"]:
            assert {"type", "name", "value"} <= set(argument)
        assert {one["name"] for one in package["environmentVariables"]} == variables() - {workarounds.VARIABLE}
        defaults = {one["name"]: one.get("default") for one in package["environmentVariables"]}
        for limit in dataclasses.fields(limits.Limits):
            assert defaults[limits.PREFIX + limit.name.upper()] == f"{limit.default:.15g}"


# ---- what the README says


@cache
def variables() -> set[str]:
    """Every environment variable that the server heeds."""
    limited = {limits.PREFIX + one.name.upper() for one in dataclasses.fields(limits.Limits)}
    return limited | {compiled.VARIABLE, packages.VARIABLE, runtimes.VARIABLE, workarounds.VARIABLE}


def test_the_readme_tells_of_every_variable_and_of_no_other() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \|([^|]*)\|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name, _ in rows} == variables()
    assert len(rows) == len(variables())
    shown = dict(rows)
    for one in dataclasses.fields(limits.Limits):
        assert shown[limits.PREFIX + one.name.upper()].strip().replace(",", "") == f"{one.default:.15g}"


def test_the_readme_tells_of_every_tool() -> None:
    text = README.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name, _ in CALLS if name != "run_ruby")


def test_the_readmes_configurations_are_json() -> None:
    blocks = re.findall(r"```json\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        (servers,) = (value for key, value in json.loads(block).items() if key in ("mcpServers", "servers"))
        assert servers["wasmer-sandbox"]["command"].endswith(".venv/bin/wasmer-sandbox")
