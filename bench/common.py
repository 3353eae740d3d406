"""What the benchmarks share: throwaway ledgers, and whole processes timed in turn."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

LEDGER = [str(Path(sys.executable).with_name("feedback-ledger"))]

RECORD = """\
id: F-{number:03d}
title: The thing number {number} answers late
target: thing
area: api
nature: bug
severity: minor
status: open
affected: {{introduced: "1.0.0"}}
summary: |
  Asked for number {number}, the thing takes its time. This paragraph is about as long as what people write
  into a record, so that loading and rendering have something to do.
expected: |
  An answer within the time that was asked for.
actual: |
  The answer comes late.
impact: |
  Whoever waits, waits longer.
workaround: |
  Ask earlier.
proposed_fix: |
  Answer at once.
upstream: {{issue: null, fixed_by: null}}
origin: found
disclosure: public
requires: []
reproducer:
  timeout_s: 60
  signature:
    control: {{stdout: '^asked$'}}
    reproduces: {{exit: 0, stdout: '^late {number}$'}}
    gone: {{exit: 0, stdout: '^in time {number}$'}}
"""


def write_ledger(root: Path, count: int, program: str) -> None:
    """Writes a ledger of `count` findings that share one shell program, in which {number} is the finding's own."""
    for folder in ("findings", "reproducers"):
        (root / folder).mkdir(parents=True)
    (root / "ledger.toml").write_text('[targets.thing]\necosystem = "service"\nrelease = "1.0.0"\n')
    for number in range(1, count + 1):
        stem = f"F-{number:03d}-answers-late"
        (root / "findings" / f"{stem}.yaml").write_text(RECORD.format(number=number))
        (root / "reproducers" / f"{stem}.sh").write_text(program.format(number=number))


def timed(command: Sequence[str], cwd: Path, stdin: str | None = None) -> float:
    """Seconds that one process took; it must end with exit code 0."""
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, input=stdin, text=True, capture_output=True, check=False)
    took = time.perf_counter() - begun
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return took


def ratio(name: str, ours: Callable[[], float], theirs: Callable[[], float], most: float, rounds: int = 5) -> bool:
    """Measures both in turn, prints the median of each in seconds and of their ratios; whether it is at most `most`."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    median = statistics.median(a / b for a, b in pairs)
    a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
    verdict = "within" if median <= most else "OVER"
    print(f"{name}: {a:.3f} s against {b:.3f} s, ratio {median:.3f}, {verdict} {most:g} (median of {rounds} rounds)")
    return median <= most


def jobs() -> int:
    """As many runs side by side as there are cores."""
    return os.cpu_count() or 1
