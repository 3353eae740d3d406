"""`check` over 60 reproducers of 0.2 s, and a `build` with nothing changed, against the same scripts under xargs."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from bench.common import LEDGER, jobs, ratio, timed, write_ledger

PROGRAM = "echo asked\nsleep 0.2\necho late {number}\n"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_ledger(root, 60, PROGRAM)
        scripts = "".join(f"{path}\n" for path in sorted((root / "reproducers").iterdir()))
        side_by_side = str(jobs())

        def bare() -> float:
            return timed(["xargs", "-P", side_by_side, "-n", "1", "sh"], root, scripts)

        def check() -> float:
            return timed([*LEDGER, "check", "--jobs", side_by_side], root)

        def fresh_build() -> float:
            shutil.rmtree(root / ".ledger", ignore_errors=True)
            shutil.rmtree(root / "findings" / "evidence", ignore_errors=True)
            return timed([*LEDGER, "build", "--jobs", side_by_side], root)

        def idle_build() -> float:
            return timed([*LEDGER, "build"], root)

        good = ratio("check of 60 reproducers of 0.2 s / the same scripts under xargs -P", check, bare, 1.15)
        fresh_build()
        good &= ratio("build with nothing changed / fresh build", idle_build, fresh_build, 0.03, rounds=3)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
