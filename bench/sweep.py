"""A sweep of 10 findings over 8 releases against the same runs started bare, and the set-up of 8 releases against
venv and pip.

The set-up is of the 8 releases of a real package; the first round fetches them, so that every round that counts is
warm.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from bench.common import LEDGER, RECORD, jobs, ratio, timed
from feedback_ledger.environment import Environments
from feedback_ledger.packages import BadHeader, wanted
from feedback_ledger.processes import Supervisor
from feedback_ledger.redact import Redactor
from feedback_ledger.releases import published
from feedback_ledger.targets import Target
from feedback_ledger.vocabulary import Ecosystem
from tests.wheels import make_wheel

RELEASES = [f"1.{number}.0" for number in range(8)]
PROGRAM = """\
# /// script
# dependencies = ["thing==1.0.0"]
# ///
import time
import thing
print("asked")
time.sleep(0.2)
print("late {number}")
"""
REAL = Target(ecosystem=Ecosystem.PYPI, package="wasmer-sdk")


def write_sweep(root: Path, wheels: Path) -> None:
    """Ten findings in Python about a package with eight releases, all of which are wheels in a folder."""
    for release in RELEASES:
        make_wheel(wheels, release, "")
    for folder in ("findings", "reproducers"):
        (root / folder).mkdir(parents=True)
    (root / "ledger.toml").write_text('[targets.thing]\necosystem = "pypi"\npackage = "thing"\nrelease = "1.7.0"\n')
    for number in range(1, 11):
        stem = f"F-{number:03d}-answers-late"
        (root / "findings" / f"{stem}.yaml").write_text(RECORD.format(number=number).replace("1.0.0", RELEASES[0]))
        (root / "reproducers" / f"{stem}.py").write_text(PROGRAM.replace("{number}", str(number)))


def sweep_against_bare(folder: Path) -> bool:
    """Environments are built before the first round."""
    root, wheels = folder / "ledger", folder / "wheels"
    write_sweep(root, wheels)
    os.environ.update(UV_FIND_LINKS=str(wheels), UV_OFFLINE="1", PIP_FIND_LINKS=str(wheels), PIP_NO_INDEX="1")
    sweep = [*LEDGER, "sweep", "--fresh", "--jobs", str(jobs())]
    timed(sweep, root)
    pythons = sorted((root / ".ledger" / "environments").glob("*/bin/python"))
    assert len(pythons) == len(RELEASES)
    programs = sorted((root / "reproducers").iterdir())
    calls = "".join(f"{python} {program}\n" for program in programs for python in pythons)
    bare = ["xargs", "-P", str(jobs()), "-L", "1", "env"]
    name = "sweep of 10 findings of 0.2 s over 8 releases / the same runs under xargs -P"
    good = ratio(name, lambda: timed(sweep, root), lambda: timed(bare, root, calls), 1.15, rounds=3)
    for variable in ("UV_FIND_LINKS", "UV_OFFLINE", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        del os.environ[variable]
    return good


def setup_against_pip(folder: Path) -> bool:
    """Environments of eight releases of a real package, from nothing, with warm download caches."""
    releases = published("wasmer-sdk", REAL)

    def ours() -> float:
        shutil.rmtree(folder / "environments", ignore_errors=True)
        return timed(
            [sys.executable, "-m", "bench.sweep", "--build", str(folder / "environments"), *releases], Path.cwd()
        )

    def theirs() -> float:
        took = 0.0
        for release in releases:
            shutil.rmtree(folder / "venv", ignore_errors=True)
            took += timed([sys.executable, "-m", "venv", str(folder / "venv")], folder)
            took += timed(
                [str(folder / "venv/bin/python"), "-m", "pip", "install", "-q", f"wasmer-sdk=={release}"], folder
            )
        return took

    ours()
    theirs()
    return ratio(f"set-up of {len(releases)} releases, warm / venv and pip", ours, theirs, 1 / 3, rounds=3)


def build(folder: Path, releases: list[str]) -> None:
    """Builds the environments of some releases; a process of its own, so that its start counts."""
    environments = Environments(folder, Redactor.here())
    with Supervisor() as supervisor:
        for release in releases:
            packages = wanted("", Ecosystem.PYPI, REAL, release)
            assert not isinstance(packages, BadHeader)
            environments.get(packages, supervisor)


def main() -> int:
    if sys.argv[1:2] == ["--build"]:
        build(Path(sys.argv[2]), sys.argv[3:])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        good = sweep_against_bare(Path(folder))
        good &= setup_against_pip(Path(folder))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
