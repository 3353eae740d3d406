"""Tiny real wheels, so that tests build real environments with the real installer and no network."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
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
    """The installer sees the wheels in `folder` and no index."""
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "cache"))
