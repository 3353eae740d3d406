"""The console script: answers at once if a build has nothing to do, else starts the command line."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from feedback_ledger import unchanged


def main() -> NoReturn:
    """Runs one command and ends with its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this, as `>&-` does
            setattr(sys, name, open(os.devnull, "w"))
        getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        code = _run()
    except KeyboardInterrupt:
        print("interrupted before anything was begun", file=sys.stderr)
        code = 130
    # Taking apart what a large ledger has in memory takes longer than writing its page, and nobody needs it.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            pass
        except OSError:
            code = code or 2
    os._exit(code)


def _run() -> int:
    report = unchanged.last_report(sys.argv[1:])
    if report is not None:
        sys.stdout.write(report)
        return 0
    from feedback_ledger import cli  # noqa: PLC0415  slow to import

    return cli.main()
