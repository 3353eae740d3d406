"""Nothing private gets out, and nothing harmless is touched."""

from __future__ import annotations

import base64

import pytest

from feedback_ledger.redact import Redactor

SECRET = "correct-horse+battery"
JANE = Redactor.for_machine(
    {
        "WASMER_TOKEN": SECRET,
        "DB_PASSWORD": "hunter2 hunter2",
        "SHORT_TOKEN": "abc",
        "TOKEN_FILE": "/etc/token",
        "PATH": "/usr/bin",
    },
    home="/home/jane",
    user="jane",
    host="janes-laptop",
    tmp="/var/folders/zz/T",
)


def shape(*parts: str) -> str:
    """A token put together here, so that no scanner takes this file for a leak."""
    return "".join(parts)


@pytest.mark.parametrize(
    ("said", "published"),
    [
        ("/home/jane/src/x.py", "[HOME]/src/x.py"),
        ("in /home/jane.", "in [HOME]."),
        ("/home/janet/x", "[HOME]/x"),
        ("/home/janet", "/home/janet"),
        ("/Users/bob/x", "[HOME]/x"),
        ("http://127.0.0.1/home/bob/x", "http://127.0.0.1/home/bob/x"),
        ("/var/folders/zz/T/tmpabc/x", "[TMP]/tmpabc/x"),
        ("/tmp/a-guest-wrote-this", "/tmp/a-guest-wrote-this"),
        ("jane@janes-laptop:~$", "[USER]@[HOST]:~$"),
        ("janet was here", "janet was here"),
        ("mail jane.doe+x@mail.example.org now", "mail [EMAIL] now"),
        ("git@github.com:owner/name.git", "git@github.com:owner/name.git"),
        ("npm i @scope/sdk@0.16.0 a@1.2.3", "npm i @scope/sdk@0.16.0 a@1.2.3"),
        (f"token={SECRET}", "token=[SECRET:WASMER_TOKEN]"),
        ("?t=correct-horse%2Bbattery", "?t=[SECRET:WASMER_TOKEN]"),
        (base64.b64encode(SECRET.encode()).decode(), "[SECRET:WASMER_TOKEN]"),
        ("hunter2 hunter2", "[SECRET:DB_PASSWORD]"),
        ("abc /etc/token", "abc /etc/token"),
        ("postgres://me:pw@db.example/x", "postgres://[CREDENTIALS]@db.example/x"),
        (shape("gh", "p_", "a" * 36), "[TOKEN]"),
        (shape("github_", "pat_", "A1" * 20), "[TOKEN]"),
        (shape("AK", "IA", "ABCDEFGHIJKLMNOP"), "[TOKEN]"),
        (shape("xox", "b-", "1234567890-abcdef"), "[TOKEN]"),
        (shape("sk-", "ant-api03-", "x" * 24), "[TOKEN]"),
        (shape("ey", "JhbGciOiJIUzI1NiJ9.", "ey", "JzdWIiOiIxMjM0In0.", "abcdefghijk"), "[TOKEN]"),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "Authorization: Bearer [TOKEN]"),
        (shape("-----BEGIN RSA PRIV", "ATE KEY-----\nabc\n-----END RSA PRIV", "ATE KEY-----\n"), "[PRIVATE KEY]\n"),
        ("risk-taking task-force", "risk-taking task-force"),
    ],
)
def test_what_is_published(said: str, published: str) -> None:
    assert JANE.text(said) == published


def test_index_addresses_are_no_evidence() -> None:
    host = shape("files.python", "hosted.org")
    assert JANE.text(f"from https://{host}/packages/x.whl (12 kB)") == "from [INDEX] (12 kB)"


def test_system_accounts_tell_nothing() -> None:
    root = Redactor.for_machine({}, home="/root", user="root", host="localhost", tmp="/tmp")
    assert (
        root.text("root of the tree at localhost, /root/x, /rootfs")
        == "root of the tree at localhost, [HOME]/x, /rootfs"
    )


def test_folders_of_a_run_come_first_and_longest_first() -> None:
    known = JANE.knowing([("/home/jane/t/run", "[RUN]"), ("/home/jane/t/run/home", "[HOME]")])
    assert known.text("/home/jane/t/run/home/x /home/jane/t/run/y /home/jane/z") == "[HOME]/x [RUN]/y [HOME]/z"


def test_bytes_that_are_no_text_stay_as_they_were() -> None:
    assert JANE.stream(b"\xff\x00\x1b[0m /home/jane\xfe") == b"\xff\x00\x1b[0m [HOME]\xfe"


def test_leaks_name_their_lines() -> None:
    text = f"fine\n/home/jane/x\n\nmail a@b.example.org {SECRET}\n"
    assert JANE.leaks(text) == [(2, "[HOME]"), (4, "[EMAIL]"), (4, "[SECRET:WASMER_TOKEN]")]


def test_names_of_people_and_machines_are_theirs_to_write() -> None:
    assert JANE.leaks("jane wrote this on janes-laptop") == []
