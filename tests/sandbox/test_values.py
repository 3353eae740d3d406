"""The parts of the sandbox that touch nothing: paths, limits, packages, the switch for workarounds."""

import os
from pathlib import Path

import pytest

from servers import workarounds
from servers.refusal import Code, Refusal
from servers.sandbox import cache, limits, packages, runtimes
from servers.sandbox.paths import in_workspace


@pytest.mark.parametrize(
    ("path", "absolute"),
    [
        ("a.txt", "/workspace/a.txt"),
        ("/workspace", "/workspace"),
        (".", "/workspace"),
        ("/workspace/x/../y//z/", "/workspace/y/z"),
        ("naïve/日本.txt", "/workspace/naïve/日本.txt"),
    ],
)
def test_a_path_is_taken_from_the_workspace(path: str, absolute: str) -> None:
    assert in_workspace(path) == absolute


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("..", Code.NOT_ALLOWED),
        ("../etc/passwd", Code.NOT_ALLOWED),
        ("/etc/passwd", Code.NOT_ALLOWED),
        ("/workspace/../etc", Code.NOT_ALLOWED),
        ("/workspaces/a", Code.NOT_ALLOWED),
        ("//workspace/../x", Code.NOT_ALLOWED),
        ("", Code.INVALID_ARGUMENTS),
        ("a\0b", Code.INVALID_ARGUMENTS),
        ("a" * 2000, Code.INVALID_ARGUMENTS),
        ("\ud800", Code.INVALID_ARGUMENTS),
        ("a/" * 200 + "b", Code.INVALID_ARGUMENTS),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, code: Code) -> None:
    refusal = in_workspace(path)
    assert isinstance(refusal, Refusal) and refusal.code is code and refusal.hint


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WASMER_SANDBOX_TIME_S", "2.5")
    monkeypatch.setenv("WASMER_SANDBOX_FILE_BYTES", "1000")
    chosen = limits.from_environment()
    assert (chosen.time_s, chosen.file_bytes, chosen.output_bytes) == (2.5, 1000, 1 << 20)


@pytest.mark.parametrize("text", ["", "ten", "0", "-1", "nan", "inf", "1e30", "1.5"])
def test_a_limit_that_is_no_number_is_one_line(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("WASMER_SANDBOX_FILE_BYTES", text)
    with pytest.raises(limits.BadLimit, match=r"^WASMER_SANDBOX_FILE_BYTES: .*such as 52428800$"):
        limits.from_environment()


@pytest.mark.parametrize("name", ["wasmer/lua", "wasmer/lua@1.2.3", "python/python@=3.13.20"])
def test_a_name_of_the_registry_is_passed_on(name: str) -> None:
    found = packages.find(name)
    assert not isinstance(found, Refusal) and (found.name, found.data) == (name, None)


@pytest.mark.parametrize("name", ["", "lua", "../x", "a b/c", "https://example.com/x", "/etc/passwd", "wasmer/lua\n"])
def test_anything_else_is_refused(name: str) -> None:
    refusal = packages.find(name)
    assert isinstance(refusal, Refusal) and refusal.code is Code.INVALID_ARGUMENTS


def test_files_come_from_allowed_folders_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed, elsewhere = tmp_path / "allowed", tmp_path / "elsewhere"
    allowed.mkdir()
    elsewhere.mkdir()
    (allowed / "a.wasm").write_bytes(b"A")
    (elsewhere / "b.wasm").write_bytes(b"B")
    (allowed / "link.wasm").symlink_to(elsewhere / "b.wasm")
    assert isinstance(packages.find("a.wasm"), Refusal)
    monkeypatch.setenv("WASMER_SANDBOX_PACKAGES", str(allowed))
    for name in "a.wasm", str(allowed / "a.wasm"):
        found = packages.find(name)
        assert not isinstance(found, Refusal) and (found.name, found.data) == ("a", b"A")
    for name in "../elsewhere/b.wasm", str(elsewhere / "b.wasm"), "link.wasm", "c.wasm", "../allowed":
        assert isinstance(packages.find(name), Refusal), name


@pytest.mark.parametrize("text", ["F-1", "077", "F-077;F-055", "all"])
def test_a_list_of_workarounds_that_is_none_is_one_line(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("LEDGER_WITHOUT", text)
    workarounds.switched_off.cache_clear()
    with pytest.raises(workarounds.BadVariable, match=r"^LEDGER_WITHOUT: .* is no finding; write ids such as F-077"):
        workarounds.workaround("F-077")
    workarounds.switched_off.cache_clear()


def test_runtimes_are_found_and_a_typo_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = runtimes.find()
    assert not isinstance(found, Refusal) and [one.command for one in found.modules] == ["python", "js"]
    monkeypatch.setenv("WASMER_SANDBOX_RUNTIMES", "wheel")
    refusal = runtimes.find()
    assert isinstance(refusal, Refusal) and refusal.hint == "Set it to wheels or registry."


def test_a_cache_that_others_can_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("WASMER_SANDBOX_CACHE", str(folder))
    assert cache.find() == cache.Cache(folder, temporary=False, note="")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    instead = cache.find()
    assert instead.temporary and "other users may write to it" in instead.note and instead.path != folder
    assert instead.path.stat().st_mode & 0o777 == 0o700
    cache.remove(instead)
    assert not os.path.lexists(instead.path) and folder.is_dir()
    folder.rmdir()
    folder.write_text("a file")
    another = cache.find()
    assert another.temporary
    cache.remove(another)
