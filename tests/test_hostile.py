"""Reproducers that misbehave. Whatever they do, the ledger lives, says what came of it, and nothing of them stays."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from feedback_ledger import processes, runner, supervise
from feedback_ledger.outcome import Outcome
from feedback_ledger.redact import MARGIN, Redactor
from feedback_ledger.vocabulary import Event, Verdict
from tests.ledgers import (
    PYTHON,
    alive,
    command,
    evidence,
    finding,
    reproducer_path,
    run,
    settings,
    survivors,
)

LINUX_ONLY = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux can hand orphans to the supervisor (PR_SET_CHILD_SUBREAPER)"
)
AT_ONCE_S = 10.0
"""More than any run here takes unless something waits for what it should not wait for."""


@pytest.fixture(autouse=True)
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of the test's own, in which nothing may be left; nor may a process of a run."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    left = survivors(folder)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    files = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    # also what neither Python nor pytest can remove
    subprocess.run(["rm", "-rf", *(str(folder / name) for name in files)], check=False)
    assert left == [], "processes of a run are left"
    assert files == [], "files of a run are left"
    if folder.is_dir():
        assert stat.S_IMODE(folder.stat().st_mode) == 0o1777, "the temporary folder itself was changed"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that runs write to and tests read from."""
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def one(outcomes: list[Outcome]) -> Outcome:
    assert len(outcomes) == 1
    return outcomes[0]


def assert_broken(outcome: Outcome, *words: str) -> None:
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.BROKEN, Event.NOT_JUDGED), outcome.judgement
    for word in words:
        assert word in outcome.reason


def assert_shown(outcome: Outcome) -> None:
    assert (outcome.judgement.verdict, outcome.event) == (Verdict.REPRODUCES, Event.AS_RECORDED), outcome.judgement


def pids(place: Path) -> list[int]:
    return [int(word) for word in place.read_text().split()]


def assert_end(place: Path) -> None:
    """Nobody waits for what has lost its supervisor, so it may take a moment to go."""
    until = time.monotonic() + AT_ONCE_S / 2
    while any(map(alive, pids(place))) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(alive, pids(place)))


# --- it can't be started


def test_a_program_that_is_not_executable_is_broken(root: Path) -> None:
    finding(root, 1, "#!/bin/sh\necho shown\n", suffix="", executable=False)
    assert_broken(one(run(root)), "Permission denied", "F-001-case")


def test_a_missing_interpreter_is_broken_and_named(root: Path) -> None:
    finding(root, 1, "#!/nowhere/interpreter -x\necho shown\n", suffix="")
    assert_broken(one(run(root)), "/nowhere/interpreter")


def test_an_executable_of_no_known_format_is_broken(root: Path) -> None:
    finding(root, 1, b"\x00\x01\x02 neither a program nor a script", suffix="")
    assert_broken(one(run(root)), "Exec format error")


# --- it pulls the rug from under itself


def test_it_deletes_its_own_folder(root: Path) -> None:
    finding(root, 1, 'rm -rf "$PWD"\necho shown\n')
    assert_shown(one(run(root)))


def test_it_deletes_the_whole_run_folder(root: Path) -> None:
    finding(root, 1, 'rm -rf "$(dirname "$HOME")"\necho shown\n')
    finding(root, 2, "echo shown\n")
    for outcome in run(root):
        assert_shown(outcome)


def test_it_deletes_the_temporary_folder_of_the_machine(root: Path, tmp: Path) -> None:
    finding(root, 1, f"rm -rf '{tmp}'\necho shown\n")
    finding(root, 2, "echo shown\n")
    first, second = run(root)
    assert_shown(first)
    assert_broken(second, "No such file or directory")


def test_it_closes_its_streams(root: Path) -> None:
    stem = finding(root, 1, "echo shown\nexec 1>&- 2>&-\necho lost\nexit 3\n")
    assert_shown(one(run(root)))
    assert (evidence(root, stem).exit, evidence(root, stem).stdout) == (3, b"shown\n")


