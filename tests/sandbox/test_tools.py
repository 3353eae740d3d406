"""Every tool of `wasmer-sandbox`, through the Python client, on both of the protocol's eras."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import CallToolResult, TextContent, Tool

from servers import local
from servers.local_tools import version
from servers.refusal import Code
from servers.sandbox import runtimes
from servers.sandbox.keeper import Keeper
from servers.sandbox.limits import Limits
from servers.sandbox.packages import VARIABLE
from servers.sandbox.pool import Pool
from servers.sandbox.runtimes import Runtimes
from tests.sandbox.harness import CACHE, Shared, shared

ERAS = ("legacy", "2026-07-28")
TOOLS: dict[str, dict[str, Any]] = {
    "run_python": {"code": "0", "args": [], "stdin": "", "env": {}, "timeout": 30.0, "network": "disabled"},
    "run_command": {
        "command": "js",
        "args": [],
        "stdin": "",
        "env": {},
        "cwd": "/workspace",
        "timeout": 30.0,
        "network": "disabled",
    },
    "write_sandbox_file": {"path": "all/a", "content": "a", "encoding": "text", "network": "disabled"},
    "read_sandbox_file": {"path": "all/a", "offset": 0, "limit": 1 << 20, "encoding": None, "network": "disabled"},
    "list_sandbox_dir": {"path": "/workspace", "network": "disabled"},
    "install_sandbox_package": {"package": "greeter.wasm", "network": "host"},
    "get_sandbox_info": {},
    "reset_sandbox": {"network": "host"},
}
"""Every tool, with each of its arguments; a value is the published default, or what is needed for a call."""
NEEDED = {"code", "command", "path", "content", "package"}
HOST = {"network": "host"}

# (module (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
#         (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
#         (memory (export "memory") 1)
#         (data (i32.const 0) "\10\00\00\00\03\00\00\00") (data (i32.const 16) "hi\n")
#         (func (export "_start")
#           (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32)))
#           (call $exit (i32.const 7))))
GREETER = bytes.fromhex(
    "0061736d0100000001100360047f7f7f7f017f60017f0060000002460216776173695f736e617073686f745f70726576"
    "696577310866645f7772697465000016776173695f736e617073686f745f70726576696577310970726f635f65786974"
    "0001030201020503010001071302066d656d6f72790200065f737461727400020a13011100410141004101412010001a"
    "410710010b0b16020041000b0810000000030000000041100b0368690a"
)


@dataclass(frozen=True)
class Checked:
    """A server, each of whose answers has to be one that the tool's published schema admits."""

    shared: Shared
    tools: dict[str, Tool]

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return self.check(tool, self.shared.call(tool, **arguments))

    def check(self, tool: str, result: CallToolResult) -> CallToolResult:
        Draft202012Validator(self.tools[tool].output_schema or {}).validate(result.structured_content)
        (text,) = result.content
        assert isinstance(text, TextContent)
        assert text.text
        return result

    def answer(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.is_error, result.structured_content
        return dict(result.structured_content or {})

    def refusal(self, tool: str, /, **arguments: Any) -> dict[str, str]:
        result = self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        error: dict[str, str] = (result.structured_content or {})["error"]
        assert set(error) == {"code", "message", "hint"}
        assert all(error.values()), error
        shown = result.content[0]
        assert isinstance(shown, TextContent)
        assert shown.text == f"{error['code']}: {error['message']}\n{error['hint']}"
        return error

    def python(self, code: str, **more: Any) -> dict[str, Any]:
        return self.answer("run_python", code=code, **more)

    def run(self, command: str, *args: str, **more: Any) -> dict[str, Any]:
        return self.answer("run_command", command=command, args=list(args), **more)

    def write(self, path: str, content: str, **more: Any) -> dict[str, Any]:
        return self.answer("write_sandbox_file", path=path, content=content, **more)

    def read(self, path: str, **more: Any) -> dict[str, Any]:
        return self.answer("read_sandbox_file", path=path, **more)


def checked(one: Shared) -> Checked:
    listed = one.run(one.server.client.list_tools)
    return Checked(one, {tool.name: tool for tool in listed.tools})


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    (folder / "greeter.wasm").write_bytes(GREETER)
    (folder / "text.wasm").write_text("no module")
    (folder / "python.wasm").write_bytes(GREETER)
    return folder


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, packages: Path) -> Iterator[Checked]:
    with shared({VARIABLE: str(packages)}, mode=request.param) as one:
        assert (one.server.client.protocol_version == "2026-07-28") == (request.param != "legacy")
        yield checked(one)


