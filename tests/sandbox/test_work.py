"""What everyday work runs into, and whether an answer lets a model go on without guessing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import psutil
import pytest
from wasmer_sdk import Process, SandboxFileSystem, WasmerError

from servers.sandbox.messages import Changed, Setup, Synced
from servers.sandbox.programs import Exit, Programs
from servers.sandbox.workspace import Workspace
from tests.sandbox.harness import Shared, shared, within


@pytest.fixture(scope="module")
def server() -> Iterator[Shared]:
    with shared(output_bytes=1000) as server:
        yield server


@pytest.fixture(autouse=True)
def clean(request: pytest.FixtureRequest) -> None:
    if "server" in request.fixturenames:
        request.getfixturevalue("server").answer("reset_sandbox")


def sh(server: Shared, script: str, **more: Any) -> dict[str, Any]:
    return server.answer("run_command", command="sh", args=["-c", script], **more)


def js(server: Shared, code: str) -> dict[str, Any]:
    return server.answer("run_command", command="js", args=["-e", code])


def test_a_traceback_marks_the_right_place_in_the_last_line(server: Shared) -> None:
    assert server.python("x = 1\nprint(x, f())")["stderr"] == (
        "Traceback (most recent call last):\n"
        '  File "<string>", line 2, in <module>\n'
        "    print(x, f())\n"
        "             ^\n"
        "NameError: name 'f' is not defined\n"
    )


def test_a_line_is_what_the_compiler_takes_for_one(server: Shared) -> None:
    assert "\n    wrong()\n" in server.python("x = '\f\u2028'\nwrong()\n")["stderr"]


def test_without_memory_it_still_says_where_it_was(server: Shared) -> None:
    code = "x = []\nwhile True:\n    x.append('a' * 1_000_000)"
    ran = server.python(code)
    assert ran["exit_code"] == 1 and ran["stderr"].endswith("MemoryError\n")
    assert 'File "<string>", line ' in ran["stderr"] and "start.py" not in ran["stderr"]


def test_input_that_is_not_there_is_the_programs_error(server: Shared) -> None:
    error = server.python("def ask():\n    return input()\nask()")["stderr"]
    assert error.endswith("    return input()\n           ^^^^^^^\nEOFError: EOF when reading a line\n")


def test_an_excepthook_that_fails_hides_nothing(server: Shared) -> None:
    ran = server.python("import sys\ndef hook(*_):\n    raise ValueError('hook')\nsys.excepthook = hook\n1 / 0")
    assert ran["exit_code"] == 1 and ran["stderr"].startswith("Error in sys.excepthook:\n")
    assert "ZeroDivisionError" in ran["stderr"] and ran["stderr"].endswith("ValueError: hook\n")
    assert "start.py" not in ran["stderr"]


def test_an_archive_of_python_runs(server: Shared) -> None:
    server.answer("write_sandbox_file", path="app/__main__.py", content="import sys\nprint(__name__, sys.argv)\n")
    server.answer("run_command", command="python", args=["-m", "zipapp", "app"])
    assert sh(server, "python app.pyz a")["stdout"] == "__main__ ['app.pyz', 'a']\n"
    assert sh(server, "python app a")["stdout"] == "__main__ ['app', 'a']\n"


def test_output_that_is_cut_says_so_in_words(server: Shared) -> None:
    ran = server.python("import sys\nprint('x' * 2000)\nprint('y' * 999, file=sys.stderr)")
    assert ran["note"] == "Of stdout the first 1,000 of 2,001 bytes are shown; print less, or to a file."
    assert server.python("print(1)")["note"] == ""


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("{a: 1, 'b c': [true, null, 'x']}, [[]], {}", '{ a: 1, "b c": [ true, null, "x" ] } [ [] ] {}'),
        ("'x', 1n, [2n], undefined, [,1]", "x 1 [ 2n ] undefined [ undefined, 1 ]"),
        (
            "new Map([['k', {v: 1}]]), new Set([1]), new Uint8Array(2)",
            'Map { "k" => { v: 1 } } Set { 1 } Uint8Array [ 0, 0 ]',
        ),
        ("new Date(0), /x/g, Object.create(null), Promise.resolve()", "1970-01-01T00:00:00.000Z /x/g {} Promise {}"),
        (
            "[() => 1, function f() {}, class C {}], new Date(NaN)",
            "[ [Function: (anonymous)], [Function: f], [Function: C] ] Invalid Date",
        ),
        (
            "[[[[[[1], {}]]]]], {a: {b: {c: {d: {e: {f: 1}}}}}}",
            "[ [ [ [ [ [Array], [Object] ] ] ] ] ] { a: { b: { c: { d: { e: [Object] } } } } }",
        ),
        (
            "{a: {get b() { throw 1 }}, c: new Proxy({}, {get() { throw 1 }})}",
            "{ a: [it throws when it is looked at], c: [it throws when it is looked at] }",
        ),
        ("(() => { const o = new (class P { x = 1 }); o.self = o; return o })()", "P { x: 1, self: [Circular] }"),
    ],
)
def test_javascript_prints_what_is_in_an_object(server: Shared, value: str, printed: str) -> None:
    assert js(server, f"console.log({value})")["stdout"] == printed + "\n"
    assert js(server, f"console.error({value})")["stderr"] == printed + "\n"


def test_javascript_prints_what_has_many_paths_through_it(server: Shared) -> None:
    graph = "const all = [...Array(12)].map((_, id) => ({id})); for (const one of all) one.near = all;"
    ran = js(
        server,
        f"{graph} console.log(all[0]); let list = null; for (let n = 0; n < 1e4; n++) list = {{list}};"
        "console.log(list)",
    )
    assert ran["exit_code"] == 0 and ran["stdout"].startswith(
        "{ id: 0, near: [ [Circular], { id: 1, near: [Circular] }"
    )


def test_javascript_leaves_every_name_to_the_program(server: Shared) -> None:
    names = ("log", "text", "inspect", "evalScript", "loadFile", "name")
    ran = js(server, f"console.log({{}}, {', '.join(f'typeof {name}' for name in names)})")
    assert ran["stdout"] == "{}" + " undefined" * len(names) + "\n"
    ran = js(
        server, "const log = 1, text = 2, inspect = 3, setTimeout = 4; console.log({log, text, inspect, setTimeout})"
    )
    assert ran["stdout"] == "{ log: 1, text: 2, inspect: 3, setTimeout: 4 }\n"


def test_javascript_prints_where_an_error_came_from(server: Shared) -> None:
    assert js(server, "try { null.x } catch (error) { console.log(error) }")["stdout"] == (
        "TypeError: cannot read property 'x' of null\n    at <anonymous> (<cmdline>:1:6)\n"
    )


def test_timeout_in_a_shell_ends_a_program_and_keeps_what_it_wrote(server: Shared) -> None:
    loop = "open('made', 'w').write('1'); print('begun', flush=True)\nwhile True: pass"
    ran = sh(server, f'timeout 2 python -c "{loop}"; echo $?; timeout 30 python -c "print(2)"; echo $?')
    assert (ran["outcome"], ran["stdout"], ran["stderr"]) == ("exited", "begun\n124\n2\n0\n", "")
    server.run(server.server.quiet)
    assert server.python("print(open('made').read())")["stdout"] == "1\n"


def test_timeout_in_a_shell_takes_its_options_in_every_form(server: Shared) -> None:
    forms = ("-s KILL 0.3", "--signal KILL 0.3", "--kill-after 9 0.3", "--kill-after=9 0.3", "1.")
    ran = sh(server, "".join(f"timeout {form} python -c 'while True: pass'; echo $?;" for form in forms), timeout=9)
    assert (ran["outcome"], ran["stdout"]) == ("exited", "124\n" * len(forms))


def test_timeout_in_a_shell_ends_a_script_that_waits_for_a_program(server: Shared) -> None:
    ran = sh(server, "timeout 0.5 bash -c 'python -c \"while True: pass\"; echo never'; echo $?; timeout 9 echo x")
    assert ran["stdout"] == "124\nx\n"


def test_a_shell_says_what_it_does_not_take_of_a_programs_output(server: Shared) -> None:
    ran = sh(server, "python -c \"print('x' * 17_000_000)\" > /dev/null; echo $?")
    assert ran["stdout"] == "1\n"
    assert ran["stderr"] == (
        "python: wrote 17,000,001 bytes, of which a shell takes 16,777,216; let it write a file itself\n"
    )


def test_a_device_has_as_many_bytes_as_are_asked_for(server: Shared) -> None:
    script = "head -c 300000 /dev/zero | wc -c; head -c2M /dev/zero > z; wc -c < z; head --bytes=1K z | wc -c"
    assert sh(server, script)["stdout"] == "300000\n2097152\n1024\n"
    script = "seq 20 | head -3 | tail -1; seq 20 | head -n 12 | tail -n1; printf abc | head -c2"
    assert sh(server, script)["stdout"] == "3\n12\nab"


def test_links_that_a_shell_cannot_make(server: Shared) -> None:
    assert sh(server, "touch a; ln -s a b")["stderr"] == "ln: 'a': there are no links here: use cp\n"


def test_links_that_a_broken_limit_costs_are_named(server: Shared) -> None:
    server.python("import os\nopen('a', 'w').write('1')\nos.symlink('a', 'link')")
    ran = server.python("open('big', 'wb').write(bytes(60_000_000))")
    assert ran["files"] == "restored" and ran["note"].endswith("Links are lost: /workspace/link")
    assert server.python("import os\nprint(os.listdir())")["stdout"] == "['a']\n"


def test_links_that_a_timeout_in_a_shell_costs_are_named(server: Shared) -> None:
    server.python("import os\nopen('a', 'w').write('1')\nos.symlink('a', 'link')")
    ran = sh(server, "timeout 0.5 python -c 'while True: pass'; echo $?")
    assert (ran["outcome"], ran["files"], ran["stdout"]) == ("exited", "kept", "124\n")
    assert ran["note"] == "Links are lost: /workspace/link"
    assert server.python("import os\nprint(os.listdir())")["stdout"] == "['a']\n"


def test_many_files_outlive_their_worker(server: Shared) -> None:
    server.python("for n in range(100):\n    open(f'{n}', 'w').write(str(n) * n)")
    server.python("for n in range(0, 100, 3):\n    open(f'{n}', 'w').write('x')\nopen('100', 'w').write('y')")
    server.answer("list_sandbox_dir")  # its turn comes once the server knows of the files
    restarts = server.slot()["restarts"]
    for pid in server.server.workers():
        psutil.Process(pid).kill()
    within(lambda: server.slot()["restarts"] == restarts + 1, "it was noticed")
    code = "print(all(open(f'{n}').read() == (str(n) * n if n % 3 else 'x') for n in range(100)), open('100').read())"
    assert server.python(code)["stdout"] == "True y\n"


class Slow:
    """Files of which none is read before another one is asked for."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.two = asyncio.Event()
        self.reading = 0

    async def read_dir(self, _path: str) -> list[Any]:
        return [type("Item", (), {"name": name, "kind": "file", "size": len(name)}) for name in self.names]

    async def read(self, path: str) -> bytes:
        self.reading += 1
        if self.reading == 2:
            self.two.set()
        await self.two.wait()
        if path.endswith("link"):
            raise WasmerError("a link", "FILESYSTEM_ERROR")
        return path.encode()


