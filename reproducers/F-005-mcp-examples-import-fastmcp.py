# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0", "packaging==26.4"]
# ///
"""Does the imports of mcp of both Python MCP examples of anybuild, with mcp 2.x, if that is what they ask for.
Needs ANYBUILD_SOURCE, the folder of a checkout of anybuild."""
import ast
import os
import re
import tomllib
from pathlib import Path

from mcp.server.lowlevel import Server
from packaging.requirements import Requirement

SOURCE = Path(os.environ["ANYBUILD_SOURCE"])


def asked_for(folder):
    if (folder / "pyproject.toml").exists():
        return tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"]
    return [line for line in (folder / "requirements.txt").read_text().splitlines() if re.match(r"\w", line)]


print("mcp 2.x is there:", Server("demo").name)
print("the checkout is of anybuild", tomllib.loads((SOURCE / "Cargo.toml").read_text())["package"]["version"])
for name in "python-mcp", "python-mcp-chatgpt":
    wanted = next(each for each in map(Requirement, asked_for(SOURCE / "examples" / name)) if each.name == "mcp")
    print(f"{name}: asks for {wanted}, which allows 2.x: {'yes' if wanted.specifier.contains('2.3.0') else 'no'}")
    tree = ast.parse((SOURCE / "examples" / name / "main.py").read_text(encoding="utf-8"))
    lines = [node for node in tree.body if re.search(r"(?m)^ *(from|import) mcp\b", ast.unparse(node))]
    try:
        exec(compile(ast.Module(lines, type_ignores=[]), f"{name}/main.py", "exec"), {})
        print(f"{name}: its imports work")
    except ImportError as error:
        print(f"{name}: `{ast.unparse(lines[0])}` fails, {type(error).__name__}")