@pytest.fixture(scope="module")
def limited() -> Iterator[Checked]:
    """A server with little of everything."""
    with shared(
        time_s=1, longest_s=5, output_bytes=1000, file_bytes=2000, workspace_bytes=3000, workspace_files=3, queue=1
    ) as one:
        yield checked(one)


# ---- what is published


def test_every_tool_says_what_it_is(server: Checked) -> None:
    assert set(server.tools) == set(TOOLS)
    for tool in server.tools.values():
        assert tool.title
        assert tool.description
        hints = tool.annotations
        assert hints is not None
        every = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert all(hint is not None for hint in every), tool.name
        assert not (hints.read_only_hint and hints.destructive_hint), tool.name


def test_every_argument_says_what_it_is_and_what_it_is_by_default(server: Checked) -> None:
    for name, tool in server.tools.items():
        Draft202012Validator.check_schema(tool.input_schema)
        published = tool.input_schema["properties"]
        assert set(published) == set(TOOLS[name])
        assert tool.input_schema["additionalProperties"] is False
        assert set(tool.input_schema.get("required", [])) == set(published) & NEEDED - ({"path"} & {*_optional(tool)})
        assert all(one["description"] for one in published.values()), name


def _optional(tool: Tool) -> set[str]:
    return {name for name, one in tool.input_schema["properties"].items() if "default" in one}


def test_what_is_published_admits_answers_and_errors_but_nothing_else(server: Checked) -> None:
    for tool in server.tools.values():
        schema = tool.output_schema
        assert schema is not None
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"  # the TypeScript SDK takes no other
        admits = Draft202012Validator(schema).is_valid
        assert admits({"error": {"code": "busy", "message": "m", "hint": "h"}})
        assert not admits({"error": {"code": "of my own", "message": "m", "hint": "h"}})
        assert not admits({"error": {"code": "busy", "message": "m", "hint": "h"}, "more": 1})
        assert not admits({})
        assert _described(schema), tool.name


