"""What other programs read: GitHub's annotations and step summary, JUnit's XML, OSV."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from feedback_ledger.cli import main
from tests.ledgers import finding, settings
from tests.wheels import make_folders

Cli = Callable[..., tuple[int, str]]
MOON = '[targets.thing]\n[requirements.moon]\ncommand = "no-such-command"\n'


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, str]:
        code = main(["--root", str(tmp_path), *arguments])
        said = capsys.readouterr()
        assert said.err == ""
        return code, said.out

    return call


def line_of(root: Path, stem: str, start: str) -> int:
    lines = (root / "findings" / f"{stem}.yaml").read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if line.startswith(start))


def test_junit_has_a_case_for_each_finding(tmp_path: Path, cli: Cli) -> None:
    settings(tmp_path, 'title = "Things & more"\n' + MOON)
    finding(tmp_path, 1, "echo shown", title="It is < 1 & 'late'")
    finding(tmp_path, 2, "printf 'else \\001 <b> ]]>\\n' >&2; exit 3")
    finding(tmp_path, 3, "echo shown", requires=["moon"])
    code, out = cli("check", "--format", "junit")
    assert code == 1
    assert out.startswith("<?xml version='1.0' encoding='")
    suite = ET.fromstring(out.partition("\n")[2])[0]
    counts = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert counts == {"name": "Things & more", "tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert [case.get("name") for case in suite] == ["F-001: It is < 1 & 'late'", "F-002: Case 2", "F-003: Case 3"]
    assert {case.get("classname") for case in suite} == {"thing"}
    assert all(float(case.get("time", "")) >= 0 for case in (suite, *suite))
    fine, failed, skipped = ([child.tag for child in case] for case in suite)
    assert (fine, failed, skipped) == ([], ["failure"], ["skipped"])
    failure = suite[1][0]
    assert failure.get("type") == "drifted"
    assert failure.get("message") == "drifted: drifted on thing, recorded as open"
    assert "neither reproduces nor gone holds; exit 3: else \\x01 <b> ]]>" in (failure.text or "")
    assert suite[2][0].get("message") == "moon: needs the command no-such-command, which is not on the PATH"


def test_junit_is_the_same_twice_but_for_times(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "echo shown")
    trees = [ET.fromstring(cli("check", "--format", "junit")[1].partition("\n")[2]) for _ in range(2)]
    for tree in trees:
        for node in tree.iter():
            node.attrib.pop("time", None)
    assert ET.tostring(trees[0]) == ET.tostring(trees[1])


def test_github_is_pointed_at_the_line_of_the_status(tmp_path: Path, cli: Cli) -> None:
    settings(tmp_path, MOON)
    finding(tmp_path, 1, "echo shown")
    stem = finding(tmp_path, 2, "echo not shown", title="100%, or: late", slug="odd")
    blocked = finding(tmp_path, 3, "echo shown", requires=["moon"])
    code, out = cli("check", "--format", "github")
    assert code == 1
    error, warning, *report = out.splitlines()
    place = f"file=findings/{stem}.yaml,line={line_of(tmp_path, stem, 'status:')}"
    assert error == (
        f"::error {place},title=F-002 gone%2C unconfirmed::gone, unconfirmed: gone on thing, recorded as open: "
        "100%25, or: late%0Ano older release is known to be affected, so no control run was possible"
    )
    place = f"file=findings/{blocked}.yaml,line={line_of(tmp_path, blocked, 'status:')}"
    assert warning == (
        f"::warning {place},title=F-003 not judged::not judged: blocked on thing, recorded as open: Case 3%0A"
        "moon: needs the command no-such-command, which is not on the PATH"
    )
    assert not any(line.lstrip().startswith("::") for line in report)
    assert report[-1] == "1 as recorded, 1 gone, unconfirmed, 1 not judged"


def test_github_gets_a_diff_in_one_line(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": "echo shown"})
    finding(tmp_path, 1, "thing")
    cli("run")
    make_folders(tmp_path, {"1.0": "printf 'one\\r\\n50%% two\\n'"})
    _, out = cli("check", "--format", "github")
    annotation = out.splitlines()[0]
    assert "%0A-stdout: shown%0A+stdout: one%0A+stdout: 50%25 two" in annotation


def test_what_a_reproducer_prints_is_no_command_to_github(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": "echo shown"})
    finding(tmp_path, 1, "thing")
    cli("run")
    make_folders(tmp_path, {"1.0": "echo '::error::gotcha'; echo '##[error]gotcha'; exit 1"})
    _, out = cli("check", "--format", "github")
    assert "gotcha" in out
    report = out.splitlines()[1:]
    assert not any("##[" in line or line.lstrip().startswith("::") for line in report)


def test_github_names_records_from_the_root_of_the_repository(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding(tmp_path, 1, "echo else")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    assert f"::error file={tmp_path.name}/findings/F-001-case.yaml,line=" in cli("check", "--format", "github")[1]
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert "::error file=findings/F-001-case.yaml,line=" in cli("check", "--format", "github")[1]
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert "::error file=findings/F-001-case.yaml,line=" in cli("check", "--format", "github")[1]


def test_the_summary_is_added_to_what_other_steps_wrote(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    finding(tmp_path, 1, "echo shown")
    finding(tmp_path, 2, "echo '```'", title="Pipes | and more")
    cli("run", "F-002")
    cli("check", "--format", "github")
    text = summary.read_text()
    assert text.startswith("before\n### Feedback ledger\n\n1 as recorded, 1 drifted\n")
    assert "| F-002 | thing | drifted | drifted | Pipes \\| and more |\n" in text
    assert "F-001" not in text


def test_a_summary_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    finding(tmp_path, 1, "echo shown")
    assert main(["--root", str(tmp_path), "check", "--format", "github"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "GITHUB_STEP_SUMMARY" in said


def test_a_clean_check_annotates_nothing(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "echo shown")
    code, out = cli("check", "--format", "github")
    assert code == 0 and "::" not in out


@pytest.mark.parametrize("program", ["echo shown", "echo hush-hush", "echo not shown", "hush-hush", "sleep 9"])
@pytest.mark.parametrize("form", ["text", "json", "junit", "github"])
def test_what_a_private_finding_is_about_reaches_no_log(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, program: str, form: str
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    signature = {
        "control": {"not_output": "hush-hush now"},
        "reproduces": {"stdout": "^(shown|hush-hush!)$"},
        "gone": {"stdout": "^not shown$"},
    }
    stem = finding(tmp_path, 1, program, title="Hush-hush", disclosure="private", signature=signature, timeout_s=1.0)
    cli("run")
    _, out = cli("check", "--format", form)
    summary = tmp_path / "summary.md"
    logs = (out + (summary.read_text() if summary.exists() else "")).replace(stem, "")
    assert "hush-hush" not in logs.lower()
    assert "(private)" in logs or form == "json" or "F-001" not in logs


def test_private_titles_are_for_show_issue_and_list(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "echo shown", title="Hush", disclosure="private")
    for arguments in (["build"], ["run"], ["check"], ["render", "--draft"], ["doctor"], ["export", "--format", "osv"]):
        assert "Hush" not in cli(*arguments)[1], arguments
    for arguments in (["show", "F-001"], ["issue", "F-001"], ["list"]):
        assert "Hush" in cli(*arguments)[1], arguments


def test_an_unknown_format_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["check", "--format", "yaml"], ["export", "--format", "csv"], ["export"]):
        assert main(["--root", str(tmp_path), *arguments]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1) and "--format" in said.err


# The parts of OSV's own schema, 1.7, that an export can get wrong.
_RELEASE = {"type": "string"}
_EVENT = {
    "oneOf": [
        {"properties": {name: _RELEASE}, "required": [name], "additionalProperties": False}
        for name in ("introduced", "fixed", "last_affected")
    ]
}
OSV: dict[str, Any] = {
    "type": "object",
    "required": ["id", "modified"],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "1.7.0"},
        "id": {"pattern": "^x_"},
        "modified": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"},
        "withdrawn": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"},
        "summary": {"type": "string"},
        "details": {"type": "string"},
        "affected": {
            "items": {
                "additionalProperties": False,
                "properties": {
                    "package": {"required": ["ecosystem", "name"]},
                    "ranges": {
                        "items": {
                            "required": ["type", "events"],
                            "properties": {
                                "type": {"const": "ECOSYSTEM"},
                                "events": {"items": _EVENT, "contains": {"required": ["introduced"]}},
                            },
                        }
                    },
                    "versions": {"items": _RELEASE},
                    "database_specific": {"type": "object"},
                },
            }
        },
        "references": {
            "items": {"required": ["type", "url"], "properties": {"type": {"enum": ["REPORT", "FIX"]}}},
        },
        "database_specific": {"type": "object"},
    },
}


def exported(cli: Cli, *arguments: str) -> list[Any]:
    code, out = cli("export", "--format", "osv", *arguments)
    records: list[Any] = json.loads(out)
    assert code == 0
    for record in records:
        jsonschema.validate(record, OSV)
    return records


def test_osv_says_what_was_seen_and_leaves_private_findings_out(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": "echo shown", "1.10": "echo shown", "2.0": "echo not shown", "2.1": "echo shown"})
    issue = "https://example.com/1"
    finding(tmp_path, 1, "thing", upstream={"issue": issue, "fixed_by": "a commit"}, severity="major")
    finding(tmp_path, 2, "thing", disclosure="private")
    finding(tmp_path, 3, "thing # another", affected={"introduced": "1.0", "last_affected": "1.10"})
    cli("sweep", "F-001", "--write")
    first, third = exported(cli)
    assert (first["id"], third["id"]) == ("x_ledger-F-001", "x_ledger-F-003")
    (affected,) = first["affected"]
    assert [span["events"] for span in affected["ranges"]] == [
        [{"introduced": "1.0"}, {"fixed": "2.0"}],
        [{"introduced": "2.1"}],
    ]
    assert affected["versions"] == ["1.0", "1.10", "2.1"]
    assert first["references"] == [{"type": "REPORT", "url": issue}]
    assert first["database_specific"] == {
        "nature": "bug",
        "severity": "major",
        "status": "open",
        "verified": True,
        "reproducer": "reproducers/F-001-case.sh",
    }
    assert third["affected"][0]["ranges"][0]["events"] == [{"introduced": "1.0"}, {"last_affected": "1.10"}]
    assert (third["database_specific"]["verified"], "versions" in third["affected"][0]) == (False, False)


def test_osv_names_the_package_and_only_the_target_asked_for(tmp_path: Path, cli: Cli) -> None:
    settings(
        tmp_path,
        """
        [targets.thing]
        ecosystem = "pypi"
        package = "thing-py"
        [targets.other]
        ecosystem = "npm"
        package = "@scope/thing"
        """,
    )
    finding(tmp_path, 1, "echo shown")
    finding(tmp_path, 2, "echo shown", target="other")
    packages = [record["affected"][0]["package"] for record in exported(cli)]
    assert packages == [{"ecosystem": "PyPI", "name": "thing-py"}, {"ecosystem": "npm", "name": "@scope/thing"}]
    assert [record["id"] for record in exported(cli, "--target", "other")] == ["x_ledger-F-002"]


def test_osv_is_the_same_twice_and_takes_no_stale_evidence(tmp_path: Path, cli: Cli) -> None:
    make_folders(tmp_path, {"1.0": "echo shown", "2.0": "echo shown"})
    finding(tmp_path, 1, "thing")
    cli("sweep")
    assert cli("export", "--format", "osv") == cli("export", "--format", "osv")
    assert exported(cli)[0]["affected"][0]["versions"] == ["1.0", "2.0"]
    finding(tmp_path, 1, "thing # edited")
    assert "versions" not in exported(cli)[0]["affected"][0]
