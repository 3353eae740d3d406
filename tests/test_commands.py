"""The command line as a person and a CI job meet it."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml

from feedback_ledger import scaffold
from feedback_ledger.cli import main
from feedback_ledger.commands import COMMANDS
from feedback_ledger.issue import MOST_CHARACTERS, issue_address, pinned
from feedback_ledger.model import Evidence, Versions
from feedback_ledger.packages import Wanted, wanted
from feedback_ledger.targets import Target
from feedback_ledger.vocabulary import Ecosystem
from tests.ledgers import finding, run_command, settings

ROOT = Path(__file__).parents[1]
Cli = Callable[..., int]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return lambda *arguments: main(["--root", str(tmp_path), *arguments])


def files(root: Path) -> dict[str, bytes]:
    """Everything in a ledger but what is cached."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".ledger" not in path.parts
    }


def test_build_twice_and_nothing_differs(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo shown")
    finding(tmp_path, 2, "echo not shown", status="fixed")
    assert cli("build") == 0
    assert "2 as recorded\nevidence: 2 written; FEEDBACK.md: written\n" in capsys.readouterr().out
    once = files(tmp_path)
    assert cli() == 0
    assert "not rerun" in capsys.readouterr().out
    assert files(tmp_path) == once
    assert cli("build", "--fresh") == 0
    assert files(tmp_path) == once


def test_options_without_a_command_are_those_of_a_build(tmp_path: Path) -> None:
    finding(tmp_path, 1, "echo shown")
    assert run_command(tmp_path, "--fresh", "--jobs", "2").returncode == 0
    assert (tmp_path / "FEEDBACK.md").is_file()
    assert run_command(tmp_path, "--help").stdout.startswith("usage: feedback-ledger [-h]")


def test_the_root_may_stand_on_either_side_of_the_command(tmp_path: Path) -> None:
    finding(tmp_path, 1, "echo shown")
    assert main(["--root", str(tmp_path), "check"]) == 0
    assert main(["check", "--root", str(tmp_path), "F-001"]) == 0
    assert main(["--root", str(tmp_path)]) == 0
    assert (tmp_path / "FEEDBACK.md").exists()


def test_check_writes_nothing(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "echo shown")
    before = files(tmp_path)
    assert cli("check") == 0
    assert files(tmp_path) == before


def test_check_as_json_is_all_there_is_on_stdout(tmp_path: Path) -> None:
    settings(tmp_path, 'title = "Things"\n[targets.thing]\nrelease = "1.10"\n')
    finding(tmp_path, 1, "echo shown")
    finding(tmp_path, 2, "exit 1")
    done = run_command(tmp_path, "check", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    said = json.loads(done.stdout)
    assert said["ledger"] == "Things"
    assert said["summary"] == {"as recorded": 1, "drifted": 1}
    first = said["findings"][0]
    duration = first.pop("duration_s")
    assert 0 <= duration < 30
    assert first == {
        "id": "F-001",
        "stem": "F-001-case",
        "target": "thing",
        "release": "1.10",
        "status": "open",
        "verdict": "reproduces",
        "event": "as recorded",
        "reason": "",
        "hits": 1,
        "runs": 1,
    }


@pytest.mark.parametrize(
    ("program", "status", "arguments", "code"),
    [
        ("echo shown", "open", [], 0),
        ("echo not shown", "fixed", [], 0),
        ("echo not shown", "open", [], 1),
        ("echo shown", "fixed", [], 1),
        ("echo else", "open", [], 1),
        ("nothing-of-that-name", "open", [], 1),
    ],
)
def test_exit_codes(tmp_path: Path, cli: Cli, program: str, status: str, arguments: list[str], code: int) -> None:
    finding(tmp_path, 1, program, status=status)
    assert cli("check", *arguments) == code


def test_what_could_not_be_judged_fails_only_when_strict(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(tmp_path, '[targets.thing]\n[requirements.moon]\ncommand = "no-such-command"\nmin_version = "7"\n')
    finding(tmp_path, 1, "echo shown", requires=["moon"])
    assert cli("check") == 0
    said = capsys.readouterr().out
    assert "moon: needs the command no-such-command, which is not on the PATH" in said
    assert "1 not judged" in said
    assert cli("check", "--strict") == 3


def test_findings_that_cannot_run_here_stand_apart_with_what_they_need(tmp_path: Path, cli: Cli) -> None:
    settings(
        tmp_path,
        '[targets.thing]\n[requirements.moon]\ncommand = "no-such-command"\nmin_version = "7"\nenv = "MOON_TOKEN"\n'
        'about = "a place on the rocket"\n',
    )
    finding(tmp_path, 1, "echo shown", requires=["moon"], title="The moon | is far")
    finding(tmp_path, 2, "echo shown")
    assert cli("build") == 0
    page = (tmp_path / "FEEDBACK.md").read_text()
    verified, _, apart = page.partition("## Not verified here")
    assert "| F-001" not in verified
    assert "F-002" in verified
    assert r"The moon \| is far" in apart
    needs = "the command `no-such-command`, version 7 or later and the variable `MOON_TOKEN` (a place on the rocket)"
    assert needs in apart
    assert "[F-001](findings/F-001-" in apart


def test_private_findings_are_counted_and_not_described(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "echo shown", disclosure="private", title="Hush")
    finding(tmp_path, 2, "echo shown")
    assert cli("build") == 0
    page = (tmp_path / "FEEDBACK.md").read_text()
    assert "Hush" not in page and "F-001" not in page
    assert "private until upstream has been told, and not described: 1" in page


def test_render_checks_and_drafts(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo shown")
    assert cli("render", "--check") == 1
    assert "stale" in capsys.readouterr().out
    assert cli("render", "--draft") == 0
    draft = capsys.readouterr().out
    assert not (tmp_path / "FEEDBACK.md").exists()
    assert cli("render") == 0
    assert (tmp_path / "FEEDBACK.md").read_text() == draft
    assert cli("render", "--check") == 0


def test_stale_evidence_counts_for_nothing(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo shown")
    assert cli("build") == 0
    finding(tmp_path, 1, "echo shown\n# and more")
    assert cli("render") == 0
    page = (tmp_path / "FEEDBACK.md").read_text()
    assert "the reproducer was edited since its capture" in page.partition("## Not verified here")[2]
    capsys.readouterr()
    assert cli("list") == 0
    assert "stale" in capsys.readouterr().out
    assert cli("doctor") == 0
    assert "edited since" in capsys.readouterr().out


def test_a_leak_in_the_page_is_refused_with_its_line(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    finding(tmp_path, 1, "echo shown")
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "FEEDBACK.md.j2").write_text("ask jane@mail.example.org\n")
    assert cli("build") == 2
    assert re.search(r"^FEEDBACK.md:\d+: this must not be published \(email\)", capsys.readouterr().err)
    assert not (tmp_path / "FEEDBACK.md").exists()
    (tmp_path / "FEEDBACK.md").write_text("one\nask jane@mail.example.org\n")
    assert cli("check") == 2
    assert "FEEDBACK.md:2: " in capsys.readouterr().err


def test_a_program_is_published_without_what_must_not_be(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "echo shown # ask jane@mail.example.org")
    assert cli("build") == 0
    assert "echo shown # ask [EMAIL]" in (tmp_path / "FEEDBACK.md").read_text()


def test_output_that_looks_like_markdown_stays_output(tmp_path: Path, cli: Cli) -> None:
    finding(tmp_path, 1, "printf 'shown\\n```\\n# no heading\\n````\\n\\033[31mred\\000\\n'")
    assert cli("build") == 0
    page = (tmp_path / "FEEDBACK.md").read_text()
    assert "`````text\nshown\n```\n# no heading\n````\n\\x1b[31mred\\x00\n[exit 0]\n`````" in page


def test_shards_are_all_of_it_and_no_more(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(1, 8):
        finding(tmp_path, number, "echo shown")
    seen: list[str] = []
    for part in ("1/3", "2/3", "3/3"):
        assert cli("check", "--shard", part) == 0
        seen += re.findall(r"^F-\d+", capsys.readouterr().out, re.MULTILINE)
    assert sorted(seen) == [f"F-00{n}" for n in range(1, 8)]


def test_only_findings_that_ran_are_touched(tmp_path: Path, cli: Cli) -> None:
    for number in (1, 2):
        finding(tmp_path, number, "echo shown")
    assert cli("run", "F-002") == 0
    assert [path.name for path in (tmp_path / "findings" / "evidence").iterdir()] == ["F-002-case"]


def test_keep_going_runs_the_good_ones(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo shown")
    finding(tmp_path, 2, "echo shown", nature="odd")
    assert cli("run") == 2
    assert "as recorded" not in capsys.readouterr().out
    assert cli("run", "--keep-going") == 2
    said = capsys.readouterr()
    assert "1 as recorded" in said.out
    assert "nature: expected one of bug, regression" in said.err


def test_withdrawn_findings_are_not_run(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo shown", status="withdrawn")
    assert cli("check") == 0
    assert "nothing to run" in capsys.readouterr().out


def test_a_fixture_is_started_once_and_ended(tmp_path: Path, cli: Cli) -> None:
    settings(
        tmp_path,
        f"""
        [targets.thing]
        [fixtures.web]
        command = ["python", "-m", "http.server", "--bind", "127.0.0.1", "-d", "{{folder}}", "{{port}}"]
        ready = "http://127.0.0.1:{{port}}/"
        exports = {{WEB = "http://127.0.0.1:{{port}}/"}}
        [fixtures.dud]
        command = ["{sys.executable}", "-c", "import sys; sys.exit('no such thing')"]
        ready = "listening"
        """,
    )
    get = 'import os, urllib.request as u; w = os.environ["WEB"]; print(u.urlopen(w).status, w)'
    ask = f"{sys.executable} -c '{get}'"
    for number in (1, 2):
        signature = {"reproduces": {"stdout": "^200 "}, "gone": {"stdout": "^404 "}}
        finding(tmp_path, number, ask, requires=["web"], signature=signature)
    finding(tmp_path, 3, "echo shown", requires=["dud"])
    assert cli("run") == 0
    places = {
        yaml.safe_load(path.read_text())["stdout"] for path in (tmp_path / "findings" / "evidence").rglob("*.yaml")
    }
    assert len(places) == 1
    place = places.pop().split()[1]
    assert subprocess.run(["sh", "-c", f"! curl -s {place}"], check=False).returncode == 0


def test_a_fixture_that_will_not_start_is_a_reason(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(
        tmp_path,
        f'[targets.thing]\n[fixtures.dud]\ncommand = ["{sys.executable}", "-c", "import sys; sys.exit(\'no luck\')"]\n'
        'ready = "listening"\n',
    )
    finding(tmp_path, 1, "echo shown", requires=["dud"])
    assert cli("check", "--strict") == 3
    assert "dud: the fixture ended: exit 1: no luck" in capsys.readouterr().out


def test_new_starts_a_finding_that_check_takes_once_it_is_filled_in(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    finding(tmp_path, 7, "echo shown")
    assert cli("new", 'Quotes " and: colons — late', "--target", "thing") == 0
    record, reproducer = (tmp_path / line for line in capsys.readouterr().out.splitlines())
    assert record.name == "F-008-quotes-and-colons-late.yaml"
    assert subprocess.run([sys.executable, reproducer], check=False, capture_output=True).returncode == 0
    assert cli("check") == 2
    refused = capsys.readouterr().err
    assert len(re.findall(r"^findings/F-008-\S+:\d+: \S+: expected ", refused, re.MULTILINE)) >= 9
    text = record.read_text().replace("TODO", "Say")
    record.write_text(text.replace("^Say a line that only the failure prints", "^outcome: not"))
    record.write_text(record.read_text().replace("^Say a line that proves that the run reached", "^reached"))
    record.write_text(record.read_text().replace(" the point it tests'}", "'}"))
    assert cli("check", "F-008") == 0, capsys.readouterr().out
    assert "as recorded" in capsys.readouterr().out
    assert json.loads((tmp_path / "findings" / "schema.json").read_text())


def test_new_speaks_the_language_of_its_target(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    settings(tmp_path, '[targets.thing]\necosystem = "npm"\npackage = "@scope/thing"\nrelease = "1.2.3"\n')
    assert cli("new", "It is late") == 0
    reproducer = tmp_path / capsys.readouterr().out.split()[1]
    assert reproducer.name == "F-001-it-is-late.mjs"
    packages = wanted(reproducer.read_text(), Ecosystem.NPM, Target(), None)
    assert isinstance(packages, Wanted) and packages.requirements == ("@scope/thing@1.2.3",)


def test_new_takes_the_only_target_that_there_is(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    settings(tmp_path, "targets.thing = {}\n")
    assert cli("new", "It is late") == 0
    assert "target: thing\n" in (tmp_path / capsys.readouterr().out.split()[0]).read_text()
    settings(tmp_path, "targets.thing = {}\ntargets.other = {}\n")
    assert cli("new", "It is late") == 2
    assert capsys.readouterr().err == "--target is missing; say what the finding is about: other, thing\n"


def test_the_schema_says_what_the_loader_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    for path in sorted((ROOT / "findings").glob("F-*.yaml")):
        jsonschema.validate(yaml.safe_load(path.read_text()), schema)
    assert (ROOT / "findings" / "schema.json").read_text() == scaffold.schema_text()


def test_issue_is_ready_to_file(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    settings(tmp_path, '[targets.thing]\nrelease = "1.0.0"\nupstream = "owner/thing"\n')
    finding(tmp_path, 1, "echo shown")
    assert cli("issue", "F-001") == 0
    text = capsys.readouterr().out
    assert text.startswith("# Case 1\n")
    for part in (
        "- thing 1.0.0",
        "F-001-case.sh",
        "```sh\nsh F-001-case.sh\n```",
        "shown\n[exit 0]",
        "## Proposed fix",
    ):
        assert part in text
    assert not (tmp_path / "findings" / "evidence").exists()
    assert cli("issue", "F-001", "--url") == 0
    assert capsys.readouterr().out.startswith("https://github.com/owner/thing/issues/new?title=Case%201&body=")


OTHERS = "\n## Other findings named above\n\n"


def test_an_issue_explains_the_other_findings_that_it_names(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    actual, impact = "As in F-004 and (F-002), F-003, F-002 again.", "See F-005-case.yaml, F-006, F-1000."
    finding(tmp_path, 1, "echo shown, F-007 # F-001\n", actual=actual, impact=impact)
    finding(tmp_path, 2, "echo shown", title="It is late", upstream={"issue": "https://example.com/2"})
    finding(tmp_path, 3, "echo shown", title="A secret", disclosure="private", upstream={"issue": "https://secret/3"})
    finding(tmp_path, 4, "echo shown", title="It is  early", upstream={"fixed_by": "https://example.com/4"})
    finding(tmp_path, 5, "echo shown", title="It was a mistake", status="withdrawn")
    finding(tmp_path, 6, "echo shown", title="Nobody has seen it")
    finding(tmp_path, 7, "echo shown", title="See F-008")
    finding(tmp_path, 8, "echo shown", title="Named by no text of the issue")
    finding(tmp_path, 1000, "echo not shown", title="It is over", status="fixed")
    assert cli("run", "F-002", "F-003", "F-004", "F-005", "F-007", "F-1000") == 0
    capsys.readouterr()
    assert cli("issue", "F-001") == 0
    text = capsys.readouterr().out
    assert text.partition(OTHERS)[2] == (
        "- F-002: It is late; reported: https://example.com/2\n"
        "- F-003: not public yet\n"
        "- F-004: It is early\n"
        "- F-005: withdrawn\n"
        "- F-006: Nobody has seen it (not verified yet)\n"
        "- F-007: See F-008\n"
        "- F-1000: It is over (fixed)\n"
    )
    assert "secret" not in text
    settings(tmp_path, '[targets.thing]\nupstream = "owner/thing"\n')
    assert cli("issue", "F-001", "--url") == 0
    assert "%0A-%20F-003%3A%20not%20public%20yet%0A" in capsys.readouterr().out


def test_a_private_finding_is_described_in_no_issue_but_its_own(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    finding(tmp_path, 1, "echo shown", title="Hush", summary="Like F-002.", disclosure="private")
    finding(tmp_path, 2, "echo shown", title="A secret", status="withdrawn", disclosure="private")
    assert cli("issue", "F-001") == 0
    assert capsys.readouterr().out.endswith(f"{OTHERS}- F-002: not public yet\n")


@pytest.mark.parametrize(
    "said",
    ["F-001", "F-999", "F-" + "9" * 5_000, "F-0021", "F-02", "f-002", "xF-002", "UTF-002", "4F-002x", "A-F-002"],
    ids=lambda said: said[:9],
)
def test_an_issue_that_names_no_other_finding_lists_none(
    said: str, tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    finding(tmp_path, 1, "echo shown", summary=f"What {said} is.")
    finding(tmp_path, 2, "echo shown")
    assert cli("issue", "F-001") == 0
    text = capsys.readouterr().out
    assert f"What {said} is." in text and "Other findings" not in text
    assert text.endswith("\nWhat to do.\n")


def test_issue_refuses_what_no_longer_reproduces(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo not shown")
    assert cli("issue", "F-001") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "F-001 does not reproduce on thing: gone" in said.err
    assert cli("issue", "F-001", "--no-run") == 2


def test_a_long_issue_loses_output_first_and_says_so(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    finding(tmp_path, 1, "echo shown; i=0; while [ $i -lt 9999 ]; do echo line $i; i=$((i+1)); done")
    assert cli("issue", "F-001") == 0
    text = capsys.readouterr().out
    assert MOST_CHARACTERS * 0.9 < len(text) < MOST_CHARACTERS
    assert "characters left out here" in text
    assert "line 0\n" in text and "line 9998\n" in text and "## Proposed fix" in text
    finding(tmp_path, 1, "echo shown\n" + "# a remark\n" * 9999)
    assert cli("issue", "F-001") == 1
    assert "even without output" in capsys.readouterr().err


def captured(release: str, **packages: str) -> Evidence:
    return Evidence(
        finding="F-001-x",
        target="thing",
        release=release,
        captured=datetime.date(2026, 1, 2),
        command="python F-001-x.py",
        reproducer_sha256="0" * 64,
        versions=Versions(python="3.11.7", platform="linux x86_64", packages=packages),
        runs=1,
        hits=1,
        exit=0,
        duration_s=0.1,
        stdout=b"",
        stderr=b"",
    )


def test_the_pin_in_an_issue_is_the_release_that_ran() -> None:
    program = (
        '# /// script\n# dependencies = ["a_b.c[x]>=1,<2; python_version>\'3\'", "a-b-c-d"]\n# ///\nimport a_b_c\n'
    )
    target = Target(ecosystem=Ecosystem.PYPI, package="A-B-C")
    assert '["a_b.c[x]==3.0; python_version' in pinned(program, target, captured("3.0"))
    assert '"a-b-c-d"]' in pinned(program, target, captured("3.0"))
    assert pinned(program, Target(), captured("3.0")) == program


def test_an_issue_asks_for_the_companions_that_were_in_force() -> None:
    program = '# /// script\n# dependencies = ["thing==2.0"]\n# ///\n'
    target = Target(ecosystem=Ecosystem.PYPI, package="thing")
    said = pinned(program, target, captured("1.0", thing="1.0", part="0.9"))
    assert '# dependencies = ["part==0.9", "thing==1.0"]\n' in said


def test_the_pin_of_a_program_in_javascript() -> None:
    program = '// /// script\n// dependencies = ["@a/b@1.0.0", "@a/bc@1.0.0"]\n// ///\nimport "@a/b";\n'
    target = Target(ecosystem=Ecosystem.NPM, package="@a/b")
    assert '["@a/b@2.0.0", "@a/bc@1.0.0"]' in pinned(program, target, captured("2.0.0"))
    assert 'import "@a/b";' in pinned(program, target, captured("2.0.0"))


def test_addresses_stay_short_enough_for_browsers() -> None:
    address = issue_address("o/n", "title", "# title\n\n" + "é line\n" * 5000)
    assert len(address) < 8000
    assert "left%20out%20here" in address


@pytest.mark.parametrize(
    ("upstream", "form", "title", "body"),
    [
        ("owner/na.me", "https://github.com/owner/na.me/issues/new", "title", "body"),
        ("github.com/owner/name", "https://github.com/owner/name/issues/new", "title", "body"),
        ("codeberg.org/owner/name", "https://codeberg.org/owner/name/issues/new", "title", "body"),
        ("git.example.com:3000/o.w_n/er", "https://git.example.com:3000/o.w_n/er/issues/new", "title", "body"),
        ("gitlab.com/o/n", "https://gitlab.com/o/n/-/issues/new", "issue[title]", "issue[description]"),
        ("GitLab.example.org/o/n", "https://GitLab.example.org/o/n/-/issues/new", "issue[title]", "issue[description]"),
        ("notgitlab.com/o/n", "https://notgitlab.com/o/n/issues/new", "title", "body"),
    ],
)
def test_every_forge_is_given_its_own_form(upstream: str, form: str, title: str, body: str) -> None:
    Target(upstream=upstream)
    address = issue_address(upstream, "A & B", "# A & B\n\nIt's late, 100%\n")
    place, _, query = address.partition("?")
    assert place == form
    assert urllib.parse.parse_qs(query) == {title: ["A & B"], body: ["It's late, 100%\n"]}


@pytest.mark.parametrize(
    "upstream",
    [
        "name",
        "codeberg.org/name",
        "/owner/name",
        "owner/name/",
        "host/owner/name",
        "codeberg.org/owner/name/issues",
        "codeberg.org/owner/..",
        "codeberg.org/../name",
        "owner/.",
        "owner/name.git",
        "user@codeberg.org/owner/name",
        "codeberg.org:port/owner/name",
        "codeberg.org:99999/owner/name",
        "-codeberg.org/owner/name",
        "codeberg..org/owner/name",
        "https://codeberg.org/owner/name",
        "codeberg.org/owner/na me",
        "codeberg.org/owner/name?x=1",
        "owner/name\n",
    ],
)
def test_what_is_no_repository_is_refused_in_one_line(
    upstream: str, tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(tmp_path, f"[targets.thing]\nupstream = {json.dumps(upstream)}\n")
    finding(tmp_path, 1, "echo shown")
    assert cli("issue", "F-001", "--url") == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err == (
        "ledger.toml:2: targets.thing.upstream: expected the repository that takes its issues, `owner/name` on GitHub "
        f"or `host/owner/name` elsewhere, found {json.dumps(upstream)}\n"
    )


def test_an_address_needs_an_upstream(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    finding(tmp_path, 1, "echo shown")
    assert cli("issue", "F-001", "--url") == 2
    said = capsys.readouterr().err
    assert said == '--url: the settings name no upstream for target thing, such as "owner/name"\n'


def test_every_command_and_option_is_documented() -> None:
    readme = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    for name in COMMANDS:
        assert f"feedback-ledger {name}" in readme, name


def test_the_readme_shows_a_finding_as_it_is() -> None:
    (record,) = (ROOT / "findings").glob("F-045-*.yaml")
    there = record.read_text().splitlines()
    excerpt = (ROOT / "README.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    assert [line for line in excerpt.splitlines() if line != "..." and line not in there] == []
    assert record.stem in (ROOT / "README.md").read_text()


def test_the_title_that_contributing_holds_up_is_one() -> None:
    (title,) = re.findall(r'is a claim\*, such as "([^"]+)"', " ".join((ROOT / "CONTRIBUTING.md").read_text().split()))
    titles = [yaml.safe_load(path.read_text())["title"] for path in (ROOT / "findings").glob("F-*.yaml")]
    assert title in titles


def test_no_wasmer_is_needed_to_use_the_engine(tmp_path: Path) -> None:
    finding(tmp_path, 1, "echo shown", target="anything-at-all")
    done = run_command(tmp_path, "build")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