def _described(schema: dict[str, Any]) -> bool:
    """Whether a reader learns what codes there are."""
    return set(schema["$defs"]["Code"]["enum"]) == set(Code)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_takes_all_of_its_arguments_and_no_other(server: Checked, tool: str) -> None:
    error = server.refusal(tool, **TOOLS[tool], colour="red")
    assert error["code"] == "invalid_arguments"
    assert "colour: no such argument" in error["message"]
    assert all(argument in error["hint"] for argument in TOOLS[tool])
    server.write("all/a", "a")
    server.answer(tool, **TOOLS[tool])


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message", "hint"),
    [
        ("run_python", {}, "invalid_arguments", "code: field required", "run_python again"),
        ("run_python", {"code": 5}, "invalid_arguments", "code: input should be a valid string", ""),
        ("run_python", {"code": "0", "timeout": 0}, "invalid_arguments", "timeout: ", "timeout"),
        ("run_python", {"code": "0", "timeout": 601}, "invalid_arguments", "600", ""),
        ("run_python", {"code": "0", "timeout": "soon"}, "invalid_arguments", "timeout: ", "timeout"),
        ("run_python", {"code": "0", "network": "on"}, "invalid_arguments", "'disabled' or 'host'", "network"),
        ("run_python", {"code": "0", "args": "a b"}, "invalid_arguments", "args: ", "args"),
        ("run_python", {"code": "0", "args": ["a\0"]}, "invalid_arguments", "NUL", "stdin"),
        ("run_python", {"code": "0", "env": {"A": 1}}, "invalid_arguments", "env.A: ", "env"),
        ("run_python", {"code": "0", "env": {"A B": "1"}}, "invalid_arguments", "'A B'", "letters"),
        ("run_python", {"code": "0", "env": {"A": "\0"}}, "invalid_arguments", "NUL", "stdin"),
        ("run_command", {"command": "perl"}, "not_found", "'perl'", "js, python"),
        ("run_command", {"command": "python main.py"}, "not_found", "'python main.py'", "python"),
        ("run_command", {"command": ""}, "not_found", "''", "python"),
        ("run_command", {"command": "js", "cwd": "nowhere"}, "not_found", "/workspace/nowhere", "file"),
        ("run_command", {"command": "js", "cwd": "/etc"}, "not_allowed", "'/etc' is outside", "/workspace"),
        ("write_sandbox_file", {"path": "", "content": ""}, "invalid_arguments", "0 characters", "1 to"),
        ("write_sandbox_file", {"path": "a\0b", "content": ""}, "invalid_arguments", "NUL", "NUL"),
        ("write_sandbox_file", {"path": "../x", "content": ""}, "not_allowed", "'../x'", "/workspace"),
        ("write_sandbox_file", {"path": ".", "content": ""}, "invalid_arguments", "is a folder", "name"),
        ("write_sandbox_file", {"path": "there/x", "content": ""}, "invalid_arguments", "is a file", "folder"),
        (
            "write_sandbox_file",
            {"path": "x", "content": "ä", "encoding": "base64"},
            "invalid_arguments",
            "not base64",
            "gain",
        ),
        ("write_sandbox_file", {"path": "x", "content": "", "encoding": "hex"}, "invalid_arguments", "'base64'", ""),
        ("read_sandbox_file", {"path": "missing"}, "not_found", "/workspace/missing", "list_sandbox_dir"),
        ("read_sandbox_file", {"path": "."}, "invalid_arguments", "is a folder", "list_sandbox_dir"),
        ("read_sandbox_file", {"path": "/etc/passwd"}, "not_allowed", "outside", "/workspace"),
        ("read_sandbox_file", {"path": "there", "offset": -1}, "invalid_arguments", "offset: ", "offset"),
        ("read_sandbox_file", {"path": "there", "limit": 0}, "invalid_arguments", "limit: ", "limit"),
        ("read_sandbox_file", {"path": "there", "limit": 2**21}, "invalid_arguments", "1048576", "limit"),
        ("list_sandbox_dir", {"path": "missing"}, "not_found", "/workspace/missing", "/workspace"),
        ("list_sandbox_dir", {"path": "there"}, "invalid_arguments", "is a file", "read_sandbox_file"),
        ("list_sandbox_dir", {"path": "/"}, "not_allowed", "outside", "/workspace"),
        ("install_sandbox_package", {"package": "lua"}, "invalid_arguments", "'lua'", "wasmer/lua"),
        ("install_sandbox_package", {"package": "missing.wasm"}, "not_allowed", "missing.wasm", "Use a file in"),
        ("install_sandbox_package", {"package": "text.wasm"}, "invalid_arguments", "", "wasm"),
        ("install_sandbox_package", {"package": "python.wasm"}, "invalid_arguments", "'python'", "eset"),
    ],
)
def test_a_refusal_says_what_to_do(
    server: Checked, tool: str, arguments: dict[str, Any], code: str, message: str, hint: str
) -> None:
    server.write("there", "a file")
    error = server.refusal(tool, **arguments)
    assert (error["code"], message in error["message"], hint in error["hint"]) == (code, True, True), error


def test_there_is_no_such_tool(server: Checked) -> None:
    error = server.shared.refusal("run_ruby")
    assert error["code"] == "unknown_tool"
    assert all(tool in error["hint"] for tool in TOOLS)


# ---- run_python


def test_python_is_given_everything(server: Checked) -> None:
    code = "import os, sys; print(sys.argv[1:], sys.stdin.read(), os.environ['GREETING'], os.getcwd())"
    ran = server.python(code, args=["a b", "日本", ""], stdin="zwei\nZeilen", env={"GREETING": "grüß dich"})
    assert ran["stdout"] == "['a b', '日本', ''] zwei\nZeilen grüß dich /workspace\n"
    assert ran["stdout_bytes"] == len(ran["stdout"].encode())
    assert (ran["outcome"], ran["exit_code"], ran["exit_code_is_exact"]) == ("exited", 0, True)
    assert (ran["stderr"], ran["truncated"], ran["files"], ran["note"]) == ("", False, "kept", "")
    assert ran["duration_ms"] < 60_000