def test_files_are_read_some_at_a_time_and_told_in_order() -> None:
    async def look() -> None:
        names = [*(f"{number:03}" for number in range(100)), "link"]
        setup = Setup("disabled", "", False, 0, (), {}, 0, 1000, 100_000, 1000, 0)
        workspace = Workspace(cast(SandboxFileSystem, Slow(names)), setup)
        *changes, synced = [message async for message in workspace.sync()]
        assert changes == [Changed(f"/workspace/{name}", f"/workspace/{name}".encode()) for name in names[:-1]]
        assert isinstance(synced, Synced) and synced.unreadable == ("/workspace/link",)
        assert [type(message) for message in [again async for again in workspace.sync()]] == [Synced]

    asyncio.run(asyncio.wait_for(look(), 10))


class LeavesOneBehind:
    """A program that ends at once, and of which something else goes on that holds its pipes open."""

    stdin = None

    def __init__(self) -> None:
        self.stdout = self.stderr = self

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    async def wait(self) -> Any:
        return type("Status", (), {"exit_code": 3})

    async def kill(self) -> None:
        raise WasmerError("it has ended", "PROCESS_ERROR")


@pytest.mark.parametrize("limited", [True, False])
def test_what_a_program_leaves_behind_can_be_ended(limited: bool) -> None:
    async def look() -> None:
        programs = Programs()

        async def emit(*_: object) -> None: ...

        async with programs.limited(0.1) if limited else contextlib.nullcontext():
            serving = asyncio.create_task(programs.serve(cast(Process, LeavesOneBehind()), b"", emit))
            if not limited:
                await asyncio.sleep(0.1)
                await programs.stop()
            assert await serving == Exit(3)
        assert programs.ended_early

    asyncio.run(asyncio.wait_for(look(), 10))
