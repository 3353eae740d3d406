"""The shape of the code: imports run downwards only, and the engine knows nothing of what it is used for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[1] / "feedback_ledger"

# From the bottom up; modules on one line may not import each other.
LAYERS = [
    {"errors", "vocabulary", "unchanged", "supervise"},
    {"files", "fields", "options", "documents", "dumping", "processes", "progress"},
    {"model", "targets"},
    {"wording", "redact", "ordering", "text", "history", "amend"},
    {"compare", "verdict", "packages", "capped", "places"},
    {"memory", "fixtures"},
    {"settings", "store"},
    {"loader", "requirements"},
    {"environment"},
    {"book", "outcome", "scaffold", "releases"},
    {"runner", "captures", "notes", "report", "matrix", "gathering"},
    {"render", "formats", "osv", "workarounds"},
    {"issue", "session", "show", "doctor"},
    {"ledger", "sweep"},
    {"sweep_report"},
    {"commands"},
    {"cli"},
    {"entry"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "feedback_ledger":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("feedback_ledger."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("feedback_ledger.")}
    return found - {"__version__"}


def test_every_module_has_its_place() -> None:
    assert {path.stem for path in ENGINE.glob("*.py")} - {"__init__"} == set(LEVEL)


@pytest.mark.parametrize("name", sorted(LEVEL))
def test_no_module_imports_upwards(name: str) -> None:
    upwards = {other for other in imported(ENGINE / f"{name}.py") if LEVEL[other] >= LEVEL[name]}
    assert not upwards


@pytest.mark.parametrize("name", sorted(LEVEL))
def test_the_engine_knows_neither_wasmer_nor_its_servers(name: str) -> None:
    program = (ENGINE / f"{name}.py").read_text(encoding="utf-8")
    assert "import servers" not in program and "from servers" not in program
    assert "wasmer" not in program.lower()