def test_python_starts_afresh_but_its_files_stay(server: Checked) -> None:
    server.python("x = 1; open('stays', 'w').write('here'); open('/tmp/goes', 'w').write('gone')")
    ran = server.python("import os; print('x' in globals(), open('stays').read(), os.path.exists('/tmp/goes'))")
    assert ran["stdout"] == "False here False\n"


def test_each_network_has_files_of_its_own(server: Checked) -> None:
    server.write("mine", "disabled")
    server.write("mine", "host", **HOST)
    assert server.read("mine")["content"] == "disabled"
    assert server.python("print(open('mine').read())", **HOST)["stdout"] == "host\n"
    assert server.run("js", "-e", "console.log(std.loadFile('mine'))", **HOST)["stdout"] == "host\n"
    server.write("only here", "", **HOST)
    assert server.refusal("read_sandbox_file", path="only here")["code"] == "not_found"


@pytest.mark.parametrize("code", [0, 3, 255, 256, -1, 70000])
def test_an_exit_code_is_told_truly(server: Checked, code: int) -> None:
    ran = server.python(f"import sys; print('out'); sys.exit({code})")
    assert (ran["outcome"], ran["exit_code"], ran["exit_code_is_exact"]) == ("exited", code, True)
    assert ran["stdout"] == "out\n"
    assert not [one for one in server.answer("list_sandbox_dir")["entries"] if one["name"].startswith(".exit")]


def test_a_traceback_shows_the_line_and_nothing_of_ours(server: Checked) -> None:
    ran = server.python("def f():\n    return 1 / 0\n\nf()")
    assert ran["exit_code"] == 1
    assert ran["stderr"].splitlines()[0] == "Traceback (most recent call last):"
    assert "    return 1 / 0" in ran["stderr"]
    assert ran["stderr"].endswith("ZeroDivisionError: division by zero\n")
    assert "start.py" not in ran["stderr"]


def test_output_that_is_no_text_becomes_text(server: Checked) -> None:
    ran = server.python(r"import sys; sys.stdout.buffer.write(b'a\xff\x00b'); sys.stderr.buffer.write('é'.encode())")
    assert (ran["stdout"], ran["stdout_bytes"], ran["stderr"]) == ("a�\0b", 4, "é")


def test_after_the_time_is_over_the_output_is_there_and_so_are_the_files(server: Checked) -> None:
    code = "print('begun', flush=True); open('half', 'w').write('half')\nwhile True: pass"
    ran = server.python(code, timeout=1)
    assert (ran["outcome"], ran["exit_code"], ran["stdout"], ran["files"]) == ("timed_out", None, "begun\n", "kept")
    assert "time was over" in ran["note"]
    assert server.read("half")["content"] == "half"


# ---- run_command


def test_python_as_a_command(server: Checked) -> None:
    server.write("pkg/tool.py", "import os, sys; print(__name__, sys.argv[1:], os.getcwd()); sys.exit(300)")
    ran = server.run("python", "pkg/tool.py", "-x", "ü")
    assert (ran["stdout"], ran["exit_code"]) == ("__main__ ['-x', 'ü'] /workspace\n", 300)
    ran = server.run("python", "tool.py", cwd="pkg")
    assert ran["stdout"] == "__main__ [] /workspace/pkg\n"
    ran = server.run("python", "-m", "pkg.tool", "y")
    assert ran["stdout"] == "__main__ ['y'] /workspace\n"
    assert server.run("python", stdin="print(6 * 7)")["stdout"] == "42\n"
    assert server.run("python", "--version")["stdout"].startswith("Python 3.")
    ran = server.run("python", "missing.py")
    assert (ran["exit_code"], "missing.py" in ran["stderr"]) == (2, True)


