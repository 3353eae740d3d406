"""The console script: answers at once if a build has nothing to do, else starts the command line."""

from __future__ import annotations

import sys

from feedback_ledger import unchanged


def main() -> int:
    """Runs one command; returns its exit code."""
    report = unchanged.last_report(sys.argv[1:])
    if report is not None:
        sys.stdout.write(report)
        return 0
    from feedback_ledger import cli  # noqa: PLC0415  slow to import

    return cli.main()
