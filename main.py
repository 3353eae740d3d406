"""The echo server: `python main.py`. Where it is deployed to, `main:app` is the ASGI app."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

if sys.version_info < (3, 11):  # noqa: UP036  for whoever runs this with another Python than the project's
    sys.exit("main.py: needs Python 3.11 or later; run `make setup`, then `.venv/bin/python main.py`")


def _set_up(missing: str | None) -> NoReturn:
    """In a clone whose `.venv` is still to be made: makes it, and goes on in there."""
    root = Path(__file__).resolve().parent
    python = root / ".venv" / "bin" / "python"
    if __name__ != "__main__" or python.exists() or not (root / "Makefile").exists() or not shutil.which("make"):
        sys.exit(f"main.py: the package {missing} is not here; run `make setup`, then `.venv/bin/python main.py`")
    print("main.py: what it needs is installed into .venv, once (make setup)", file=sys.stderr)
    if subprocess.run(["make", "--silent", "setup"], cwd=root, stdout=sys.stderr, check=False).returncode:
        sys.exit("main.py: make setup failed; see above")
    os.execv(python, [str(python), str(root / "main.py")])


try:
    import mcp as _mcp  # noqa: F401
    import pg8000 as _pg8000  # noqa: F401
    import uvicorn
except ModuleNotFoundError as missing:
    _set_up(missing.name)

from servers.edge.app import create_app, log_to_stderr
from servers.edge.patience import Connection
from servers.edge.settings import BadSetting, load
from servers.workarounds import BadVariable

log_to_stderr()
try:
    settings = load(os.environ)
    app = create_app(settings)
except (BadSetting, BadVariable) as bad:
    print(f"main.py: {bad}", file=sys.stderr)
    sys.exit(2)


def main() -> None:
    """Serves until SIGTERM or Ctrl-C; calls in progress are finished first."""
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        http=Connection,  # of h11: httptools keeps white space that ends a header
        ws="none",  # nothing here speaks it, so nothing here would check it
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=20,
    )


if __name__ == "__main__":
    main()