def test_javascript_as_a_command(server: Checked) -> None:
    code = "console.log(scriptArgs.join(), std.in.readAsString(), std.getenv('GREETING'), os.getcwd()[0])"
    ran = server.run("js", "-e", code, "a b", "日本", stdin="zwei\nZeilen", env={"GREETING": "grüß dich"})
    assert ran["stdout"] == "a b,日本 zwei\nZeilen grüß dich /workspace\n"
    server.write("js/main.js", "import {b} from './b.js'; console.log(b, scriptArgs[1]); std.exit(3)")
    server.write("js/b.js", "export const b = 'from b'")
    ran = server.run("js", "main.js", "ü", cwd="/workspace/js")
    assert (ran["stdout"], ran["exit_code"]) == ("from b ü\n", 3)
    assert server.run("js", stdin="console.log(6 * 7)")["stdout"] == "42\n"
    ran = server.run("js", "-e", "throw new Error('no')")
    assert (ran["exit_code"], "Error: no" in ran["stderr"]) == (1, True)


def test_an_exit_code_that_may_be_cut_is_flagged(server: Checked) -> None:
    """JavaScript's own code arrives as its low byte."""
    ran = server.run("js", "-e", "std.exit(70000)")
    assert ran["exit_code"] == 70000 or not ran["exit_code_is_exact"]


# ---- files


@pytest.mark.parametrize(
    "path", ["plain.txt", "deep/er/still", "日本/ünïcode 😀.txt", "with 'quotes' \"two\"", "-rf", "a\nb"]
)
def test_a_file_is_read_as_it_was_written(server: Checked, path: str) -> None:
    content = "Zeile 1\r\n\ttäb\n€😀\0 end"
    wrote = server.write(path, content)
    assert wrote == {"path": f"/workspace/{path}", "size": len(content.encode())}
    assert server.read(path) == {
        "path": f"/workspace/{path}",
        "encoding": "text",
        "content": content,
        "offset": 0,
        "size": len(content.encode()),
        "next_offset": None,
    }
    seen = server.python("import sys; print(ascii(open(sys.argv[1], newline='').read()))", args=[path])
    assert seen["stdout"].strip() == ascii(content)


def test_an_absolute_path_is_the_same_file(server: Checked) -> None:
    server.write("/workspace/x/../same", "1")
    assert server.read("./same")["content"] == "1"


def test_an_empty_file(server: Checked) -> None:
    assert server.write("empty", "")["size"] == 0
    told = server.read("empty")
    assert (told["content"], told["size"], told["next_offset"]) == ("", 0, None)
    assert server.write("empty", "", encoding="base64")["size"] == 0


def test_a_file_is_overwritten_whole(server: Checked) -> None:
    server.write("twice", "long, long ago")
    server.write("twice", "now")
    assert server.read("twice")["content"] == "now"


def test_bytes_travel_as_base64(server: Checked) -> None:
    data = bytes(range(256))
    server.write("bytes", base64.b64encode(data).decode(), encoding="base64")
    told = server.read("bytes")
    assert (told["encoding"], base64.b64decode(told["content"])) == ("base64", data)
    piece = server.read("bytes", offset=250, limit=4)
    assert (base64.b64decode(piece["content"]), piece["offset"], piece["next_offset"]) == (data[250:254], 250, 254)
    last = server.read("bytes", offset=254)
    assert (base64.b64decode(last["content"]), last["next_offset"]) == (data[254:], None)
    assert server.read("bytes", encoding="text", offset=126, limit=3)["content"] == "~\x7f�"
    assert server.read("bytes", encoding="base64", limit=1)["content"] == "AA=="
    assert server.read("bytes", offset=999)["content"] == ""


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("encoding", [None, "base64"])
def test_pieces_make_up_the_whole_wherever_characters_are_cut(
    server: Checked, limit: int, encoding: str | None
) -> None:
    content = "aß€😀é日"
    server.write("cut", content)
    pieces, offset, rounds = b"", 0, 0
    while offset is not None:
        told = server.read("cut", offset=offset, limit=limit, encoding=encoding)
        assert told["offset"] == offset
        pieces += told["content"].encode() if told["encoding"] == "text" else base64.b64decode(told["content"])
        assert "�" not in told["content"]
        offset, rounds = told["next_offset"], rounds + 1
        assert rounds <= len(content.encode())
    assert pieces.decode() == content


