"""What each part of the sandbox may touch, read from its imports."""

import ast
import subprocess
import sys
from pathlib import Path

SANDBOX = Path(__file__).parents[2] / "servers" / "sandbox"
IN_THE_WORKER = {"channel", "guests", "modules", "programs", "shell", "worker", "workspace"}
LAYERS = (
    {"limits", "wasm", "paths", "messages", "outcome"},
    {"frames", "runtimes", "cache", "packages", "journal", "turns", "shell", "programs"},
    {"process", "workspace", "guests", "channel"},
    {"execution", "keeper", "modules"},
    {"telling", "worker"},
    {"slot"},
    {"pool"},
)


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found


def test_imports_run_downwards() -> None:
    height = {module: level for level, modules in enumerate(LAYERS) for module in modules}
    assert set(height) == {path.stem for path in SANDBOX.glob("*.py")} - {"__init__"}
    for module, level in height.items():
        for name in imported(SANDBOX / f"{module}.py"):
            if name.startswith("servers.sandbox."):
                assert height[name.split(".")[2]] < level, f"{module} imports {name}"


def test_the_core_knows_no_protocol_and_the_server_no_sdk() -> None:
    for path in SANDBOX.glob("*.py"):
        roots = {name.split(".")[0] for name in imported(path)}
        assert "mcp" not in roots, path.name
        assert ("wasmer_sdk" not in roots) or path.stem in IN_THE_WORKER, path.name
        if path.stem not in IN_THE_WORKER:
            used = {name.split(".")[2] for name in imported(path) if name.startswith("servers.sandbox.")}
            assert not used & IN_THE_WORKER, path.name


def test_the_server_really_does_not_load_the_sdk() -> None:
    check = "import servers.local, sys; sys.exit('wasmer_sdk' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)
