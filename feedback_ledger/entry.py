"""The console script: answers at once if a build has nothing to do, else starts the command line."""

from __future__ import annotations

import os
import sys

from feedback_ledger import unchanged


def main() -> int:
    """Runs one command; returns its exit code."""
    report = unchanged.last_report(sys.argv[1:])
    if report is not None:
        sys.stdout.write(report)
        return 0
    from feedback_ledger import cli  # noqa: PLC0415  slow to import

    code = cli.main()
    # Taking apart what a large ledger has in memory takes longer than writing its page, and nobody needs it.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