def test_a_character_that_is_cut_waits_for_the_next_piece(server: Checked) -> None:
    server.write("cut", "aß€😀")
    first = server.read("cut", limit=5)
    assert (first["encoding"], first["content"], first["next_offset"]) == ("text", "aß", 3)
    second = server.read("cut", offset=3, limit=5)
    assert (second["encoding"], second["content"], second["next_offset"]) == ("text", "€", 6)


def test_a_folder_is_listed_in_order(server: Checked) -> None:
    for name in ("list/b.txt", "list/a/inner", "list/Z", "list/ä", "list/10", "list/9"):
        server.write(name, name)
    told = server.answer("list_sandbox_dir", path="list")
    assert told["path"] == "/workspace/list"
    names = [one["name"] for one in told["entries"]]
    assert names == sorted(names) == ["10", "9", "Z", "a", "b.txt", "ä"]
    assert {
        one["name"]: (one["kind"], one["size"]) for one in told["entries"] if one["name"] in ("a", "b.txt", "ä")
    } == {
        "a": ("directory", 0),
        "b.txt": ("file", 10),
        "ä": ("file", 7),
    }
    whole = server.answer("list_sandbox_dir")
    assert whole == server.answer("list_sandbox_dir", path=".")
    assert ("list", "directory") in {(one["name"], one["kind"]) for one in whole["entries"]}


# ---- packages, information, reset


def test_a_package_stays_until_it_is_reset(server: Checked) -> None:
    server.answer("reset_sandbox")
    assert server.answer("install_sandbox_package", package="greeter.wasm") == {"commands": ["greeter"]}
    ran = server.run("greeter")
    assert (ran["stdout"], ran["exit_code"]) == ("hi\n", 7)
    again = server.refusal("install_sandbox_package", package="greeter.wasm")
    assert (again["code"], "'greeter'" in again["message"]) == ("invalid_arguments", True)
    assert "greeter" not in server.shared.slot("host")["commands"]
    assert server.refusal("run_command", command="greeter", **HOST)["code"] == "not_found"

    before = server.shared.slot()
    assert "greeter" in before["commands"]
    server.python("while True: pass", timeout=1)
    assert server.run("greeter")["stdout"] == "hi\n"
    after = server.shared.slot()
    assert (after["restarts"], after["commands"]) == (before["restarts"] + 1, before["commands"])

    server.answer("reset_sandbox")
    assert server.refusal("run_command", command="greeter")["code"] == "not_found"


def test_what_is_known_of_the_server(server: Checked, packages: Path) -> None:
    server.answer("reset_sandbox")
    server.write("four", "four")
    info = server.answer("get_sandbox_info")
    assert info["version"] == version()
    assert (info["sdk_version"], info["runtime_source"]) == ("0.5.0", "wheels")
    assert {"python", "js"} <= set(info["runtimes"])
    assert info["uptime_s"] > 0
    assert info["limits"] == {name: getattr(Limits(), name) for name in info["limits"]}
    assert info["package_folders"] == [str(packages)]
    assert info["notes"] == []
    assert [one["network"] for one in info["sandboxes"]] == ["disabled", "host"]
    slot = info["sandboxes"][0]
    assert (slot["health"], slot["waiting_calls"], slot["files"], slot["workspace_bytes"]) == ("ready", 0, 1, 4)
    assert slot["memory_bytes"] > 1 << 20
    assert {"python", "js"} <= set(slot["commands"])


def test_a_reset_empties_one_sandbox(server: Checked) -> None:
    server.answer("reset_sandbox")
    server.write("a", "")
    server.write("b/c", "")
    server.write("kept", "", **HOST)
    assert server.answer("reset_sandbox") == {"network": "disabled", "files_removed": 2}
    assert server.answer("list_sandbox_dir")["entries"] == []
    assert server.read("kept", **HOST)["size"] == 0
    assert server.answer("reset_sandbox") == {"network": "disabled", "files_removed": 0}


# ---- limits


def test_more_output_than_is_shown_is_counted(limited: Checked) -> None:
    ran = limited.python("import sys; print('a' * 5000); print('b' * 100, file=sys.stderr)")
    assert (len(ran["stdout"]), ran["stdout_bytes"], ran["truncated"]) == (1000, 5001, True)
    assert (len(ran["stderr"]), ran["stderr_bytes"]) == (101, 101)


