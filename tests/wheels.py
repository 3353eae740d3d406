"""Tiny real releases, so that tests build real environments with the real installers and no network: wheels, packages
for npm, folders of binaries; and indexes on loopback that name them.
"""

from __future__ import annotations

import contextlib
import http.server
import io
import json
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest


def make_wheel(
    folder: Path,
    version: str,
    source: str,
    *,
    name: str = "thing",
    tag: str = "py3-none-any",
    needs: Sequence[str] = (),
) -> Path:
    """A wheel with one module of the package's own name."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {need}\n" for need in needs
    )
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, text in files.items():
            wheel.writestr(inside, text)
    return path


def only_these(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The installer, and the client that is asked for releases, see the wheels in `folder` and no index."""
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "cache"))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def only_this_index(monkeypatch: pytest.MonkeyPatch, address: str, cache: Path) -> None:
    """Installers and clients of Python and of npm see this index alone, ask it once, and keep what it says in
    `cache`.
    """
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_OFFLINE", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    given = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": f"{address}/simple",
        "PIP_RETRIES": "0",
        "UV_DEFAULT_INDEX": f"{address}/simple",
        "UV_HTTP_RETRIES": "0",
        "UV_CACHE_DIR": str(cache / "uv"),
        "npm_config_registry": address,
        "npm_config_fetch_retries": "0",
        "npm_config_cache": str(cache / "npm"),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)


@contextlib.contextmanager
def served(answers: Mapping[str, bytes]) -> Iterator[str]:
    """The address of a server on loopback that gives these answers by path, and 404 for every other; `{address}` in an
    answer is its own.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            address = f"http://{self.headers['Host']}".encode()
            answer = answers[self.path].replace(b"{address}", address) if self.path in answers else None
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/json")
            self.send_header("Content-Length", str(len(answer or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(answer or b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def simple_index(wheels: Path, *, yanked: Sequence[str] = (), name: str = "thing") -> dict[str, bytes]:
    """What an index answers for the wheels in a folder; `yanked` are versions."""
    files = {path.name: path.read_bytes() for path in sorted(wheels.glob(f"{name}-*.whl"))}
    marks = {file: ' data-yanked="a bad day"' if file.split("-")[1] in yanked else "" for file in files}
    links = "".join(f'<a href="/files/{file}"{mark}>{file}</a>\n' for file, mark in marks.items())
    page = f"<!DOCTYPE html><html><body>\n{links}</body></html>\n"
    return {f"/simple/{name}/": page.encode(), **{f"/files/{file}": data for file, data in files.items()}}


def make_folders(root: Path, lines: Mapping[str, str]) -> None:
    """A ledger's settings with a target `thing` whose releases are folders; in each is a command `thing`, a line of
    sh.
    """
    for release, line in lines.items():
        program = root / "bin" / release / "thing"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    folders = "".join(f'"{release}" = "bin/{release}"\n' for release in lines)
    (root / "ledger.toml").write_text(f'[targets.thing]\necosystem = "command"\n[targets.thing.folders]\n{folders}')


def npm_package(versions: Mapping[str, str], *, name: str = "thing") -> dict[str, bytes]:
    """What a registry answers for a package of one module whose source is given for each version."""
    answers = {f"/{name}/-/{version}.tgz": _tarball(name, version, source) for version, source in versions.items()}
    about = {
        version: {"name": name, "version": version, "dist": {"tarball": f"{{address}}/{name}/-/{version}.tgz"}}
        for version in versions
    }
    packument = {"name": name, "dist-tags": {"latest": list(versions)[-1]}, "versions": about}
    return {f"/{name}": json.dumps(packument).encode(), **answers}


def _tarball(name: str, version: str, source: str) -> bytes:
    about = {"name": name, "version": version, "type": "module", "exports": "./index.js"}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in {"package.json": json.dumps(about), "index.js": source}.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()
