"""What is deployed, and how: app.yaml, the stage, and the program that makes it."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from servers.edge import jobs
from servers.edge.settings import load
from tests.edge.running import ROOT

APP: dict[str, Any] = yaml.safe_load((ROOT / "app.yaml").read_text())
SCHEMA = json.loads((Path(__file__).parent / "app.schema.json").read_text())
NEEDED = ["main.py", "app.yaml", "Anybuild", "pyproject.toml", "scripts/deploy.sh"]
NEEDED += [f"servers/{name}.py" for name in ("__init__", "refusal", "toolserver", "workarounds", "postgres")]


def problems(app: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(app)]


def test_app_yaml_says_nothing_that_it_should_not() -> None:
    assert problems(APP) == []
    settings = load({name: value for name, value in APP["env"].items() if name != "DB_SSL"})
    assert settings.hosts == (f"{APP['name']}.wasmer.app",)
    assert [settings.region] == APP["locality"]["regions"]


def test_both_cron_jobs_are_calls_that_the_server_understands() -> None:
    fetch, execute = (job["action"] for job in APP["jobs"])
    path, _, query = fetch["fetch"]["path"].partition("?")
    assert (path, fetch["fetch"]["method"]) == ("/jobs/prune", "POST")
    assert jobs.days_of([tuple(one.split("=")) for one in query.split("&")]) == 7
    assert execute["execute"]["cli_args"] == ["-m", "servers.edge.jobs", "prune", "--days", "7"]
    assert execute["execute"]["env"]["DB_SSL"] == APP["env"]["DB_SSL"]


def test_secrets_are_there_by_name_only() -> None:
    assert not {"JOBS_TOKEN", "MCP_TOKENS", "DB_PASSWORD", "DB_SSL_CA"} & set(APP["env"])
    (header,) = APP["jobs"][0]["action"]["fetch"]["headers"]
    assert header == {"name": "Authorization", "value": "Bearer $JOBS_TOKEN"}


def every_key(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(node, dict):
        return [one for key, value in node.items() for one in ((*path, key), *every_key(value, (*path, key)))]
    if isinstance(node, list):
        return [one for at, value in enumerate(node) for one in every_key(value, (*path, at))]
    return []


@pytest.mark.parametrize("path", every_key(APP), ids=lambda path: ".".join(map(str, path)))
def test_a_typo_in_any_key_is_noticed(path: tuple[Any, ...]) -> None:
    wrong = copy.deepcopy(APP)
    node = wrong
    for step in path[:-1]:
        node = node[step]
    node[f"{path[-1]}x"] = node.pop(path[-1])
    assert problems(wrong)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with what the script needs committed, and with much that must not be deployed."""
    root = tmp_path / "clone"
    files = [
        *NEEDED,
        *(str(path.relative_to(ROOT)) for path in (ROOT / "servers" / "edge").iterdir() if path.is_file()),
    ]
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    for name in ("findings/F-001.yaml", "tests/test_x.py", "servers/sandbox/pool.py", "servers/edge/README.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("tracked\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "all")
    for name in (".env", "servers/edge/secret.pem", "servers/edge/notes.py", "servers/edge/__pycache__/x.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("not tracked\n")
    return root


def git(root: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": "nobody" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=os.environ | who)


def deploy(root: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [root / "scripts" / "deploy.sh", *arguments],
        cwd=root.parent,
        env={"PATH": os.environ["PATH"], "DEPLOY_PYTHON": sys.executable, "TMPDIR": str(root.parent), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def program(folder: Path, name: str, body: str) -> str:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return str(file)


def test_a_dry_run_prints_the_stage(clone: Path) -> None:
    done = deploy(clone, "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    first, *files = done.stdout.splitlines()
    assert first.startswith("deploy: staging ")
    ours = {f"servers/edge/{path.name}" for path in (ROOT / "servers" / "edge").glob("*.py")}
    others = {f"servers/{name}.py" for name in ("__init__", "refusal", "toolserver", "workarounds")}
    assert set(files) == {"main.py", "app.yaml", "Anybuild", "requirements.txt"} | others | ours
    assert not list(clone.parent.glob("tmp.*"))


def test_an_old_wasmer_is_refused_before_anything_is_built(clone: Path) -> None:
    builder = program(clone.parent, "anybuild", "echo built >> built")
    for version in ("wasmer 6.1.0", "wasmer 6.99.9-rc.1", "what", ""):
        old = program(clone.parent, "wasmer", f"echo '{version}'")
        done = deploy(clone, WASMER_BIN=old, ANYBUILD_BIN=builder)
        assert done.returncode == 2 and "7 or later is needed" in done.stderr
    done = deploy(clone, WASMER_BIN="/nowhere/wasmer", ANYBUILD_BIN=builder)
    assert done.returncode == 2 and "say WASMER_BIN=" in done.stderr
    assert not (clone.parent / "built").exists()


def test_the_stage_is_what_is_built_and_it_runs(clone: Path) -> None:
    kept = clone.parent / "kept"
    builder = program(clone.parent, "anybuild", f'echo "$@" >> {clone.parent}/said; cp -R "$2" {kept}.$1')
    new = program(clone.parent, "wasmer", "echo 'wasmer 7.4.0'")
    done = deploy(clone, WASMER_BIN=new, ANYBUILD_BIN=builder, WASMER_OWNER="someone")
    assert done.returncode == 0, done.stderr
    build, deployed = (clone.parent / "said").read_text().splitlines()
    assert build.startswith("build /") and build.endswith(f"--runner=wasmer --wasmer-bin {new}")
    assert deployed.endswith(f"--platform=wasmer --wasmer-bin {new} --wasmer-app-owner someone")
    stage = Path(f"{kept}.build")
    edge = (stage / "requirements.txt").read_text().split("\n")
    assert any(line.startswith("mcp") for line in edge) and any(line.startswith("pg8000") for line in edge)
    env = {"PATH": os.environ["PATH"], "PORT": "none"}
    ran = subprocess.run(
        [sys.executable, "-P", "main.py"],
        cwd=stage,
        check=False,
        env=env | {"PYTHONPATH": str(stage)},
        capture_output=True,
        text=True,
    )
    assert ran.stderr == "main.py: PORT: 'none' is no whole number from 1 to 65535\n"  # all that it imports is there


def test_what_is_not_committed_is_not_deployed(clone: Path) -> None:
    (clone / "main.py").write_text("changed\n")
    done = deploy(clone, "--dry-run")
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        ["deploy: only a commit is deployed, and these are not committed:", " M main.py"],
    )
    assert deploy(clone, "--wet").returncode == 2


def test_what_a_newcomer_lacks_is_said_in_one_line(clone: Path) -> None:
    old = program(clone.parent, "old-python", "echo Traceback >&2; exit 1")
    done = deploy(clone, "--dry-run", DEPLOY_PYTHON=old)
    assert done.returncode == 2
    assert done.stderr == f"deploy: {old} is no Python 3.11 or later; say DEPLOY_PYTHON=/path/to/python\n"
    shutil.rmtree(clone / ".git")
    done = deploy(clone, "--dry-run")
    assert (done.returncode, done.stderr) == (2, "deploy: this is no git repository; only a commit is deployed\n")