def test_what_does_not_fit_is_refused(limited: Checked) -> None:
    limited.answer("reset_sandbox")
    too_large = limited.refusal("write_sandbox_file", path="x", content="x" * 2001)
    assert (too_large["code"], "2,000" in too_large["message"]) == ("too_large", True)
    assert "reset_sandbox" in too_large["hint"]
    limited.write("a", "x" * 2000)
    full = limited.refusal("write_sandbox_file", path="b", content="x" * 1001)
    assert (full["code"], "1,000" in full["message"]) == ("too_large", True)
    limited.write("a", "y" * 2000)
    limited.write("b", "")
    limited.write("c", "")
    many = limited.refusal("write_sandbox_file", path="d", content="")
    assert (many["code"], "3 files" in many["message"]) == ("too_large", True)
    limited.write("c", "over")


def test_a_workspace_over_its_limit_is_put_back(limited: Checked) -> None:
    limited.answer("reset_sandbox")
    limited.write("before", "before")
    ran = limited.python("open('before', 'w').write('after'); open('big', 'w').write('x' * 2500); print('done')")
    assert (ran["outcome"], ran["exit_code"], ran["stdout"], ran["files"]) == ("exited", 0, "done\n", "restored")
    assert "/workspace/big has 2500 bytes" in ran["note"]
    assert limited.read("before")["content"] == "before"


def test_the_limits_on_time_are_the_users(limited: Checked) -> None:
    schema = limited.tools["run_python"].input_schema["properties"]["timeout"]
    assert schema.get("default") in (1, None)
    ran = limited.python("while True: pass")
    assert (ran["outcome"], ran["duration_ms"] < 5000) == ("timed_out", True)
    error = limited.refusal("run_python", code="0", timeout=6)
    assert (error["code"], "5" in error["message"]) == ("invalid_arguments", True)


def test_more_calls_than_may_wait_are_refused(limited: Checked) -> None:
    """One runs, one waits; or, if the sandbox is still busy with the call before, one waits."""
    slow = {"code": "import time; time.sleep(0.8)", "timeout": 4}
    begun = [limited.shared.begin("run_python", **slow) for _ in range(3)]
    results = [limited.check("run_python", one.result(timeout=30)) for one in begun]
    refused = [(one.structured_content or {})["error"] for one in results if one.is_error]
    assert 1 <= len(refused) <= 2
    assert all((error["code"], "call again" in error["hint"]) == ("busy", True) for error in refused)


# ---- before it is ready


def _in_process(found: Runtimes, tool: str, **arguments: Any) -> dict[str, Any]:
    async def call() -> dict[str, Any]:
        async with Client(local.build(Pool(Limits(), found)), raise_exceptions=True) as client:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            error: dict[str, Any] = (result.structured_content or {})["error"]
            return error

    return asyncio.run(call())


@pytest.mark.parametrize("tool", ["run_python", "list_sandbox_dir"])
def test_a_call_that_comes_too_early_is_told_when_to_come_again(monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    found = runtimes.find()
    assert isinstance(found, Runtimes)
    monkeypatch.setenv("WASMER_SANDBOX_CACHE", str(CACHE))
    monkeypatch.setattr(Keeper.ready, "__defaults__", (0.0,))
    error = _in_process(found, tool, **({"code": "0"} if tool == "run_python" else {}))
    assert (error["code"], "is being prepared" in error["message"]) == ("warming", True)
    assert "Call again in" in error["hint"]


def test_runtimes_that_are_not_the_published_ones_are_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = runtimes.find()
    assert isinstance(found, Runtimes)
    monkeypatch.setenv("WASMER_SANDBOX_CACHE", str(tmp_path))
    (tmp_path / "python.wasm").write_bytes(GREETER)
    module = type(found.modules[0])("python", str(tmp_path / "python.wasm"), "0" * 64)
    error = _in_process(Runtimes(found.source, found.titles, (module,)), "run_python", code="0")
    assert (error["code"], "sha256" in error["message"]) == ("not_available", True)
    assert "get_sandbox_info" in error["hint"]
