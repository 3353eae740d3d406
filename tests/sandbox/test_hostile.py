"""Programs that nobody would want on their machine, through the real server. After each the next call works, the files
are as the answer says, and the sandbox next door never noticed."""

import asyncio
import contextlib
import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp.types import CallToolResult

from tests.sandbox.harness import ANSWER_S, SOON_S, Shared, content, shared, tool, wire

MIB = 1 << 20
LIMITS = {"file_bytes": 4 * MIB, "workspace_bytes": 8 * MIB, "workspace_files": 500}
CHATTY_BYTES = 300 * MIB

# (func (export "_start") (loop (br 0)))
LOOP = "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a0901070003400c000b0b"
# (func (export "_start") (loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
#                         (call $proc_exit (i32.shr_u (memory.size) (i32.const 6))))
GROW = (
    "0061736d0100000001080260017f0060000002240116776173695f736e617073686f745f70726576696577310970726f635f657869740000"
    "030201010503010001071302066d656d6f72790200065f737461727400010a17011500034041014000417f470d000b3f0041067610000b"
)
# (func $main (export "_start") (call $main))
DEEP = "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a0601040010000b"
# (func (export "_start") (loop (br_if 0 (i32.eqz (call $proc_fork (i32.const 1) (i32.const 8))))))
FORK = (
    "0061736d01000000010a0260027f7f017f6000000218010a77617369785f333276310970726f635f666f726b000003020101050301000107"
    "1302066d656d6f72790200065f737461727400010a10010e000340410141081000450d000b0b"
)
# (data (i32.const 16) "loop") (data (i32.const 32) "/")
# (func (export "_start") (call $proc_exit (call $proc_spawn "loop", no arguments, no preopens, null for 0, 1, 2, "/")))
SPAWN = (
    "0061736d01000000011903600d7f7f7f7f7f7f7f7f7f7f7f7f7f017f60017f00600000023c020a77617369785f333276310a70726f635f73"
    "7061776e000016776173695f736e617073686f745f70726576696577310970726f635f657869740001030201020503010001071302066d65"
    "6d6f72790200065f737461727400020a2501230041104104410041c000410041c00041004103410341034120410141800110001001"
    "0b0b10020041100b046c6f6f700041200b012f"
)
# (data (i32.const 16) "\01\00" port, little-endian, "\7f\00\00\01")
# (func (export "_start") (local $error i32)
#   (if (local.tee $error (call $sock_open (i32.const 1) (i32.const 1) (i32.const 6) (i32.const 8)))
#     (then (call $proc_exit (i32.add (local.get $error) (i32.const 100)))))
#   (call $proc_exit (call $sock_connect (i32.load (i32.const 8)) (i32.const 16))))
CONNECT = (
    "0061736d0100000001160460047f7f7f7f017f60027f7f017f60017f006000000255030a77617369785f3332763109736f636b5f6f70656e"
    "00000a77617369785f333276310c736f636b5f636f6e6e656374000116776173695f736e617073686f745f70726576696577310970726f63"
    "5f657869740002030201030503010001071302066d656d6f72790200065f737461727400030a28012601017f410141014106410810002200"
    "0440200041e4006a10020b41082802004110100110020b0b0e010041100b080100{port}7f000001"
)
# (memory 5000), which is more than the limit from the start
LARGE = "0061736d0100000001040160000003020100050401008827071302066d656d6f72790200065f737461727400000a040102000b"
# no memory at all, so there is none to limit
BARE = "0061736d01000000010401600000030201000 7010a01065f737461727400000a0901070003400c000b0b".replace("0 7", "07")


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """Who would see a connection of a guest's."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield one


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory, listener: socket.socket) -> Path:
    """A folder that the user allowed, beside one that he did not."""
    outside = tmp_path_factory.mktemp("outside")
    outside.joinpath("secret.wasm").write_bytes(bytes.fromhex(LOOP))
    folder = tmp_path_factory.mktemp("allowed")
    port = listener.getsockname()[1].to_bytes(2, "little").hex()
    modules = {
        "loop": LOOP,
        "grow": GROW,
        "deep": DEEP,
        "forks": FORK,
        "spawns": SPAWN,
        "connects": CONNECT.format(port=port),
        "large": LARGE,
        "bare": BARE,
    }
    for name, code in modules.items():
        folder.joinpath(f"{name}.wasm").write_bytes(bytes.fromhex(code))
    folder.joinpath("link.wasm").symlink_to(outside / "secret.wasm")
    folder.joinpath("out").symlink_to(outside)
    folder.joinpath("text.wasm").write_text("no module")
    folder.joinpath("cut.wasm").write_bytes(bytes.fromhex(LOOP)[:30])
    return folder


@pytest.fixture(scope="module")
def server(packages: Path) -> Iterator[Shared]:
    with shared({"WASMER_SANDBOX_PACKAGES": str(packages)}, **LIMITS) as one:
        yield one


@dataclass(frozen=True)
class Attack:
    """A program, and what may come of it."""

    name: str
    code: str
    outcomes: tuple[str, ...]
    files: str = "kept"
    command: str = "python"
    says: str = ""
    timeout: float = 5

    def arguments(self) -> tuple[str, dict[str, Any]]:
        match self.command:
            case "python":
                code = f"open('during', 'w').write('1')\n{self.code}"
                return "run_python", {"code": code, "timeout": self.timeout}
            case "js":
                code = f"{{const one = std.open('during', 'w'); one.puts('1'); one.close()}}\n{self.code}"
                return "run_command", {"command": "js", "args": ["-e", code], "timeout": self.timeout}
            case "sh":
                return "run_command", {
                    "command": "sh",
                    "args": ["-c", f"echo 1 > during\n{self.code}"],
                    "timeout": self.timeout,
                }
            case installed:
                return "run_command", {"command": installed, "timeout": self.timeout}


OWN = ("python", "js", "sh")
TIMED_OUT = ("timed_out",)
LOOPS = (
    Attack("python", "while True: pass", TIMED_OUT, timeout=0.5),
    Attack("python-regex", "import re; re.match('(a*)*b', 'a' * 60)", TIMED_OUT, timeout=0.5),
    Attack("python-sleep", "import time; time.sleep(1000)", TIMED_OUT, timeout=0.5),
    Attack(
        "python-catches-all",
        "while True:\n try:\n  while True: pass\n except BaseException: pass",
        TIMED_OUT,
        timeout=1,
    ),
    Attack("js", "while (true) {}", TIMED_OUT, command="js", timeout=0.5),
    Attack("js-timer", "os.setTimeout(() => {}, 1000000)", TIMED_OUT, command="js", timeout=0.5),
    Attack("sh", "while :; do :; done", ("timed_out", "exited"), command="sh", timeout=2),
    Attack("sh-python", "python -c 'while True: pass'", TIMED_OUT, command="sh", timeout=2),
    Attack("wasm", "", TIMED_OUT, command="loop", timeout=0.5),
)
DOWN_OR_NOT = ("crashed", "exited", "out_of_memory")
SPARSE = tuple(
    Attack(f"{name}-{place}", code.format(at=f"/{place}/big"), DOWN_OR_NOT, files="restored")
    for place in ("workspace", "tmp")
    for name, code in {
        "truncate": "open('{at}', 'wb').truncate(1 << 40)",
        "seek": "with open('{at}', 'wb') as f: f.seek(1 << 40); f.write(b'x')",
        "pwrite": "import os; os.pwrite(os.open('{at}', os.O_RDWR | os.O_CREAT), b'x', 1 << 40)",
        "fallocate": "import os; os.posix_fallocate(os.open('{at}', os.O_RDWR | os.O_CREAT), 0, 1 << 40)",
    }.items()
)
EXITED, TRAPPED = ("exited",), ("trapped",)
MEMORY = (
    Attack("python-pieces", "a = []\nfor _ in range(64): a.append(bytearray(1 << 26))", EXITED, says="MemoryError"),
    Attack("python-at-once", "bytearray(4 << 30)", EXITED, says="Error"),
    Attack(
        "js-arrays",
        "const a = []; for (;;) a.push(new Uint8Array(1 << 26).fill(1))",
        EXITED,
        command="js",
        says="memory",
    ),
    Attack("wasm-grow", "", EXITED, command="grow"),
)
OUT_OF_MEMORY = ("out_of_memory", "crashed")
FILLING = (
    Attack(
        "python-workspace",
        "f = open('big', 'wb')\nfor _ in range(9000): f.write(bytes(1 << 20))",
        OUT_OF_MEMORY,
        "restored",
    ),
    Attack(
        "python-tmp",
        "f = open('/tmp/big', 'wb')\nfor _ in range(9000): f.write(bytes(1 << 20))",
        OUT_OF_MEMORY,
        "restored",
    ),
    Attack(
        "python-tmp-many",
        "for i in range(9000):\n with open(f'/tmp/{i}', 'wb') as f: f.write(bytes(1 << 20))",
        OUT_OF_MEMORY,
        "restored",
    ),
    Attack(
        "js-workspace",
        "const f = std.open('big', 'w'), b = new ArrayBuffer(1 << 20); for (;;) f.write(b, 0, b.byteLength)",
        OUT_OF_MEMORY,
        "restored",
        command="js",
    ),
)
OVER = (
    Attack(
        "one-large-file", "open('big', 'wb').write(bytes(5 << 20))", EXITED, "restored", says="a file may have 4194304"
    ),
    Attack(
        "too-much-in-all",
        "for i in range(3): open(f'{i}', 'wb').write(bytes(3 << 20))",
        EXITED,
        "restored",
        says="it may hold 8388608",
    ),
    Attack(
        "100000-files",
        "for i in range(100_000): open(str(i), 'w').close()",
        ("exited", "timed_out"),
        "restored",
        timeout=2,
    ),
    Attack(
        "nested", "import os\nfor _ in range(150): os.mkdir('d'); os.chdir('d')", EXITED, "restored", says="100 deep"
    ),
    Attack(
        "100000-files-in-tmp",
        "for i in range(100_000): open(f'/tmp/{i}', 'w').close()",
        ("exited", "timed_out"),
        timeout=1,
    ),
    Attack("long-names", "import os; os.makedirs('/'.join(['b' * 200] * 20)); open('a' * 5000, 'w').close()", EXITED),
    Attack(
        "odd-names", "[open(n, 'w').close() for n in ('new\\nline', '\\x01', ' ', '..x', '\\u202e', '-rf')]", EXITED
    ),
)
DEEPLY = (
    Attack("python", "def f(): f()\nf()", EXITED, says="RecursionError"),
    Attack(
        "python-unlimited",
        "import sys; sys.setrecursionlimit(10**9)\nclass A:\n def __repr__(self): return repr(self)\nrepr(A())",
        TRAPPED,
    ),
    Attack("python-parser", "eval('(' * 100_000 + ')' * 100_000)", EXITED, says="Error"),
    Attack("python-json", "import json; json.loads('[' * 1_000_000)", EXITED, says="RecursionError"),
    Attack("js", "function f() { return f() + 1 } f()", ("trapped", "exited"), command="js"),
    Attack("js-json", "JSON.parse('['.repeat(1e6))", ("trapped", "exited"), command="js"),
    Attack("wasm", "", TRAPPED, command="deep"),
)
PROCESSES = (
    Attack("python-abort", "import os; os.abort()", TRAPPED),
    Attack("js-exec", "os.exec(['ls'])", EXITED, command="js", says="not a function"),
    Attack("js-worker", "new os.Worker('x.js')", EXITED, command="js", says="not a function"),
    Attack("wasm-forks", "", ("exited", "trapped", "timed_out"), command="forks", timeout=0.5),
    Attack("sh-bomb", "bomb() { bomb | bomb & }; bomb", ("exited", "trapped", "timed_out"), command="sh", timeout=2),
)
SILENCE = (
    Attack("closed", "import os; os.close(0); os.close(1); os.close(2); print('x')", EXITED),
    Attack("closed-streams", "import sys; sys.stdout.close(); sys.stderr.close()", EXITED),
    Attack("closed-then-loops", "import os; os.close(1); os.close(2)\nwhile True: pass", TIMED_OUT, timeout=0.5),
)


def named(attacks: tuple[Attack, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=[one.name for one in attacks])


@named(LOOPS)
def test_what_never_ends_is_stopped_and_no_core_burns_on(server: Shared, attack: Attack) -> None:
    answer = survive(server, attack)
    assert 450 <= answer["duration_ms"] < 1000 * SOON_S
    server.run(server.server.quiet)


@named(SPARSE)
def test_a_sparse_file_of_a_terabyte(server: Shared, attack: Attack) -> None:
    survive(server, attack)


@named(MEMORY)
def test_four_gigabytes_of_memory(server: Shared, attack: Attack) -> None:
    answer = survive(server, attack)
    # `grow` tells how many times 64 pages it was given.
    assert answer["exit_code"] == (256 * MIB // 65_536 // 64 if attack.command == "grow" else 1)
    assert max(server.server.rss().values()) < 640 * MIB


@named(FILLING)
def test_gigabytes_in_files(server: Shared, attack: Attack) -> None:
    survive(server, attack)
    assert max(server.server.rss().values()) < 640 * MIB


@named(OVER)
def test_more_files_than_a_workspace_may_hold(server: Shared, attack: Attack) -> None:
    survive(server, attack)


@named(DEEPLY)
def test_deep_recursion(server: Shared, attack: Attack) -> None:
    survive(server, attack)


@named(PROCESSES)
def test_processes_and_threads(server: Shared, attack: Attack) -> None:
    survive(server, attack)
    server.run(server.server.quiet)


def test_python_has_no_processes_and_no_threads(server: Shared) -> None:
    code = (
        "import os, subprocess, threading\n"
        "def attempt(what):\n"
        "  try: print('GOT', what())\n"
        "  except (AttributeError, OSError, RuntimeError) as error: print(type(error).__name__, error)\n"
        "attempt(lambda: os.fork())\n"
        "attempt(lambda: os.execv('/bin/python', ['python']))\n"
        "attempt(lambda: os.posix_spawn('/bin/python', ['python'], {}))\n"
        "attempt(lambda: os.system('ls'))\n"
        "attempt(lambda: os.popen('ls').read())\n"
        "attempt(lambda: subprocess.run(['python']))\n"
        "attempt(lambda: threading.Thread(target=print).start())\n"
        "attempt(lambda: os.kill(1, 9))\n"
    )
    answer = server.python(code)
    assert "GOT" not in answer["stdout"], answer["stdout"]
    assert len(answer["stdout"].splitlines()) == 8


@named(SILENCE)
def test_stdout_closed(server: Shared, attack: Attack) -> None:
    survive(server, attack)


def test_a_program_left_behind_by_another_does_not_burn_on(server: Shared) -> None:
    install(server, "loop")
    survive(server, Attack("wasm-spawns", "", EXITED, command="spawns"))
    try:
        server.run(server.server.quiet, 1.5)
    finally:
        server.answer("reset_sandbox")


def survive(server: Shared, attack: Attack) -> dict[str, Any]:
    """Lets it happen, and looks whether all is well afterwards."""
    server.answer("write_sandbox_file", path="before", content="before")
    if attack.command not in OWN:
        install(server, attack.command)
    workers, next_door = server.server.workers(), server.slot("host")
    tool_name, arguments = attack.arguments()
    going_on = server.begin(tool_name, **arguments)
    bother_next_door(server, going_on)
    answer = payload(going_on)

    assert answer["outcome"] in attack.outcomes, answer
    if attack.says:
        assert attack.says in answer["stderr"] + answer["note"], answer
    then = server.python(f"import os; print(sorted(os.listdir()), open('before').read())\n{TIDY}")
    assert then["outcome"] == "exited", then
    assert "before" in then["stdout"]
    if attack.outcomes != DOWN_OR_NOT:
        assert answer["files"] == attack.files, answer
    wrote = attack.command in OWN and answer["files"] == "kept"
    assert ("'during'" in then["stdout"]) is wrote, (answer, then)
    assert workers & server.server.workers(), "both workers were replaced"
    assert server.slot("host")["restarts"] == next_door["restarts"]
    return answer


TIDY = """
import os
for folder, folders, files in os.walk('.', topdown=False):
    for name in files + folders:
        path = os.path.join(folder, name)
        (os.rmdir if name in folders and not os.path.islink(path) else os.remove)(path)