def test_it_leaves_a_tree_deeper_than_any_path(root: Path) -> None:
    program = "import os\nfor _ in range(2100):\n    os.mkdir('d')\n    os.chdir('d')\nprint('shown')\n"
    finding(root, 1, f"{PYTHON}{program}", suffix="")
    finding(root, 2, "echo shown\n")
    for outcome in run(root):
        assert_shown(outcome)


def test_it_is_edited_while_it_runs(root: Path) -> None:
    stem = "F-001-case"
    original = reproducer_path(root, stem)
    program = f"echo shown by the first\necho 'echo shown by the second' > '{original}'\n"
    finding(root, 1, program)
    assert_shown(one(run(root)))
    kept = evidence(root, stem)
    assert kept.stdout == b"shown by the first\n"
    assert kept.reproducer_sha256 == hashlib.sha256(program.encode()).hexdigest()

    again = one(run(root))
    assert again.fresh, "the new program never ran"
    assert evidence(root, stem).stdout == b"shown by the second\n"


def test_it_is_deleted_while_it_runs(root: Path) -> None:
    original = reproducer_path(root, "F-001-case")
    finding(root, 1, f"rm '{original}'\necho shown\n", runs=2)
    finding(root, 2, "echo shown\n")
    first, second = run(root)
    assert_shown(first)
    assert (evidence(root, "F-001-case").runs, evidence(root, "F-001-case").hits) == (2, 2)
    assert_shown(second)


# --- it leaves processes


def test_a_child_that_holds_the_streams_does_not_hold_up_the_run(root: Path, outside: Path) -> None:
    finding(root, 1, f"sleep 300 &\necho $! > '{outside}/pids'\necho shown\n")
    started = time.monotonic()
    assert_shown(one(run(root)))
    assert time.monotonic() - started < AT_ONCE_S
    assert not any(map(alive, pids(outside / "pids")))


AWAY = f"""{PYTHON}
import os, signal, time

def away(depth):
    if os.fork():
        return
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if depth:
        away(depth - 1)
        if depth % 2:
            os._exit(0)
    else:
        with open("OUTSIDE/pids", "w") as file:
            file.write(str(os.getpid()))
    time.sleep(300)
    os._exit(0)
"""


def away(outside: Path, then: str) -> str:
    """A program that starts daemons of daemons, then does something else."""
    wait = "while not (os.path.exists('OUTSIDE/pids') and open('OUTSIDE/pids').read()):\n    time.sleep(0.01)\n"
    return f"{AWAY}\naway(5)\n{wait}{then}".replace("OUTSIDE", str(outside))


@LINUX_ONLY
def test_daemons_do_not_outlive_the_run(root: Path, outside: Path) -> None:
    finding(root, 1, away(outside, "print('shown')"), suffix="")
    assert_shown(one(run(root)))
    assert not any(map(alive, pids(outside / "pids")))


@LINUX_ONLY
def test_daemons_do_not_outlive_the_time_limit(root: Path, outside: Path) -> None:
    finding(root, 1, away(outside, "time.sleep(300)"), suffix="", timeout_s=1.0)
    assert_broken(one(run(root)), "time limit")
    assert not any(map(alive, pids(outside / "pids")))


def test_it_ignores_sigterm_at_the_time_limit(root: Path, outside: Path) -> None:
    signature = {"reproduces": {"stdout": "^never"}, "gone": {"stdout": "^begun"}}
    program = f"trap '' TERM HUP INT\necho $$ > '{outside}/pids'\necho begun\nwhile :; do sleep 300; done\n"
    stem = finding(root, 1, program, timeout_s=0.5, signature=signature)
    started = time.monotonic()
    assert_broken(one(run(root)), "time limit")
    assert time.monotonic() - started < AT_ONCE_S
    kept = evidence(root, stem)
    assert (kept.exit, kept.stdout) == ("timeout", b"begun\n")
    assert not any(map(alive, pids(outside / "pids")))


def test_its_last_words_at_the_time_limit_are_kept(root: Path) -> None:
    signature = {"reproduces": {"exit": "timeout", "stdout": "^last words"}}
    finding(root, 1, "trap 'echo last words; exit 0' TERM\nsleep 300 & wait\n", timeout_s=0.5, signature=signature)
    assert_shown(one(run(root)))


