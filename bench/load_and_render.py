"""Loading and rendering 1,000 findings with one evidence file each, against towncrier building 1,000 fragments."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.common import LEDGER, jobs, ratio, timed, write_ledger

COUNT = 1000
TOWNCRIER = [str(Path(sys.executable).with_name("towncrier")), "build", "--draft", "--version", "1.0.0"]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "theirs")
        write_ledger(ours, COUNT, "echo asked\necho late {number}\n")
        timed([*LEDGER, "build", "--jobs", str(jobs())], ours)
        (theirs / "news").mkdir(parents=True)
        (theirs / "towncrier.toml").write_text('[tool.towncrier]\nname = "thing"\ndirectory = "news"\n')
        for number in range(1, COUNT + 1):
            (theirs / "news" / f"{number}.bugfix").write_text(f"The thing number {number} no longer answers late.\n")

        def render() -> float:
            return timed([*LEDGER, "render", "--draft"], ours)

        def first_render() -> float:
            (ours / ".ledger" / "parsed.json").unlink(missing_ok=True)
            return render()

        def towncrier() -> float:
            return timed(TOWNCRIER, theirs)

        name = f"loading and rendering {COUNT:,} findings / towncrier with {COUNT:,} fragments"
        good = ratio(name, render, towncrier, 3.0)
        ratio(f"{name}, with nothing remembered", first_render, towncrier, 4.0)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
