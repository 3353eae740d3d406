"""Arguments in, exit code out."""

from __future__ import annotations

import argparse
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from feedback_ledger import __version__
from feedback_ledger.commands import COMMANDS, FORMATS, OK, WRONG
from feedback_ledger.errors import LedgerError, UsageError, in_words
from feedback_ledger.fields import MOST_RUNS, RELEASE

INTERRUPTED = 130
_MOST_JOBS = 1_000
"""Each takes a process; more would run out of them, or of memory, before anything was run."""
_PROGRAM = "feedback-ledger"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code that the contract gives."""
    signal.signal(signal.SIGTERM, _interrupt)
    # A large ledger is many small objects that all stay: searching them for garbage took a third of the time.
    gc.set_threshold(200_000, 20, 20)
    code = OK
    try:
        arguments = _parser().parse_args(_with_default(sys.argv[1:] if argv is None else list(argv)))
        code = int(arguments.command(arguments))
        sys.stdout.flush()
    except LedgerError as error:
        print(error, file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):  # a second one must not change how this one ends
            signal.signal(number, signal.SIG_IGN)
        print("interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(in_words(error), file=sys.stderr)
        return WRONG
    return code


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything else here does, and not below many of usage."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}")


def _with_default(argv: list[str]) -> list[str]:
    """No command means `build`. Raises UsageError for one that there is not."""
    _, words = _common().parse_known_args(argv)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        return ["build", *argv]
    if words[0] not in (*COMMANDS, "-h", "--help"):
        raise UsageError(f"{_PROGRAM}: no command {words[0]}; --help lists them")
    return argv


def _common() -> _Parser:
    """What may stand before a command."""
    parser = _Parser(prog=_PROGRAM, add_help=False)
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="DIR", help="the folder with findings/ (default: this one)"
    )
    return parser


def _parser() -> _Parser:
    parser = _Parser(
        prog=_PROGRAM,
        parents=[_common()],
        description="Findings about other people's software, kept true by running their reproducers.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    made = {name: commands.add_parser(name, help=f.__doc__, description=f.__doc__) for name, f in COMMANDS.items()}
    for name, sub in made.items():
        sub.set_defaults(command=COMMANDS[name])
        # people type it on either side of the command; left out here, it keeps what stood before
        sub.add_argument("--root", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    for name in ("run", "check"):
        made[name].add_argument("ids", nargs="*", metavar="ID", help="findings, such as F-029 (default: all)")
        made[name].add_argument("--target", metavar="T", help="only findings about this target")
        made[name].add_argument("--shard", type=_shard, metavar="I/N", help="the I-th of N parts of the findings")
        which = made[name].add_mutually_exclusive_group()
        which.add_argument("--release", type=_release, metavar="V", help="test this release of the target")
        which.add_argument("--latest", action="store_true", help="test the newest published release")
        made[name].add_argument("--runs", type=_up_to(MOST_RUNS), metavar="N", help="run each N times")
    for name in ("build", "run", "check", "sweep"):
        made[name].add_argument(
            "--jobs", type=_up_to(_MOST_JOBS), default=0, metavar="N", help="runs side by side (default: one a core)"
        )
    for name in ("build", "run"):
        made[name].add_argument("--fresh", action="store_true", help="run again what was already run here")
        made[name].add_argument(
            "--recapture", action="store_true", help="write evidence even if only dates or durations changed"
        )
    made["run"].add_argument("--keep-going", action="store_true", help="run the good records even if others are bad")
    made["check"].add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    made["check"].add_argument("--strict", action="store_true", help="fail also when something could not be judged")
    made["render"].add_argument("--check", action="store_true", help="only say whether FEEDBACK.md is stale")
    made["render"].add_argument("--draft", action="store_true", help="print it instead of writing it")
    made["list"].add_argument("--matrix", action="store_true", help="findings by releases, from stored evidence")
    for name in ("sweep", "bisect"):
        made[name].add_argument("--releases", type=_span, metavar="A..B", help="only these releases, ends included")
        made[name].add_argument("--fresh", action="store_true", help="run again what was already run here")
    made["sweep"].add_argument("ids", nargs="*", metavar="ID", help="findings (default: all)")
    made["sweep"].add_argument("--target", metavar="T", help="only findings about this target")
    made["sweep"].add_argument("--write", action="store_true", help="write what was seen into the records' `affected`")
    made["bisect"].add_argument("id", metavar="ID")
    made["bisect"].add_argument("--thorough", action="store_true", help="look inside long stretches of one verdict too")
    made["export"].add_argument("--format", choices=("osv",), required=True, help="the format")
    made["export"].add_argument("--target", metavar="T", help="only findings about this target")
    made["list"].add_argument("--target", metavar="T", help="only findings about this target")
    made["show"].add_argument("id", metavar="ID")
    made["issue"].add_argument("id", metavar="ID")
    made["issue"].add_argument(
        "--release",
        type=_release,
        metavar="V",
        help="on this release (default: the tested or, if fixed, the last affected)",
    )
    made["issue"].add_argument("--no-run", action="store_true", help="from stored evidence, without running anything")
    made["issue"].add_argument(
        "--url", action="store_true", help="print the address of a filled-in form instead of the text"
    )
    made["new"].add_argument("title", metavar="TITLE")
    made["new"].add_argument("--target", metavar="T", help="what it is about (default: the only target that there is)")
    return parser


def _up_to(most: int) -> Callable[[str], int]:
    def number(word: str) -> int:
        if not 1 <= _number(word) <= most:
            raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {most}, found {word!r}")
        return _number(word)

    return number


def _shard(word: str) -> tuple[int, int]:
    part, _, of = word.partition("/")
    if not 1 <= _number(part) <= _number(of):
        raise argparse.ArgumentTypeError(f"expected I/N with I from 1 to N, such as 2/4, found {word!r}")
    return _number(part), _number(of)


def _release(word: str) -> str:
    if not re.fullmatch(RELEASE, word):
        raise argparse.ArgumentTypeError(f"expected a release such as 1.2.3, found {word!r}")
    return word


def _span(word: str) -> str:
    low, dots, high = word.partition("..")
    if not dots or not (low or high):
        raise argparse.ArgumentTypeError(f"expected A..B, A.. or ..B, such as 0.2.0..0.4.0, found {word!r}")
    return word


def _number(word: str) -> int:
    """0 for whatever is no number that anybody could mean."""
    return int(word) if re.fullmatch("[0-9]{1,9}", word) else 0