# --- it attacks what watches over it


KILL_PARENT = "import os, signal, time\nos.killpg(os.getpgid(os.getppid()), signal.SIGKILL)\ntime.sleep(300)\n"
STOP_PARENT = "import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\n"


def test_it_kills_the_process_group_of_its_parent(root: Path) -> None:
    finding(root, 1, f"{PYTHON}{KILL_PARENT}", suffix="")
    finding(root, 2, "echo shown\n")
    started = time.monotonic()
    first, second = run(root)
    assert time.monotonic() - started < AT_ONCE_S
    assert_broken(first, "watches over it")
    assert_shown(second)


@LINUX_ONLY
def test_it_sends_daemons_away_and_then_kills_its_parent(root: Path, outside: Path) -> None:
    finding(root, 1, away(outside, KILL_PARENT), suffix="")
    finding(root, 2, "echo shown\n")
    first, second = run(root)
    assert_broken(first, "watches over it")
    assert_shown(second)
    assert_end(outside / "pids")


@pytest.mark.parametrize("then", ["time.sleep(300)\n", "print('shown')\n"], ids=["and waits", "and ends"])
def test_it_stops_its_parent(root: Path, monkeypatch: pytest.MonkeyPatch, then: str) -> None:
    monkeypatch.setattr(processes, "_PATIENCE_S", 0.5)
    monkeypatch.setattr(runner, "Job", functools.partial(processes.Job, grace_s=0.2))
    finding(root, 1, f"{PYTHON}{STOP_PARENT}{then}", suffix="", timeout_s=0.5)
    finding(root, 2, "echo shown\n")
    started = time.monotonic()
    first, second = run(root)
    assert time.monotonic() - started < AT_ONCE_S
    assert_broken(first, "watches over it")
    assert_shown(second)


