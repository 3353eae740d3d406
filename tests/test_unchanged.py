"""A build with nothing to do says so at once; with anything to do it does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from feedback_ledger.unchanged import last_report
from tests.ledgers import finding, reproducer_path, run_command, settings

ROOT = ("--root",)


def build(root: Path) -> str:
    done = run_command(root, "build")
    assert done.returncode == 0, done.stderr
    return done.stdout


def edit(path: str, text: str) -> Callable[[Path], object]:
    return lambda root: (root / path).write_text((root / path).read_text() + text)


@pytest.mark.parametrize(
    "change",
    [
        edit("findings/F-001-case.yaml", "workaround: None.\n"),
        edit("reproducers/F-001-case.sh", "# more\n"),
        edit("FEEDBACK.md", "scribble\n"),
        edit("ledger.toml", 'title = "Another"\n'),
        lambda root: (root / "FEEDBACK.md").unlink(),
        lambda root: next((root / "findings" / "evidence").rglob("*.yaml")).unlink(),
        lambda root: (root / ".ledger" / "unchanged.json").unlink(),
        lambda root: finding(root, 2, "echo shown"),
        lambda root: (
            (root / "templates").mkdir() or (root / "templates" / "FEEDBACK.md.j2").write_text("{{ title }}\n")
        ),
    ],
)
def test_any_change_is_noticed(tmp_path: Path, change: Callable[[Path], object]) -> None:
    settings(tmp_path, "targets.thing = {}\n")
    finding(tmp_path, 1, "echo shown")
    build(tmp_path)
    idle = build(tmp_path)
    assert last_report([*ROOT, str(tmp_path)]) == idle
    change(tmp_path)
    assert last_report([*ROOT, str(tmp_path)]) is None
    build(tmp_path)
    assert last_report([*ROOT, str(tmp_path), "build"]) is not None
    assert last_report([*ROOT, str(tmp_path), "build", "--fresh"]) is None


def test_what_depends_on_the_machine_is_looked_at_every_time(tmp_path: Path) -> None:
    settings(tmp_path, '[targets.thing]\n[requirements.key]\nenv = "SOME_KEY_OF_TESTS"\n')
    finding(tmp_path, 1, "echo shown", requires=["key"])
    assert "not judged" in build(tmp_path)
    done = run_command(tmp_path, "build", env={"SOME_KEY_OF_TESTS": "x"})
    assert "as recorded" in done.stdout


def test_a_program_that_needs_a_look_is_run_again(tmp_path: Path) -> None:
    finding(tmp_path, 1, "echo not shown")
    assert run_command(tmp_path, "build").returncode == 1
    assert run_command(tmp_path, "build").returncode == 1
    reproducer_path(tmp_path, "F-001-case").write_text("echo shown\n")
    assert run_command(tmp_path, "build").returncode == 0
