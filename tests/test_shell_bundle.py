"""The sandbox's shell, as it is delivered: the bundle in QuickJS in a real sandbox, with a host that is made up.

Run as a program it is that host: cases in on stdin, results out on stdout. A process of its own, since the sandbox's
native threads sometimes abort an interpreter that ends in the ordinary way.
"""

import asyncio
import base64
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from wasmer_sdk import PackageCommandDefinition, PackageDefinition, Sandbox, Wasmer, WasmerError

ROOT = Path(__file__).parents[1]
SHELL = ROOT / "servers/sandbox/guest/shell"
CACHE = ROOT / ".ledger" / "sandbox-cache"
ALL_S = 240
CASE_S = 20.0


@dataclass(frozen=True)
class Case:
    """What the host asks of one shell. Each gets a folder of its own, in which `files` are."""

    script: str = ""
    argv: tuple[str, ...] | None = None
    stdin: bytes = b""
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    commands: tuple[str, ...] = ("python", "js")
    remove: bool = True
    timeout_s: float = CASE_S


@dataclass
class Seen:
    """What came of it. `events` are stream, seconds since the start and data of each piece of output."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = None
    guest: str = ""
    runs: list[dict[str, Any]] = field(default_factory=list)
    events: list[tuple[str, float, bytes]] = field(default_factory=list)
    modes: dict[str, int] | None = None
    seconds: float = 0.0


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def packed(value: Any) -> str:
    return json.dumps(value, default=lambda data: {"bytes": text(data)})


def unpacked(line: str) -> Any:
    def bytes_of(found: dict[str, Any]) -> Any:
        return base64.b64decode(found["bytes"]) if found.keys() == {"bytes"} else found

    return json.loads(line, object_hook=bytes_of)


def play(*cases: Case) -> list[Seen]:
    """Runs the cases one after the other in one sandbox."""
    CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    asked = packed([asdict(case) for case in cases])
    command = [sys.executable, "-m", "tests.test_shell_bundle"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=ALL_S, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [Seen(**one) for one in unpacked(done.stdout)]


def one(script: str, **more: Any) -> Seen:
    (seen,) = play(Case(script, **more))
    return seen


# The host.


async def _all(cases: list[Case]) -> list[Seen]:
    qjs = importlib.metadata.distribution("synapserun").locate_file("synapse/_templates/quickjs.wasm")
    package = PackageDefinition(
        modules={"js": Path(str(qjs)).read_bytes()},
        commands={"js": PackageCommandDefinition("js")},
        entrypoint="js",
        files={"/opt/sandbox/shell.js": (SHELL / "shell.js").read_bytes()},
    )
    wasmer = Wasmer(cache_root=str(CACHE))
    sandbox = await wasmer.sandboxes.create(packages=[await wasmer.packages.create(package)])
    return [await _one(sandbox, case, f"/workspace/case{number}") for number, case in enumerate(cases)]


async def _one(sandbox: Sandbox, case: Case, folder: str) -> Seen:
    await sandbox.fs.mkdir(folder, recursive=True)
    for name, data in case.files.items():
        await sandbox.fs.write(f"{folder}/{name}", data)
    process = await sandbox.command("js", ["--std", "-m", "/opt/sandbox/shell.js"]).spawn(
        stdin="pipe", timeout=case.timeout_s
    )
    assert process.stdin is not None and process.stdout is not None
    begin = {
        "argv": ("-c", case.script) if case.argv is None else case.argv,
        "cwd": folder,
        "env": case.env,
        "stdin": text(case.stdin),
        "commands": case.commands,
        "remove": case.remove,
        "modes": {f"{folder}/{name}": mode for name, mode in case.modes.items()},
    }
    began = time.monotonic()
    await process.stdin.write(json.dumps(begin) + "\n")
    seen, pending = Seen(), b""
    async for data in process.stdout:
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            answer = await _heard(sandbox, json.loads(line), seen, folder, time.monotonic() - began)
            if answer is not None:
                await process.stdin.write(json.dumps(answer) + "\n")
    ended = await process.wait()
    seen.guest = f"{ended.reason.value} {ended.exit_code}"
    seen.stderr += ended.stderr.bytes
    seen.seconds = time.monotonic() - began
    return seen


async def _heard(
    sandbox: Sandbox, said: dict[str, Any], seen: Seen, folder: str, after_s: float
) -> dict[str, Any] | None:
    match said.pop("type"):
        case "output":
            data = base64.b64decode(said["data"])
            seen.events.append((said["stream"], after_s, data))
            setattr(seen, said["stream"], getattr(seen, said["stream"]) + data)
        case "run":
            said["cwd"] = said["cwd"].replace(folder, ".")
            said["stdin"] = base64.b64decode(said["stdin"])
            seen.runs.append(said)
            stdout, stderr, code = await _program(sandbox, said, folder)
            return {"id": said["id"], "stdout": text(stdout), "stderr": text(stderr), "exit_code": code}
        case "remove":
            try:
                await sandbox.fs.remove(said["path"], recursive=said["recursive"])
            except WasmerError:
                return {"id": said["id"], "exit_code": 1}
            return {"id": said["id"], "exit_code": 0}
        case "exit":
            seen.exit_code = said["exit_code"]
            modes = said.get("modes")
            seen.modes = modes and {path.replace(f"{folder}/", ""): mode for path, mode in modes.items()}
    return None


async def _program(sandbox: Sandbox, said: dict[str, Any], folder: str) -> tuple[bytes, bytes, int]:
    """A made-up program. Its first argument says what it does."""
    match said["args"]:
        case ["fail", code]:
            return b"partly\n", b"failed\n", int(code)
        case ["cat"]:
            return said["stdin"], b"", 0
        case ["every-byte"]:
            return bytes(range(256)), b"\xff\xfe", 0
        case ["write", name, data]:
            await sandbox.fs.write(f"{folder}/{name}", data)
        case ["mkdir", name]:
            await sandbox.fs.mkdir(f"{folder}/{name}")
        case ["rmtree", name]:
            await sandbox.fs.remove(f"{folder}/{name}", recursive=True)
        case args:
            return f"{said['command']} {' '.join(args)}\n".encode(), b"", 0
    return b"", b"", 0


# Script, what is expected on stdout, exit code, and a pattern of what is on stderr.
TABLE: list[tuple[str, str, int, str]] = [
    ("echo hi", "hi\n", 0, "^$"),
    ("cat nope; echo $?", "1\n", 0, "^cat: nope: No such file or directory$"),
    ("nosuch", "", 127, "nosuch: command not found"),
    ("echo 'open", "", 2, "unexpected EOF"),
    ("if true", "", 2, "syntax error"),
    ("exit 256", "", 0, "^$"),
    ("exit 300", "", 44, "^$"),
    ("exit -1", "", 255, "^$"),
    ("false", "", 1, "^$"),
    ("cd nope; echo $?; cd /; pwd", "1\n/\n", 0, "cd: nope: No such file or directory"),
    ("set -e; echo a; false; echo b", "a\n", 1, "^$"),
    ("set -u; echo $nope; echo b", "", 1, "nope: unbound variable"),
    ('false | true; echo $? "${PIPESTATUS[@]}"; set -o pipefail; false | true', "0 1 0\n", 1, "^$"),
    ("cat <<A\n$((1+2))\n  kept\nA\ncat <<'B'\n$x\nB", "3\n  kept\n$x\n", 0, "^$"),
    ('echo "a\n    b"', "a\n    b\n", 0, "^$"),
    ('f() { echo "f $1"; return 7; }; f x; echo $?', "f x\n7\n", 0, "^$"),
    ("for i in 1 2 3; do echo $i; done | sort -r | head -2", "3\n2\n", 0, "^$"),
    ("n=3; while [ $n -gt 0 ]; do n=$((n-1)); done; echo $n", "0\n", 0, "^$"),
    ("case abc in a*) echo yes;; *) echo no;; esac", "yes\n", 0, "^$"),
    ("a=(x y z); echo ${#a[@]} ${a[1]}; s=hello; echo ${s^^} ${s:1:2} ${s/l/L}", "3 y\nHELLO el heLlo\n", 0, "^$"),
    ('read -r a b <<< "1 2 3"; echo "$a|$b"', "1|2 3\n", 0, "^$"),
    ("echo {1..3} {a,b}c; [[ abc =~ b(.) ]] && echo ${BASH_REMATCH[1]}", "1 2 3 ac bc\nc\n", 0, "^$"),
    ("mkdir -p a/b/c; touch a/b/c/d; find a", "a\na/b\na/b/c\na/b/c/d\n", 0, "^$"),
    ("mkdir a; mkdir a", "", 1, "mkdir: .*'a'.*File exists"),
    ("mkdir -p a/b; echo 1 > a/b/f; rm -r a; ls; mkdir a; echo 2 > a/g; cat a/*", "2\n", 0, "^$"),
    ("mkdir a; rm a; echo $?; rmdir a; ls; rm nope; rm -f nope", "1\n", 0, "'a': Is a directory(.|\n)*'nope'"),
    ("mkdir a; touch a/f; rmdir a", "", 1, "Directory not empty"),
    ("mkdir a b; echo 1 > a/f; mv a c; mv b c; ls c; mv c/f g; cat g", "b\nf\n1\n", 0, "^$"),
    ("echo 1 > a; echo 2 > b; mv a b; cat b; ls", "1\nb\n", 0, "^$"),
    ("mkdir -p a/x; echo 1 > a/x/f; cp -r a b; cat b/x/f; cp a c", "1\n", 1, "omitting directory"),
    ("echo 1 > 'a b.txt'; touch c.txt; for f in *.txt; do echo \"<$f>\"; done", "<a b.txt>\n<c.txt>\n", 0, "^$"),
    ("touch a; chmod 755 a; test -x a && echo x; ls -l a | cut -c1-10", "x\n-rwxr-xr-x\n", 0, "^$"),
    ("touch -d '2020-01-02' a; ls -l a | tr -s ' ' | cut -d' ' -f6-8", "Jan 2 2020\n", 0, "^$"),
    ("ls -la | head -3 | cut -c1-25", "total 0\ndrwxr-xr-x 1 user user 0 \ndrwxr-xr-x 1 user user 0 \n", 0, "^$"),
    ("ls nope", "", 2, "ls: cannot access 'nope': No such file or directory"),
    ("ls /", "bin\ndev\nproc\ntmp\nusr\nworkspace\n", 0, "^$"),
    ("ln -s a b", "", 1, "ln"),
    ("echo a > a; gzip a; ls; zcat a.gz; gunzip a.gz; cat a; echo x | gzip | gunzip", "a.gz\na\na\nx\n", 0, "^$"),
    ("echo x > a.gz; gunzip a.gz", "", 1, "not in gzip format"),
    ("tar cf a.tar .", "", 127, "tar"),
    ("printf 'b 2\\na 1\\n' | awk '{s+=$2} END {print s}'; echo abc | sed 's/b/X/'", "3\naXc\n", 0, "^$"),
    ("echo '{\"a\":[1,{\"b\":2}]}' | jq -c '.a[1]'", '{"b":2}\n', 0, "^$"),
    ("printf 'a\\nb\\n' > f; grep -n b f; grep -c z f; echo $?", "2:b\n0\n1\n", 0, "^$"),
    (
        "seq 2 | xargs -n1 echo n; seq 2 | xargs -I{} echo '<{}>'; seq 3 | paste -sd+",
        "n 1\nn 2\n<1>\n<2>\n1+2+3\n",
        0,
        "^$",
    ),
    ("for h in sha256 sha1 md5; do echo a | ${h}sum | cut -c1-8; done", "87428fc5\n3f786850\n60b725f1\n", 0, "^$"),
    ("echo -n abc | base64; echo YWJj | base64 -d; echo; echo héé | wc -c", "YWJj\nabc\n6\n", 0, "^$"),
    ("diff <(echo a) <(echo a) && echo same; sort -u <<< $'b\\na\\nb'", "same\na\nb\n", 0, "^$"),
    ("echo out; echo err >&2; { echo a; echo b >&2; } 2>&1 | sort", "out\na\nb\n", 0, "^err$"),
    ("exec > log; echo x; echo y | cat; cat log >&2", "", 0, "^x\ny$"),
    ("echo gone > /dev/null; cat /dev/null; head -c 9 /dev/urandom | wc -c", "9\n", 0, "^$"),
    ("t=$(mktemp); echo 1 > $t; cat $t; case $t in /tmp/*) echo tmp;; esac", "1\ntmp\n", 0, "^$"),
    ('c() { echo "c $x $?"; }; x=5; trap c EXIT; echo hi; exit 3', "hi\nc 5 3\n", 3, "^$"),
    ("bash -c 'echo $0 $1' zero one; sh -ec 'false; echo no'; echo $?", "zero one\n1\n", 0, "^$"),
    ("printf '#!/bin/sh\\necho \"$# $1 ${10}\"; exit 4' > s; ./s a 2 3 4 5 6 7 8 9 j; echo $?", "10 a j\n4\n", 0, "^$"),
    (
        "echo 'echo s' > s; ./s; echo $?; bash s; chmod +x s; ./s; bash nope",
        "126\ns\ns\n",
        127,
        "Permission denied(.|\n)*nope",
    ),
    ("timeout 0.2 bash -c 'while true; do :; done'; echo $?", "124\n", 0, "^$"),
    ("r() { r; }; r", "", 126, "recursion"),
    ("f() { [ $1 = 0 ] || f $(($1-1)); }; f 300; echo deep", "deep\n", 0, "^$"),
    ("for i in 1 2; do for j in a b; do [ $i = 1 ] && continue 2; echo $i$j; done; done", "2a\n2b\n", 0, "^$"),
    ("export A=1; B=2; env | grep -E '^[AB]='; A=3 printenv A; echo $HOME", "A=1\n3\n/workspace\n", 0, "^$"),
]


def test_the_bundle_is_the_one_that_is_described() -> None:
    described = re.search(r"sha256 of shell.js \| `([0-9a-f]{64})`", (SHELL / "BUNDLE.md").read_text())
    assert described and hashlib.sha256((SHELL / "shell.js").read_bytes()).hexdigest() == described[1]


def test_every_package_has_an_exact_version_and_a_notice() -> None:
    package = json.loads((SHELL / "package.json").read_text())
    versions = package["dependencies"] | package["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    notices = (SHELL / "NOTICES").read_text()
    missing = [
        f"{name} {version}"
        for name, version in package["dependencies"].items()
        if f"--- {name} {version} (" not in notices
    ]
    assert missing == ["just-bash 3.4.2"]
    assert "Apache License" in (SHELL / "LICENSE-just-bash").read_text()
    assert "just-bash` 3.4.2" in (SHELL / "BUNDLE.md").read_text()


def test_what_scripts_print_and_how_they_end() -> None:
    wrong = []
    for (script, stdout, code, pattern), seen in zip(TABLE, play(*(Case(row[0]) for row in TABLE)), strict=True):
        printed, errors = seen.stdout.decode(), seen.stderr.decode()
        right = stdout in (None, printed) and seen.exit_code == code and re.search(pattern, errors)
        if not right or seen.guest != "exited 0":
            wrong.append((script, printed, seen.exit_code, errors, seen.guest))
    assert not wrong


def test_programs_of_the_host() -> None:
    got = play(
        Case("python a.py 'b c' | sort; X=1 python3 -c 'print(1)'; node x.js; mkdir d; cd d; python here.py"),
        Case("for f in *.py; do python $f; done", files={"a.py": b"", "b.py": b""}),
        Case("echo 'print(1)' | python -; python - < in; python cat <<< here", files={"in": b"\0\xff"}),
        Case("python fail 3 > out 2>err; echo $?; cat out err; python fail 1 && echo yes || echo no"),
        Case("./a.py x", files={"a.py": b"#!/usr/bin/env python3\n"}),
        Case("./a.rb", files={"a.rb": b"#!/usr/bin/ruby\n"}),
        Case("python x; js y; sh -c 'echo inner'", commands=("sh", "js")),
        Case(
            "env Y=2 python a; Z=3; Y=4 sh -c 'python b'; env -i Z=5 python c; export Y=6; ./s; (export Z=7; python d)",
            files={"s": b"#!/bin/sh\npython e"},
        ),
        Case('x=$(python a); echo "<$x>"; which python3; type node'),
    )
    assert [seen.guest for seen in got] == ["exited 0"] * len(got)
    first, loop, stdin, failing, script, ruby, fewer, inherited, captured = got
    assert first.stdout == b"python a.py b c\npython -c print(1)\njs x.js\npython here.py\n"
    assert [(run["command"], run["args"], run["cwd"]) for run in first.runs] == [
        ("python", ["a.py", "b c"], "."),
        ("python", ["-c", "print(1)"], "."),
        ("js", ["x.js"], "."),
        ("python", ["here.py"], "./d"),
    ]
    assert [run["env"].get("X") for run in first.runs] == [None, "1", None, None]
    assert [run["args"] for run in loop.runs] == [["a.py"], ["b.py"]]
    assert [run["stdin"] for run in stdin.runs] == [b"print(1)\n", b"\0\xff", b"here\n"]
    assert failing.stdout == b"3\npartly\nfailed\npartly\nno\n" and failing.stderr == b"failed\n"
    assert script.runs[0]["args"] == ["/workspace/case4/a.py", "x"]
    assert ruby.exit_code == 126 and b"bad interpreter" in ruby.stderr
    assert fewer.stdout == b"js y\ninner\n" and b"python: command not found" in fewer.stderr
    assert [(run["env"].get("Y"), run["env"].get("Z")) for run in inherited.runs] == [
        ("2", None),
        ("4", None),
        (None, "5"),
        ("6", None),
        ("6", "7"),
    ]
    assert captured.stdout.startswith(b"<python a>\n")


def test_no_byte_is_lost() -> None:
    every = bytes(range(256)) + b"\xc3\xa9\xed\xa0\x80\xf0\x9f\x98\x80\xf0\x9f\xff"
    digest = hashlib.md5(every).hexdigest().encode()
    cat = "cat f; cat f | cat; f() { cat f; }; f; bash -c 'cat f'; { cat f; } > g; cat g; f > h; cat h; cat - < f"
    got = play(
        Case(cat, files={"f": every}),
        Case(
            "md5sum < f; base64 f | base64 -d | md5sum; gzip -c f | gunzip | md5sum; cp f g; md5sum < g",
            files={"f": every},
        ),
        Case("cat; cat f >&2", stdin=every, files={"f": every}),
        Case("python every-byte; python every-byte | python cat > f; cat f; x=é; echo $x ü | cat"),
        Case("p() { python every-byte; }; p 2>&1 | cat; p &> g; cat g; p 2>&1 >&2; python every-byte >&2 2>/dev/null"),
        Case("printf '\\xff\\0\\x80'; printf 'Ã©\\n'; echo 日本 | sed s/日/x/"),
    )
    copies, digests, stdin, program, led, printed = got
    assert copies.stdout == every * 7
    assert [line.split()[0] for line in digests.stdout.splitlines()] == [digest] * 4
    assert stdin.stdout == every and stdin.stderr == every
    assert program.stdout == bytes(range(256)) * 2 + "é ü\n".encode() and program.stderr == b"\xff\xfe" * 2
    both = bytes(range(256)) + b"\xff\xfe"
    assert led.stdout == both * 3 and led.stderr == bytes(range(256))
    assert printed.stdout == b"\xff\0\x80" + "Ã©\nx本\n".encode()


def test_output_comes_as_it_is_made_and_what_a_killed_shell_made_stays() -> None:
    slow, nested, endless, filling = play(
        Case("echo 1; for i in 2 3; do sleep 0.3; echo $i; done"),
        Case("bash s; ./s", files={"s": b"#!/bin/bash\necho 1; sleep 0.3; echo 2\n"}),
        Case("echo begun; while true; do :; done", timeout_s=2),
        Case("while true; do echo x; y=$(echo z); done", timeout_s=2),
    )
    for seen, pieces in (slow, [b"1\n", b"2\n", b"3\n"]), (nested, [b"1\n", b"2\n"] * 2):
        assert [data for _, _, data in seen.events] == pieces
        assert seen.events[-1][1] - seen.events[0][1] > 0.5
    assert endless.guest.startswith("timeout") and endless.exit_code is None and endless.stdout == b"begun\n"
    assert filling.guest.startswith("timeout") and len(filling.stdout) > 100


def test_script_files_and_scripts_on_stdin() -> None:
    script = b'#!/bin/bash\nset -eu\necho "$0|$1|$#"\npython "$2"\nexit 9\n'
    file, missing, stdin, options, no_script, folder = play(
        Case(argv=("my script.sh", "a b", "c"), files={"my script.sh": script}),
        Case(argv=("nope.sh",)),
        Case(argv=(), stdin=b"echo $0 $#\nexit 5\n"),
        Case(argv=("-eo", "pipefail", "-c", "false | true; echo no")),
        Case(argv=("-c",)),
        Case(argv=(".",)),
    )
    assert (file.stdout, file.exit_code) == (b"my script.sh|a b|2\npython c\n", 9)
    assert (missing.exit_code, missing.stderr) == (127, b"bash: nope.sh: No such file or directory\n")
    assert (stdin.stdout, stdin.exit_code) == (b"bash 0\n", 5)
    assert (options.stdout, options.exit_code) == (b"", 1)
    assert no_script.exit_code == 2 and b"requires an argument" in no_script.stderr
    assert folder.exit_code == 126


def test_what_others_do_to_the_folder_is_seen() -> None:
    removed, replaced = play(
        Case("mkdir d; touch d/f; python rmtree d; ls; ls d; mkdir d; echo 1 > d/g; ls d"),
        Case("python mkdir d; python write d/f 1; cat d/f; python write d/f 2; cat d/*; rm -r d; ls"),
    )
    assert removed.stdout == b"g\n" and b"cannot access 'd'" in removed.stderr
    assert replaced.stdout == b"12"


def test_directories_are_removed_by_the_host_only() -> None:
    seen = one("mkdir d; touch f; rm -r d; echo $?; rm f; ls", remove=False)
    assert seen.stdout == b"1\nd\n" and b"EPERM" in seen.stderr


@pytest.mark.parametrize("script", ["chmod 700 f", "touch g; chmod 700 g; mv g f", "chmod 700 f; cp f g; rm f; mv g f"])
def test_modes_are_told_and_can_be_given_back(script: str) -> None:
    told = one(script, files={"f": b"echo ran\n"})
    assert told.modes == {"f": 0o700}
    given = one("./f; ls -l f | cut -c1-10", files={"f": b"echo ran\n"}, modes={"f": 0o700})
    assert given.stdout == b"ran\n-rwx------\n" and given.modes is None


def _main() -> None:
    cases = [Case(**{**asked, "argv": asked["argv"] and tuple(asked["argv"])}) for asked in unpacked(sys.stdin.read())]
    seen = asyncio.run(_all(cases))
    sys.stdout.write(packed([asdict(one) for one in seen]))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    _main()