@LINUX_ONLY
def test_it_sends_daemons_away_and_then_stops_its_parent(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_PATIENCE_S", 1.0)
    monkeypatch.setattr(runner, "Job", functools.partial(processes.Job, grace_s=0.2))
    finding(root, 1, away(outside, STOP_PARENT), suffix="", timeout_s=0.5)
    assert_broken(one(run(root)), "watches over it")
    assert_end(outside / "pids")


# --- it prints too much


def peak_kib(root: Path, *arguments: str) -> int:
    """Runs the command line and returns the most memory that it, or a process that it started, had at once."""
    with subprocess.Popen(
        command(root, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said.decode()
    return usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)


def test_a_gigabyte_of_output_costs_no_memory_and_keeps_head_and_tail(root: Path) -> None:
    signature = {"control": {"stdout": "^first$"}, "reproduces": {"stdout": r"^last\Z"}}
    flood = "echo first\nyes 'a line of no interest' | head -c {size}\nprintf '\\nlast'\n"
    finding(root, 1, flood.format(size=3_000_000), signature=signature)
    stem = finding(root, 2, flood.format(size=1_000_000_000), signature=signature, timeout_s=120)
    few, many = peak_kib(root, "run", "F-001"), peak_kib(root, "run", "F-002")
    assert many - few < 32 * 1024, f"{few} KiB for 3 MB, {many} KiB for 1 GB"
    kept = evidence(root, stem)
    note = f"\n[... {kept.cut.stdout:,} bytes cut ...]\n".encode()
    head, found, tail = kept.stdout.partition(note)
    assert found
    assert head.startswith(b"first\na line of no interest\n")
    assert tail.endswith(b"\nlast")
    assert 400_000 < len(head) < 600_000
    assert 400_000 < len(tail) < 600_000
    assert len(head) + len(tail) + kept.cut.stdout == len("first\n") + 1_000_000_000 + len("\nlast")
    (file,) = (root / "findings" / "evidence" / stem).iterdir()
    assert file.stat().st_size < 1.3 * 1024 * 1024


@pytest.mark.parametrize("redirect", ["", " >&2"], ids=["stdout", "stderr"])
def test_endless_output_is_ended_and_broken(root: Path, monkeypatch: pytest.MonkeyPatch, redirect: str) -> None:
    monkeypatch.setattr(runner, "Job", functools.partial(processes.Job, most_bytes=3 * 1024 * 1024))
    stem = finding(root, 1, f"echo shown\nexec yes{redirect}\n", timeout_s=60)
    started = time.monotonic()
    assert_broken(one(run(root)), "would not stop printing")
    assert time.monotonic() - started < AT_ONCE_S
    assert evidence(root, stem).exit == "output limit"


@pytest.mark.parametrize("size", [1023, 1024, 1025, 2000, 8191, 8192, 9000, 20_000, 100_000])
def test_a_small_limit_keeps_head_and_tail(root: Path, size: int) -> None:
    settings(root, "output_limit = 1024\n[targets.thing]\n")
    stem = finding(root, 1, f"printf 'shown\\n'\nhead -c {size - 10} /dev/zero | tr '\\0' x\nprintf 'last'\n")
    assert_shown(one(run(root)))
    kept = evidence(root, stem)
    assert kept.stdout.startswith(b"shown\n")
    assert kept.stdout.endswith(b"last")
    if size <= 1024:
        assert (kept.cut.stdout, len(kept.stdout)) == (0, size)
    else:
        note = f"\n[... {kept.cut.stdout:,} bytes cut ...]\n".encode()
        assert len(kept.stdout.replace(note, b"")) == size - kept.cut.stdout <= 1024


# --- it dies


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL", "SIGBUS", "SIGTERM", "SIGPIPE"])
def test_a_death_by_signal_is_kept_by_name(root: Path, name: str) -> None:
    signature = {"reproduces": {"exit": name, "stdout": "^before$", "not_stdout": "after"}}
    program = (
        f"{PYTHON}import os, resource, signal\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        f"signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        f"os.write(1, b'before\\n')\nos.write(2, b'at \\xff')\n"
        f"os.kill(os.getpid(), signal.{name})\nos.write(1, b'after')\n"
    )
    stem = finding(root, 1, program, suffix="", signature=signature)
    assert_shown(one(run(root)))
    kept = evidence(root, stem)
    assert (kept.exit, kept.stdout, kept.stderr) == (name, b"before\n", b"at \xff")


# --- it prints what is no text


ODD = {
    "nul": b"a\0b\0\n",
    "invalid": b"\xff\xfe shown \xc3\x28 \xe2\x82 \n",
    "escapes": b"\x1b[31mred\x1b[0m\x07\x08\x7f\x9b\n",
    "returns": b"10%\r20%\r\n\r\nend\r",
    "separators": "a\u2028b\u2029c\u0085d\ufeffe\ufffef\n".encode(),
    "lone surrogate": b"\xed\xa0\x80\n",
    "blank": b"\n\n  \t \n\n",
    "tab first": b"\tindented\n\t\tmore \n",
    "no newline": b" x ",
    "yaml": b"--- !!binary |\n# no comment\n: [a, b\n...\n'\"\\\n",
    "astral": "\U0001f600\U0010ffff\n".encode(),
    "all bytes": bytes(range(256)),
}


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_odd_bytes_come_back_as_they_were(root: Path, stream: str) -> None:
    number = {"stdout": 1, "stderr": 2}[stream]
    for place, odd in enumerate(ODD.values(), start=1):
        program = f"{PYTHON}import os\nos.write({number}, {odd!r})\n"
        finding(root, place, program, suffix="", signature={"reproduces": {"exit": 0}})
    run(root, jobs=2)
    for place, (name, odd) in enumerate(ODD.items(), start=1):
        kept = evidence(root, f"F-{place:03d}-case")
        assert (kept.stdout, kept.stderr) == ((odd, b"") if stream == "stdout" else (b"", odd)), name


def test_a_cut_leaves_no_half_character_and_other_bytes_alone(root: Path) -> None:
    settings(root, "output_limit = 1024\n[targets.thing]\n")
    cases = [
        ("é€😀".encode() * 4000, "utf-8"),
        (b"x" + "é€😀".encode() * 4000, "utf-8"),
        (b"xy" + "😀".encode() * 4000, "utf-8"),
        (b"xyz" + "😀".encode() * 4000, "utf-8"),
        (b"\x80" * 30_000, "latin-1"),
        (b"\xf0" * 30_000, "latin-1"),
        (b"\x80\xbf\xff\x00" * 8000, "latin-1"),
    ]
    for place, (odd, _) in enumerate(cases, start=1):
        path = root / f"bytes-{place}"
        path.write_bytes(odd)
        finding(root, place, f"exec cat '{path}'\n", signature={"reproduces": {"exit": 0}})
    run(root, jobs=2)
    for place, (odd, encoding) in enumerate(cases, start=1):
        kept = evidence(root, f"F-{place:03d}-case")
        note = f"\n[... {kept.cut.stdout:,} bytes cut ...]\n".encode()
        head, found, tail = kept.stdout.partition(note)
        assert found, place
        assert odd.startswith(head)
        assert odd.endswith(tail)
        assert len(head) + len(tail) == len(odd) - kept.cut.stdout
        assert 1000 < len(head) + len(tail) <= 1024
        head.decode(encoding)
        tail.decode(encoding)


# --- it looks around


def test_its_standard_input_is_at_its_end(root: Path) -> None:
    finding(root, 1, "cat\nread answer || echo shown\n", timeout_s=10)
    assert_shown(one(run(root)))


def test_it_sees_a_fixed_environment_of_its_own(root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inherited = {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "213", "EDITOR": "ed"}
    secrets = {"WASMER_TOKEN": "wasmer-0123456789", "AWS_SECRET_ACCESS_KEY": "aws/0123456789+abc", "PYTHONPATH": "/x"}
    for name, value in (inherited | secrets).items():
        monkeypatch.setenv(name, value)
    program = f"env > '{outside}/env'\npwd > '{outside}/cwd'\nls -A \"$HOME\" \"$TMPDIR\"\necho shown\n"
    stem = finding(root, 1, program)
    assert_shown(one(run(root)))
    env = dict(line.split("=", 1) for line in (outside / "env").read_text().splitlines())
    fixed = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80", "USER": "ledger"}
    assert {name: env.get(name) for name in fixed} == fixed
    assert not (secrets.keys() | {"EDITOR"}) & env.keys()
    for value in secrets.values():
        assert value not in env.values()
    home, temporary, here = Path(env["HOME"]), Path(env["TMPDIR"]), Path((outside / "cwd").read_text().strip())
    assert len({home, temporary, here}) == 3
    assert home.parent == temporary.parent
    assert home != Path.home()
    assert not home.exists()
    assert evidence(root, stem).stdout.endswith(b"shown\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_inherits_no_descriptors_and_no_ignored_signals(root: Path) -> None:
    shell = "ls /proc/self/fd | tr '\\n' ' '\ngrep -E 'Sig(Blk|Ign)' /proc/self/status\n"
    stem = finding(root, 1, shell, signature={"reproduces": {"exit": 0}})
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        assert_shown(one(run(root)))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    *descriptors, _, blocked, _, ignored = evidence(root, stem).stdout.split()
    assert descriptors == [b"0", b"1", b"2", b"3"]  # the fourth is the folder that `ls` reads
    reserved_by_libc = (
        0b11 << 31
    )  # nobody can change these two, so whoever started the tests may have left them ignored
    assert int(blocked, 16) == int(ignored, 16) & ~reserved_by_libc == 0


@LINUX_ONLY
def test_what_it_reads_of_its_parents_environment_is_not_published(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WASMER_TOKEN", "wasmer-0123456789")
    program = 'cat "/proc/$PPID/environ" "/proc/$(cut -d " " -f 4 "/proc/$PPID/stat")/environ"\necho shown\n'
    stem = finding(root, 1, program, signature={"reproduces": {"stdout": "shown"}})
    assert_shown(one(run(root)))
    (file,) = (root / "findings" / "evidence" / stem).iterdir()
    assert b"wasmer-0123456789" not in evidence(root, stem).stdout
    assert "wasmer-0123456789" not in file.read_text()


@pytest.mark.parametrize("secret", ["s3cr3t-&<hunter>/2==", "two words", "ünïcödé", "[RUN]x", "a\nb-multi\nline"])
def test_a_secret_that_it_was_given_is_not_published(root: Path, monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("THING_TOKEN", secret)
    settings(root, '[targets.thing]\n[requirements.account]\nenv = "THING_TOKEN"\n')
    program = (
        f"{PYTHON}import base64, os, sys, urllib.parse\nvalue = os.environ['THING_TOKEN']\n"
        "print('shown: plain', value)\nprint('quoted', urllib.parse.quote(value, safe=''))\n"
        "print('base64', base64.b64encode(value.encode()).decode())\nprint(value * 2, file=sys.stderr)\n"
    )
    stem = finding(root, 1, program, suffix="", requires=["account"])
    assert_shown(one(run(root)))
    kept = evidence(root, stem)
    assert kept.stdout.startswith(
        b"shown: plain [SECRET:THING_TOKEN]\nquoted [SECRET:THING_TOKEN]\nbase64 [SECRET:THING_"
    )
    assert kept.stderr == b"[SECRET:THING_TOKEN][SECRET:THING_TOKEN]\n"
    (file,) = (root / "findings" / "evidence" / stem).iterdir()
    assert secret not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("filler", ["x" * 40 + " ", "$PWD/file "], ids=["plain", "among much that is replaced"])
@pytest.mark.parametrize("end", ["head", "tail"])
@pytest.mark.parametrize("limit", [8 * 1024, 64 * 1024])
def test_a_cut_leaves_no_half_of_a_secret(
    root: Path, monkeypatch: pytest.MonkeyPatch, limit: int, end: str, filler: str
) -> None:
    parts = [f"<{number:02d}>" for number in range(25)]
    monkeypatch.setenv("THING_TOKEN", "".join(parts))
    settings(root, f'output_limit = {limit}\n[targets.thing]\n[requirements.account]\nenv = "THING_TOKEN"\n')
    program = f"""{PYTHON}
import os
secret, filler = os.environ["THING_TOKEN"], {filler!r}.replace("$PWD", os.getcwd())
edges = {limit // 2}, {limit // 2 + MARGIN}
text = (filler * (edges[1] // len(filler) + 100))[: edges[1] + 1000]
# a secret over each place at which what is kept, or what is looked at, may end
for edge in edges:
    start = edge - len(secret) // 2 if {end == "head"} else len(text) - edge - len(secret) // 2
    text = text[:start] + secret + text[start + len(secret) :]
between = "-" * 200_000
print(text + between if {end == "head"} else between + text, end="")
"""
    stem = finding(root, 1, program, suffix="", requires=["account"], signature={"reproduces": {"exit": 0}})
    assert_shown(one(run(root)))
    kept = evidence(root, stem)
    assert kept.cut.stdout > 0
    assert [part for part in parts if part in kept.stdout.decode()] == []


@pytest.mark.parametrize(
    "authority",
    [
        "pat:hunter2-hunter2@index.example",
        "hunter2-hunter2@index.example",
        "hunter2-hunter2:@index.example",
        "hunter2-hunter2@mirror:8443",
    ],
)
def test_credentials_in_the_address_of_an_index_are_not_published(
    root: Path, monkeypatch: pytest.MonkeyPatch, authority: str
) -> None:
    for name in ("HTTPS_PROXY", "PIP_INDEX_URL", "UV_INDEX_URL"):
        monkeypatch.setenv(name, f"https://{authority}/simple")
    stem = finding(root, 1, "echo shown\nenv\n")
    assert_shown(one(run(root)))
    assert b"hunter2" not in evidence(root, stem).stdout


def test_it_says_where_it_is_and_who_runs_it(root: Path, tmp: Path) -> None:
    redactor = Redactor.for_machine(
        {}, home="/home/pat.doe", user="pat.doe", host="pats-laptop", tmp=os.path.realpath(tmp)
    )
    program = """
        echo shown
        echo "home $HOME/x"
        echo "cwd $(pwd)/y and $PWD"
        echo "tmp $TMPDIR/z"
        echo "theirs /home/pat.doe/src/x.py"
        echo "mail pat.doe+lists@example.com, user pat.doe on pats-laptop"
        echo "nothing $(dirname "$HOME")" >&2
        """
    stem = finding(root, 1, program)
    assert_shown(one(run(root, redactor=redactor)))
    kept = evidence(root, stem)
    assert kept.stdout.decode().splitlines() == [
        "shown",
        "home [HOME]/x",
        "cwd [RUN]/y and [RUN]",
        "tmp [TMP]/z",
        "theirs [HOME]/src/x.py",
        "mail [EMAIL], user [USER] on [HOST]",
    ]
    assert kept.stderr == b"nothing [RUN]/..\n"


# --- it leaves files that don't want to go


def test_a_symlink_is_removed_and_not_followed(root: Path, outside: Path) -> None:
    (outside / "kept").write_text("kept")
    (outside / "kept").chmod(0o640)
    outside.chmod(0o750)
    links = "".join(f"ln -s '{outside}' {place}there\nln -s '{outside}/kept' {place}file\n" for place in ("", "d/"))
    finding(root, 1, f"mkdir d\n{links}chmod 500 d .\necho shown\n")
    assert_shown(one(run(root)))
    assert (outside / "kept").read_text() == "kept"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (outside, outside / "kept")] == [0o750, 0o640]


@pytest.mark.parametrize("place", ["$PWD", "$HOME", '$(dirname "$HOME")'], ids=["cwd", "home", "run folder"])
def test_a_folder_of_the_run_that_became_a_symlink_is_not_followed(root: Path, outside: Path, place: str) -> None:
    (outside / "kept").write_text("kept")
    (outside / "kept").chmod(0o640)
    outside.chmod(0o750)
    finding(root, 1, f'folder="{place}"\ncd /\nrm -rf "$folder"\nln -s \'{outside}\' "$folder"\necho shown\n')
    assert_shown(one(run(root)))
    assert (outside / "kept").read_text() == "kept"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (outside, outside / "kept")] == [0o750, 0o640]


LOCK = """
mkdir -p d/e/f
ln -s 'OUTSIDE/kept' d/link
echo x > d/e/f/file
chmod 000 d/e/f
chmod 500 d/e d
mkdir -p locked/x
chmod 000 locked
"""


def test_unwritable_folders_are_removed(root: Path, outside: Path) -> None:
    (outside / "kept").write_text("kept")
    (outside / "kept").chmod(0o640)
    lock = LOCK.replace("OUTSIDE", str(outside))
    finding(
        root, 1, f'{lock}cd "$HOME"\n{lock}cd "$TMPDIR"\n{lock}chmod 000 "$HOME" "$TMPDIR"\nchmod 500 ..\necho shown\n'
    )
    finding(root, 2, "echo shown\n")
    for outcome in run(root):
        assert_shown(outcome)
    assert stat.S_IMODE((outside / "kept").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root must become somebody else for permissions to hold it up")
def test_unwritable_folders_are_removed_by_somebody_who_is_not_root() -> None:
    """The runner may not be able to start anything as nobody, so only its last step is taken."""
    nobody = 65534
    base = Path(tempfile.mkdtemp(prefix="of-nobody-", dir="/tmp"))
    try:
        folder, kept = base / "ledger-x", base / "kept"
        (folder / "work").mkdir(parents=True)
        script = LOCK.replace("OUTSIDE", str(base))
        subprocess.run(["/bin/sh", "-c", f"{script}chmod 500 . .."], cwd=folder / "work", check=True)
        kept.write_text("kept")
        kept.chmod(0o640)
        for path in (base, *base.rglob("*")):
            os.chown(path, nobody, nobody, follow_symlinks=False)
        os.seteuid(nobody)
        try:
            supervise.remove(str(folder))
        finally:
            os.seteuid(0)
        assert not folder.exists()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    finally:
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.parametrize(("limit_s", "over"), [(0.5, "time"), (60.0, None)])
def test_a_program_that_ended_before_anybody_looked_is_held_to_its_limit(limit_s: float, over: str | None) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        job = supervise._Job(pid=0, wake=theirs.fileno(), control=ours)
        job.status = 0
        request = {"limit_s": limit_s, "grace_s": 0.0, "most_bytes": 1}
        assert supervise._watch(job, request, [], started=time.monotonic() - 1.0) == over
