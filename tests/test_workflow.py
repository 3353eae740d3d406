"""The workflow only checks out, sets up and calls the script; and what the script does is run here, in both modes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ledgers import finding, run, settings
from tests.wheels import make_wheel

REPOSITORY = Path(__file__).parents[1]
SCRIPT = REPOSITORY / "scripts" / "ci_ledger.sh"
WORKFLOW = REPOSITORY / ".github" / "workflows" / "ledger.yml"
MODES = ("pull-request", "nightly")
LATE, IN_TIME = "def answer():\n    return 'late'\n", "def answer():\n    return 'in time'\n"
SIGNATURE = {
    "control": {"stdout": "^asked$"},
    "reproduces": {"exit": 0, "stdout": "^late$"},
    "gone": {"exit": 0, "stdout": "^in time$"},
}
PROGRAM = """\
# /// script
# dependencies = ["thing==1.0.0"]
# ///
import thing

print("asked", flush=True)
print(thing.answer())
"""
DIFF = "-stdout: late\n+stdout: in time\n"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    said = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert isinstance(said, dict)
    said["on"] = said.pop(True)  # YAML 1.1 reads the word as a boolean
    return said


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_every_step_of_its_own_is_a_call_of_the_script(workflow: dict[str, Any]) -> None:
    runs = [step["run"] for step in steps(workflow) if "run" in step]
    assert sorted(runs) == sorted(f"scripts/ci_ledger.sh {mode}" for mode in MODES)
    assert all(("run" in step) != ("uses" in step) for step in steps(workflow))
    assert os.access(SCRIPT, os.X_OK)


def test_pull_requests_check_what_is_tested_and_the_schedule_what_is_newest(workflow: dict[str, Any]) -> None:
    assert set(workflow["on"]) == {"pull_request", "schedule", "workflow_dispatch"}
    assert len(workflow["on"]["schedule"]) == 1
    assert {name: job["if"] for name, job in workflow["jobs"].items()} == {
        "pull-request": "github.event_name == 'pull_request'",
        "nightly": "github.event_name != 'pull_request'",
    }
    for name, job in workflow["jobs"].items():
        assert job["steps"][-1] == {"run": f"scripts/ci_ledger.sh {name}"}


def test_a_job_may_read_and_nothing_else(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert not any({"permissions", "env", "secrets"} & set(job) for job in workflow["jobs"].values())
    assert "secrets." not in WORKFLOW.read_text(encoding="utf-8")
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == len(workflow["jobs"])
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_no_job_runs_for_ever_or_twice_for_one_branch(workflow: dict[str, Any]) -> None:
    assert all(0 < job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())
    assert "github.ref" in workflow["concurrency"]["group"]


def test_actions_are_pinned_to_commits_and_say_which_version_that_is() -> None:
    used = re.findall(r"(?m)^\s*(?:- )?uses: *(.*)$", WORKFLOW.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    assert len(set(used)) == len({action.partition("@")[0] for action in used}), "one action at two versions"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Ci:
    """A ledger with one finding about `thing`, as a job finds it: on 1.0.0, 1.1.0 and 1.2.0 it shows, the settings test
    1.1.0, whose evidence is stored; and a package index on this machine.
    """

    def __init__(self, tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.summary, self.tmp, self.monkeypatch = tmp / "ledger", tmp / "summary.md", tmp, monkeypatch
        self.wheels = tmp / "index" / "simple" / "thing"
        for version in ("1.0.0", "1.1.0", "1.2.0"):
            make_wheel(self.wheels, version, LATE)
        settings(self.root, '[targets.thing]\necosystem = "pypi"\npackage = "thing"\nrelease = "1.1.0"\n')
        finding(self.root, 1, PROGRAM, suffix=".py", signature=SIGNATURE, affected={"introduced": "1.0.0"})
        self.on_a_fresh_machine()
        run(self.root)
        self.on_a_fresh_machine()

    def on_a_fresh_machine(self) -> None:
        """Nothing is in any cache: a job begins with a clone."""
        self.monkeypatch.setenv("UV_CACHE_DIR", str(self.tmp / "cache"))
        for cache in (self.tmp / "cache", self.root / ".ledger"):
            shutil.rmtree(cache, ignore_errors=True)

    def job(self, mode: str) -> subprocess.CompletedProcess[str]:
        # `make setup` is left out: it might replace the very environment that this test runs in
        env = {"LEDGER_ROOT": str(self.root), "LEDGER_PYTHON": sys.executable, "GITHUB_STEP_SUMMARY": str(self.summary)}
        return subprocess.run(
            [SCRIPT, mode],
            env={**os.environ, **env, "GITHUB_WORKSPACE": str(self.root)},
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ci]:
    (tmp_path / "index").mkdir()
    handler = partial(Quiet, directory=str(tmp_path / "index"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/simple"
        for name in [name for name in os.environ if re.match(r"(?i)(pip|uv)_|(https?|all)_proxy$", name)]:
            monkeypatch.delenv(name)
        for name, value in {
            "PIP_INDEX_URL": address,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
            "UV_DEFAULT_INDEX": address,
            "UV_NO_CONFIG": "1",
        }.items():
            monkeypatch.setenv(name, value)
        yield Ci(tmp_path, monkeypatch)
        server.shutdown()


def test_the_script_wants_to_know_which_mode(ci: Ci) -> None:
    for mode in ("", "weekly", "nightly --strict"):
        said = ci.job(mode)
        assert (said.returncode, said.stdout) == (2, "")
        assert said.stderr.startswith("usage: ")


@pytest.mark.parametrize(("mode", "release"), [("pull-request", "1.1.0"), ("nightly", "1.2.0")])
def test_a_job_passes_while_findings_are_as_recorded(ci: Ci, mode: str, release: str) -> None:
    said = ci.job(mode)
    assert said.returncode == 0, said.stdout + said.stderr
    assert re.search(rf"^F-001 +thing {release} +reproduces +as recorded", said.stdout, re.MULTILINE)
    assert "::error" not in said.stdout
    assert "1 as recorded" in ci.summary.read_text(encoding="utf-8")


def test_a_finding_that_stopped_reproducing_fails_the_job_of_a_pull_request(ci: Ci) -> None:
    make_wheel(ci.wheels, "1.1.0", IN_TIME)
    assert_told(ci, "pull-request", "1.1.0", "1.0.0")


def test_a_finding_that_is_gone_from_the_newest_release_fails_the_nightly_job(ci: Ci) -> None:
    make_wheel(ci.wheels, "2.0.0", IN_TIME)
    assert_told(ci, "nightly", "2.0.0", "1.1.0")
    # the release that the settings test is as it was, and pull requests need not wait for a person
    assert ci.job("pull-request").returncode == 0


def assert_told(ci: Ci, mode: str, release: str, control: str) -> None:
    """The job fails, and both the annotation and the summary say why: the control run, and what differs."""
    said = ci.job(mode)
    assert said.returncode == 1, said.stdout + said.stderr
    annotation = next(line for line in said.stdout.splitlines() if line.startswith("::"))
    assert annotation.startswith("::error file=findings/F-001-case.yaml,line=")
    summary = ci.summary.read_text(encoding="utf-8")
    assert f"| F-001 | thing {release} | gone | fixed upstream | Case 1 |" in summary
    for words in (annotation.replace("%0A", "\n") + "\n", summary):
        assert f"control run on {control}: reproduces\n" in words
        assert DIFF in words
        assert "no control run" not in words


def test_a_release_that_cannot_be_installed_is_a_warning_and_no_fix(ci: Ci) -> None:
    make_wheel(ci.wheels, "2.0.0", IN_TIME, needs=["nothing-of-the-kind"])
    said = ci.job("nightly")
    assert said.returncode == 0, said.stdout + said.stderr
    assert said.stdout.startswith("::warning ")
    assert "not judged" in ci.summary.read_text(encoding="utf-8")
