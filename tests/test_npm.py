"""JavaScript reproducers, and targets that npm installs, from a registry on loopback."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from feedback_ledger.cli import main
from feedback_ledger.store import EvidenceStore
from tests.ledgers import finding, reproducer_path, settings
from tests.wheels import npm_package, only_this_index, served

pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and shutil.which("npm")), reason="needs node and npm on the PATH"
)

Cli = Callable[..., tuple[int, str, str]]
SIGNATURE: Mapping[str, Any] = {"reproduces": {"stdout": "^late$"}, "gone": {"stdout": "^in time$"}}
PROGRAM = """\
// /// script
// dependencies = ["thing@1.0.0"]
// ///
import { said } from "thing";
console.log(said);
"""
NPM = '[targets.thing]\necosystem = "npm"\npackage = "thing"\nrelease = "1.0.0"\n'
GOOD = {"1.0.0": 'export const said = "late";\n', "1.10.0": 'export const said = "in time";\n'}


@pytest.fixture
def registry() -> dict[str, bytes]:
    """What the registry answers; tests change it before they ask."""
    return npm_package(GOOD)


@pytest.fixture
def cli(
    tmp_path: Path,
    registry: dict[str, bytes],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Cli]:
    settings(tmp_path, NPM)
    finding(tmp_path, 1, PROGRAM, suffix=".mjs", signature=SIGNATURE)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["--root", str(tmp_path), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    with served(registry) as address:
        only_this_index(monkeypatch, address, tmp_path / "cache")
        yield call


def test_every_release_is_swept_and_evidence_says_what_ran_it(
    tmp_path: Path, cli: Cli, registry: dict[str, bytes]
) -> None:
    versions = {
        **GOOD,
        "1.2.0": 'export const said = "late";\n',
        "1.9.0": "throw new Error('not yet');\n",
        "2.0.0-rc.1": 'export const said = "late";\n',
    }
    registry.update(npm_package(versions))
    del registry["/thing/-/1.9.0.tgz"]
    code, out, err = cli("sweep", "--write")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:3]] == [
        ["1.0.0", "1.2.0", "1.9.0", "1.10.0"],
        ["F-001", "reproduces", "reproduces", "blocked", "gone"],
    ]
    assert "F-001 1.9.0: blocked: " in out and "404" in out
    record = yaml.safe_load((tmp_path / "findings" / "F-001-case.yaml").read_text())
    assert record["affected"] == {"introduced": "1.0.0", "last_affected": "1.2.0", "fixed": "1.10.0"}
    stored = EvidenceStore(tmp_path).read_all("F-001-case")
    assert {release: facts.versions.packages for release, facts in stored.items()} == {
        release: {"thing": release} for release in ("1.0.0", "1.2.0", "1.10.0")
    }
    facts = stored["1.2.0"]
    assert (facts.command, facts.versions.python) == ("node F-001-case.mjs", None)
    assert list(facts.versions.commands) == ["node"]


def test_a_module_that_throws_before_the_control_is_broken_with_its_error(
    tmp_path: Path, cli: Cli, registry: dict[str, bytes]
) -> None:
    registry.update(npm_package({**GOOD, "1.1.0": "export const said = 1;\nthrow new Error('not yet');\n"}))
    finding(tmp_path, 1, PROGRAM, suffix=".mjs", signature={**SIGNATURE, "control": {"stdout": "."}})
    _, out, _ = cli("run", "--release", "1.1.0")
    assert "broken" in out and "control does not hold: stdout lacks '.'; exit 1: Error: not yet" in out


def test_the_release_under_test_overrides_the_header_and_other_packages_stay(
    tmp_path: Path, cli: Cli, registry: dict[str, bytes]
) -> None:
    part = npm_package({"1.0.0": "export const said = 'one';\n", "2.0.0": "export const said = 'two';\n"}, name="part")
    registry.update(part)
    settings(tmp_path, NPM + '[[targets.thing.companions]]\nreleases = "..1.9"\npackages = ["part@1.0.0"]\n')
    program = PROGRAM + 'import { said as part } from "part";\nconsole.log(part);\n'
    finding(tmp_path, 1, program, suffix=".mjs", signature=SIGNATURE)
    named = program.replace('["thing@1.0.0"]', '["thing", "part@2.0.0"]')
    finding(tmp_path, 2, named, suffix=".mjs", signature=SIGNATURE)
    cli("run", "F-001", "F-002")
    packages = {stem: EvidenceStore(tmp_path).read_all(stem)["1.0.0"] for stem in ("F-001-case", "F-002-case")}
    assert packages["F-001-case"].versions.packages == {"part": "1.0.0", "thing": "1.0.0"}
    assert packages["F-001-case"].stdout == b"late\none\n"
    assert packages["F-002-case"].versions.packages == {"part": "2.0.0", "thing": "1.0.0"}
    assert packages["F-002-case"].stdout == b"late\ntwo\n"


def test_equal_sets_of_packages_share_one_environment(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 2, PROGRAM + "// another\n", suffix=".mjs", signature=SIGNATURE)
    cli("sweep")
    assert len(list((tmp_path / ".ledger" / "environments").glob("*/ready.json"))) == 2


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('["thing@1.0.0"]', '["thing@1.0.0"', "header is wrong"),
        ('["thing@1.0.0"]', '["thing @ 1"]', 'expected a package such as "@scope/name@1.2.3", found "thing @ 1"'),
        ('["thing@1.0.0"]', '["--global"]', 'expected a package such as "@scope/name@1.2.3", found "--global"'),
        ('["thing@1.0.0"]', '[".hidden"]', 'expected a package such as "@scope/name@1.2.3", found ".hidden"'),
        ('["thing@1.0.0"]', "3", "dependencies is no list"),
        ("// ///\nimport", "// ///\n// /// script\n// x = 1\n// ///\nimport", "two `// /// script` headers"),
    ],
)
def test_a_header_that_is_wrong_is_broken_and_says_why(tmp_path: Path, cli: Cli, old: str, new: str, why: str) -> None:
    finding(tmp_path, 1, PROGRAM.replace(old, new), suffix=".mjs", signature=SIGNATURE)
    code, out, _ = cli("check", "--strict")
    assert code == 3
    assert "broken" in out and why in out


def test_a_javascript_program_without_a_header_needs_no_network(
    tmp_path: Path, cli: Cli, registry: dict[str, bytes]
) -> None:
    registry.clear()
    settings(tmp_path, "[targets.thing]\n")
    reproducer_path(tmp_path, "F-001-case", ".mjs").unlink()
    finding(tmp_path, 1, 'console.log("late");\n', suffix=".js", signature=SIGNATURE)
    assert cli("check")[0] == 0


def test_a_release_that_is_not_there_is_blocked_in_npms_words(cli: Cli) -> None:
    code, out, _ = cli("check", "--strict", "--release", "9.9.9")
    assert code == 3
    assert "blocked" in out and "No matching version found for thing@9.9.9" in out


def test_without_npm_it_is_blocked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feedback_ledger.environment.shutil.which", lambda _: None)
    assert "needs npm, which is not on the PATH" in cli("check")[1]


@pytest.mark.parametrize(
    "answer",
    [b"garbage", b'"1.0.0"', b"{}", b'{"versions": 3}', b'{"name": "thing", "versions": {}}', b"[]", b"null", b""],
)
def test_a_registry_that_answers_garbage_is_one_line(
    tmp_path: Path, cli: Cli, registry: dict[str, bytes], answer: bytes
) -> None:
    registry["/thing"] = answer
    code, out, err = cli("sweep")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("the package index did not say the releases of thing")
    assert "complete log" not in err and str(tmp_path) not in err
    assert not (tmp_path / "findings" / "evidence").exists()


@pytest.mark.parametrize("said", [r"\377\376", '["../../x"]', '["1.0.0", 2]', '["1.0.0", "--global"]', "[[[[", "3"])
def test_a_client_that_says_no_releases_is_one_line(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\nprintf '{said}'\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent))
    code, out, err = cli("sweep")
    assert (code, out) == (2, "")
    assert err == "the package index did not say the releases of thing in a way that can be read\n"


def test_a_package_that_is_not_there_is_one_line(cli: Cli, registry: dict[str, bytes]) -> None:
    registry.clear()
    code, _, err = cli("bisect", "F-001")
    assert (code, err.count("\n")) == (2, 1)
    assert "404" in err


def test_without_a_network_it_is_one_line(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    only_this_index(monkeypatch, "http://127.0.0.1:9", tmp_path / "empty")
    code, _, err = cli("sweep")
    assert (code, err.count("\n")) == (2, 1)
    assert "ECONNREFUSED" in err


def test_without_npm_the_index_cannot_be_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = cli("sweep")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("the package index can't be asked for the releases of thing: ") and "npm" in err


def test_latest_is_the_newest_release_and_no_pre_release(cli: Cli, registry: dict[str, bytes]) -> None:
    registry.update(npm_package({**GOOD, "2.0.0-rc.1": 'export const said = "late";\n'}))
    assert "thing 1.10.0  gone" in cli("check", "--latest")[1]