"""


def tidy(server: Shared) -> None:
    server.python(TIDY)


def install(server: Shared, name: str) -> None:
    if name not in server.slot()["commands"]:
        server.answer("install_sandbox_package", package=f"{name}.wasm")


def bother_next_door(server: Shared, going_on: "Future[CallToolResult]") -> None:
    """Calls into the other sandbox, which has to answer, for as long as it goes on."""
    end = time.monotonic() + ANSWER_S
    while not going_on.done():
        assert time.monotonic() < end, "no answer"
        began = time.monotonic()
        assert server.python("print(1)", network="host")["stdout"] == "1\n"
        assert time.monotonic() - began < SOON_S
        with contextlib.suppress(TimeoutError):
            going_on.exception(0.25)


def payload(future: "Future[CallToolResult]") -> dict[str, Any]:
    result = future.result(ANSWER_S)
    assert not result.is_error, result.structured_content
    return content(result)


@pytest.mark.parametrize(
    "code",
    [
        f"import sys\nfor _ in range({CHATTY_BYTES // MIB}): sys.stdout.buffer.write(bytes(1 << 20))",
        f"import os\nn = 0\nwhile n < {CHATTY_BYTES}: n += os.write(1, bytes(1 << 20))",
    ],
)
def test_much_output_is_counted_and_not_kept(server: Shared, code: str) -> None:
    tidy(server)
    before = server.server.rss()
    going_on = server.begin("run_python", code=code, timeout=50)
    most = dict(before)
    while not going_on.done():
        most = {pid: max(most.get(pid, 0), held) for pid, held in server.server.rss().items()}
        with contextlib.suppress(TimeoutError):
            going_on.exception(0.02)
    answer = payload(going_on)
    assert (answer["outcome"], answer["stdout_bytes"], answer["truncated"]) == ("exited", CHATTY_BYTES, True)
    assert len(answer["stdout"]) == MIB
    assert all(held - before.get(pid, 0) < 128 * MIB for pid, held in most.items() if pid in before), (before, most)


def test_much_output_and_no_end(server: Shared) -> None:
    answer = server.python("while True: print('x' * 1000)", timeout=0.5)
    assert answer["outcome"] == "timed_out"
    assert len(answer["stdout"]) == MIB < answer["stdout_bytes"]
    assert server.python("print(1)")["stdout"] == "1\n"


HOST_FILES = (
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/1/cmdline",
    "../../../../../../etc/passwd",
    "/workspace/../../etc/passwd",
    "//etc/passwd",
    "/.app/../etc/passwd",
    "/dev/fd/3",
    "/dev/mem",
    "/sys/kernel/notes",
)


def test_no_file_of_the_host_is_there(server: Shared) -> None:
    ours = [__file__, str(server.server.folder), str(server.server.log), str(Path.home())]
    code = (
        "import os, sys\n"
        "for path in sys.argv[1:]:\n"
        "  for use in (open, os.listdir, os.stat):\n"
        "    try: print('GOT', path, use(path))\n"
        "    except OSError: pass\n"
        "for fd in range(3, 50):\n"
        "  for back in ('etc/passwd', '../etc/passwd', '../../../../../etc/passwd'):\n"
        "    try: print('GOT', fd, os.open(back, os.O_RDONLY, dir_fd=fd))\n"
        "    except OSError: pass\n"
        "print(sorted(os.listdir('/')))\n"
    )
    answer = server.python(code, args=[*HOST_FILES, *ours])
    assert "GOT" not in answer["stdout"], answer["stdout"]
    assert "workspace" in answer["stdout"]
    js = "for (const path of scriptArgs) { const got = std.loadFile(path); if (got) print('GOT', path, got) }"
    answer = server.answer("run_command", command="js", args=["-e", js, *HOST_FILES, *ours])
    assert "GOT" not in answer["stdout"], answer["stdout"]


def test_the_environment_holds_nothing_of_the_host(server: Shared) -> None:
    told = server.python("import os; print(dict(os.environ))")["stdout"]
    assert "'PATH'" not in told and str(server.server.folder) not in told and str(Path.home()) not in told


def test_links_lead_nowhere(server: Shared) -> None:
    tidy(server)
    server.python(
        "import os\n"
        "for name, to in dict(etc='/etc', passwd='/etc/passwd', up='../..', root='/', self='self', loop='.',"
        " ours='/opt/sandbox').items(): os.symlink(to, name)\n"
    )
    for path in ("passwd", "etc/passwd", "up/etc/passwd", "root/etc/passwd", "self", "loop", "ours/start.py"):
        error = server.refusal("read_sandbox_file", path=path)
        assert error["code"] in ("not_found", "not_available", "invalid_arguments"), (path, error)
        assert error["hint"]
    for path in ("etc/new", "root/tmp/new", "ours/json.py", "passwd", "self", "self/new"):
        server.refusal("write_sandbox_file", path=path, content="print('pwned')")
    for path in ("root", "etc", "up", "self", "root/etc"):
        assert server.refusal("list_sandbox_dir", path=path)["code"] in ("not_found", "invalid_arguments")
    names = [one["name"] for one in server.answer("list_sandbox_dir")["entries"]]
    assert names == sorted(names) and "root" in names
    assert server.python("print(1)")["stdout"] == "1\n"


@pytest.mark.parametrize(
    "path", ["/etc", "..", "/workspace/..", "../workspace/../etc", "/", "//etc", "\0", "", "a" * 5000]
)
def test_paths_out_of_the_workspace_are_refused(server: Shared, path: str) -> None:
    for name, more in (
        ("read_sandbox_file", {"path": path}),
        ("list_sandbox_dir", {"path": path}),
        ("write_sandbox_file", {"path": path, "content": "x"}),
        ("run_command", {"command": "python", "args": ["-c", "print(1)"], "cwd": path}),
    ):
        error = server.refusal(name, **more)
        assert error["code"] in ("not_allowed", "invalid_arguments"), (name, error)
        assert error["hint"]


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("../outside0/secret.wasm", "not_allowed"),
        ("link.wasm", "not_allowed"),
        ("out/secret.wasm", "not_allowed"),
        ("/etc/passwd.wasm", "not_allowed"),
        ("/proc/self/exe.wasm", "not_allowed"),
        ("\0.wasm", "not_allowed"),
        (".wasm", "not_allowed"),
        ("x" * 5000 + ".wasm", "not_allowed"),
        ("/etc/passwd", "invalid_arguments"),
        ("../../etc/passwd", "invalid_arguments"),
        ("text.wasm", "invalid_arguments"),
        ("cut.wasm", "invalid_arguments"),
        ("large.wasm", "invalid_arguments"),
        ("bare.wasm", "invalid_arguments"),
    ],
)
def test_what_may_not_be_installed(server: Shared, package: str, code: str) -> None:
    error = server.refusal("install_sandbox_package", package=package)
    assert error["code"] == code, error
    assert error["hint"]


def test_no_network_unless_asked_for(server: Shared, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    code = f"import socket\ns = socket.socket(); s.settimeout(1); s.connect(('127.0.0.1', {port}))"
    for network in ("disabled", "host"):
        # This CPython has no sockets, whatever the policy.
        assert "Not supported" in server.python(code, network=network, timeout=5)["stderr"]
    install(server, "connects")
    assert server.answer("run_command", command="connects", timeout=5)["exit_code"] not in (0, None)
    assert not connected(listener), "a guest without a network connected"
    server.answer("install_sandbox_package", package="connects.wasm", network="host")
    assert server.answer("run_command", command="connects", timeout=5, network="host")["exit_code"] == 0
    assert connected(listener), "the guest that may connect did not, so that the one that may not proves nothing"


def connected(listener: socket.socket) -> bool:
    if not select.select([listener], [], [], 0.3)[0]:
        return False
    listener.accept()[0].close()
    return True


@pytest.mark.parametrize(
    "code", ["print('no')", "import os; os.close(0); print('no')", "import sys; print(sys.stdin.read(3))"]
)
def test_stdin_that_nobody_reads(server: Shared, code: str) -> None:
    answer = server.python(code, stdin="xyz" * 3_500_000)
    assert answer["outcome"] == "exited" and answer["stdout"].strip() in ("no", "xyz")
    answer = server.python("import time; time.sleep(100)", stdin="x" * 10_000_000, timeout=0.5)
    assert answer["outcome"] == "timed_out"
    assert server.python("print(len(input()))", stdin="x" * 10_000_000)["stdout"] == "10000000\n"


def test_one_call_cannot_change_the_interpreter_of_the_next(server: Shared) -> None:
    for path in (
        "/opt/sandbox/start.py",
        "/opt/sandbox/site/sitecustomize.py",
        "/opt/sandbox/json.py",
        "/opt/sandbox/cwd.js",
    ):
        server.python(f"open({path!r}, 'w').write('print(\"pwned\")')")
        for _ in range(3):
            assert server.python("print(1)")["stdout"] == "1\n"
        assert server.answer("run_command", command="js", args=["-e", "print(1)"])["stdout"] == "1\n"
    for name in ("json", "sitecustomize", "usercustomize", "encodings", "os"):
        server.answer("write_sandbox_file", path=f"{name}.py", content="print('pwned')")
    for _ in range(3):
        assert server.python("print(1)")["stdout"] == "1\n"
    tidy(server)


@pytest.mark.parametrize(
    "code", ["os.rmdir('/workspace')", "os.rename('/workspace', '/gone')", "os.chmod('/workspace', 0)"]
)
def test_the_workspace_itself_stays(server: Shared, code: str) -> None:
    server.python(f"import os; os.chdir('/'); {code}")
    server.answer("write_sandbox_file", path="a", content="a")
    assert server.python("print(open('a').read())")["stdout"] == "a\n"
    tidy(server)


def test_bytes_that_are_no_text(server: Shared) -> None:
    answer = server.python(
        "import os; os.write(1, bytes(range(256))); os.write(2, '\\ud800'.encode('utf-8', 'surrogatepass'))"
    )
    assert (answer["stdout_bytes"], answer["stderr_bytes"]) == (256, 3)
    assert answer["stdout"].startswith("\0\1") and "\ufffd" in answer["stdout"] and "\ufffd" in answer["stderr"]
    server.python("open('bytes', 'wb').write(bytes(range(256)))")
    assert server.answer("read_sandbox_file", path="bytes")["encoding"] == "base64"
    assert "\ufffd" in server.answer("read_sandbox_file", path="bytes", encoding="text")["content"]
    tidy(server)


def test_nul_and_ten_megabytes_in_arguments(server: Shared) -> None:
    code, large = "import os, sys; print(len(sys.argv[1]), len(os.environ['A']))", "x" * 5_000_000
    assert server.python(code, args=[large], env={"A": large})["stdout"] == "5000000 5000000\n"
    assert server.python(f"print(len('{large}{large}'))")["stdout"] == "10000000\n"
    assert server.answer("run_command", command="js", args=["-e", "print(1)", large])["stdout"] == "1\n"
    for more in ({"args": ["\0"]}, {"env": {"A": "\0"}}, {"env": {"A=B": "1"}}, {"env": {"": "1"}}):
        assert server.refusal("run_python", code="print(1)", **more)["code"] == "invalid_arguments"
    assert server.refusal("run_command", command="\0")["code"] == "invalid_arguments"
    assert "null bytes" in server.python("print('\0')")["stderr"]
    assert server.refusal("run_command", command="x" * 1_000_000)["code"] == "not_found"
    assert server.refusal("write_sandbox_file", path="a", content=large)["code"] == "too_large"
    for offset in (1 << 40, 1 << 70):
        server.call("read_sandbox_file", path="a", offset=offset)
        assert server.python("print(1)")["stdout"] == "1\n"


def test_lines_that_no_client_would_send() -> None:
    bad = [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\0\1\2",
        b"\xff\xfe\xfd",
        b'{"jsonrpc":"2.0","id":50,',
        b'{"jsonrpc":"2.0","id":51,"method":"\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 1_000_000,
        rb'{"jsonrpc":"2.0","id":52,"method":"tools/call","params":{"name":"\ud800","arguments":{}}}',
        rb'{"jsonrpc":"2.0","id":53,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"\udfff"}}}',
        b'{"jsonrpc":"2.0","id":54,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":55,"method":"tools/call","params":{"name":7,"arguments":[]}}',
        b'{"jsonrpc":"2.0","id":56,"method":"no/such"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1234}}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
    ]

    async def go() -> None:
        async with wire() as server:
            await server.initialize()
            for number, line in enumerate(bad):
                await server.send(line)
                await server.send(tool(1000 + number, "get_sandbox_info"))
                told = await server.answer_to(1000 + number)
                assert told["result"]["structuredContent"]["version"], line[:80]
            told = await server.ask(2000, "tools/call", name="x" * 1_000_000, arguments={})
            assert told["result"]["structuredContent"]["error"]["code"] == "unknown_tool"
            # In a string of JSON on the wire, bytes that are no UTF-8 become U+FFFD.
            line = tool(2001, "run_python", code="print(ascii('XY'))").replace(b"XY", b"\xff\xfe")
            await server.send(line)
            told = await server.answer_to(2001)
            assert told["result"]["structuredContent"]["stdout"] == "'\\ufffd\\ufffd'\n"

    asyncio.run(go())


def test_three_hundred_calls_at_once(server: Shared) -> None:
    tidy(server)
    calls = [
        server.begin("run_python", code=f"print({number})", network="host" if number % 3 else "disabled")
        for number in range(300)
    ]
    assert [payload(one)["stdout"] for one in calls] == [f"{number}\n" for number in range(300)]


def test_a_link_is_not_promised_to_stay(server: Shared) -> None:
    """What cannot be carried over to another worker is not silently lost."""
    tidy(server)
    server.python("import os; open('a', 'w').write('a'); os.symlink('a', 'b')")
    answer = server.python("while True: pass", timeout=0.5)
    names = [one["name"] for one in server.answer("list_sandbox_dir")["entries"]]
    assert "b" in names or "/workspace/b" in answer["note"].split(), (names, answer["note"])


def test_nothing_of_it_all_is_left(server: Shared) -> None:
    assert len(server.server.workers()) == 2
    assert len(psutil.Process(server.server.pid).children(recursive=True)) == 2
    assert server.server.process.memory_info().rss < 256 * MIB
    assert not list(server.server.folder.iterdir())
