"""Arguments in, exit code out."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gc
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from feedback_ledger import __version__, ledger, report, scaffold, unchanged
from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.errors import BadLedger, LedgerError, UsageError
from feedback_ledger.issue import TooLong, issue_address
from feedback_ledger.loader import Record
from feedback_ledger.model import MOST_RUNS, Event, Verdict
from feedback_ledger.options import Options
from feedback_ledger.outcome import Outcome
from feedback_ledger.progress import Progress
from feedback_ledger.show import list_text, show_text
from feedback_ledger.verdict import judge

OK, NEEDS_A_PERSON, WRONG, NOT_JUDGED, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code that the contract gives."""
    signal.signal(signal.SIGTERM, _interrupt)
    # A large ledger is many small objects that all stay: searching them for garbage took a third of the time.
    gc.set_threshold(200_000, 20, 20)
    try:
        arguments = _parser().parse_args(_with_default(sys.argv[1:] if argv is None else list(argv)))
        return int(arguments.command(arguments))
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
        return OK


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything else here does, and not below many of usage."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}")


def _with_default(argv: list[str]) -> list[str]:
    """No command means `build`. Raises UsageError for one that there is not."""
    _, words = _common().parse_known_args(argv)
    command = next((word for word in words if not word.startswith("-")), None)
    if command is None:
        return [*argv, "build"]
    if command not in _COMMANDS:
        raise UsageError(f"{_PROGRAM}: no command {command}; --help lists them")
    return argv


def build(arguments: argparse.Namespace) -> int:
    """run what can run here, then render FEEDBACK.md"""
    book = _good(arguments)
    outcomes = _run(book, ledger.select(book), _options(arguments, write=True, also_known_bad=True))
    changed = ledger.write_feedback(book, ledger.feedback_text(book))
    ledger.remember(book)
    print(report.as_text(outcomes))
    written = sum(outcome.changed for outcome in outcomes)
    print(f"evidence: {written} written; {ledger.FEEDBACK}: {'written' if changed else 'unchanged'}")
    # What depends on this machine, such as a requirement that may be met tomorrow, is looked at every time.
    if all(outcome.event is Event.AS_RECORDED and not outcome.record.finding.requires for outcome in outcomes):
        rows = report.as_text([replace(outcome, fresh=False) for outcome in outcomes])
        unchanged.remember(book.root, f"{rows}\nevidence: 0 written; {ledger.FEEDBACK}: unchanged\n")
    else:
        unchanged.forget(book.root)
    return _exit_code(outcomes)


def run(arguments: argparse.Namespace) -> int:
    """run reproducers and write their evidence"""
    book = _opened(arguments)
    if not arguments.keep_going:
        ledger.require_good(book)
    records = ledger.select(book, arguments.ids, arguments.target, arguments.shard)
    outcomes = _run(book, records, _options(arguments, write=True, also_known_bad=not arguments.ids))
    print(report.as_text(outcomes))
    for problem in book.problems:
        print(problem, file=sys.stderr)
    return WRONG if book.problems else _exit_code(outcomes)


def check(arguments: argparse.Namespace) -> int:
    """run fresh, compare with the records, write nothing: CI's gate"""
    book = _good(arguments)
    _refuse_leaks_in_feedback(book)
    records = ledger.select(book, arguments.ids, arguments.target, arguments.shard)
    outcomes = _run(book, records, _options(arguments, write=False))
    print(report.as_json(book.title, outcomes) if arguments.format == "json" else report.as_text(outcomes))
    return _exit_code(outcomes, strict=arguments.strict)


def render(arguments: argparse.Namespace) -> int:
    """write FEEDBACK.md from records and evidence, without running anything"""
    book = _good(arguments)
    text = ledger.feedback_text(book)
    ledger.remember(book)
    if arguments.draft:
        sys.stdout.write(text)
        return OK
    if arguments.check:
        stale = ledger.feedback_is_stale(book, text)
        print(f"{ledger.FEEDBACK} is {'stale: run `feedback-ledger render`' if stale else 'up to date'}")
        return NEEDS_A_PERSON if stale else OK
    print(f"{ledger.FEEDBACK}: {'written' if ledger.write_feedback(book, text) else 'unchanged'}")
    return OK


def list_(arguments: argparse.Namespace) -> int:
    """list the findings, a line each"""
    book = _good(arguments)
    print(list_text(book, ledger.select(book, target=arguments.target)))
    return OK


def show(arguments: argparse.Namespace) -> int:
    """show one finding, and what is known of it on each release"""
    book = _good(arguments)
    print(show_text(book, ledger.select(book, [arguments.id])[0]))
    return OK


def issue(arguments: argparse.Namespace) -> int:
    """rerun one finding and print an issue that can be filed as it is"""
    book = _good(arguments)
    record = ledger.select(book, [arguments.id])[0]
    release = arguments.release or ledger.issue_release(book, record)
    where = f"{record.finding.target} {release}" if release else record.finding.target
    if arguments.no_run:
        evidence = current_captures(book, record)[0].get(release)
        if evidence is None:
            raise UsageError(f"{record.finding.id}: nothing is captured on {where}; run it, or leave --no-run out")
        judgement = judge(record.finding, evidence)
    else:
        outcome = _run(book, [record], Options(release=release, fresh=True, write=False))[0]
        evidence, judgement = outcome.evidence, outcome.judgement
    if evidence is None or judgement.verdict is not Verdict.REPRODUCES:
        why = f" ({judgement.reason})" if judgement.reason else ""
        print(
            f"{record.finding.id} does not reproduce on {where}: {judgement.verdict}{why}; nothing to file",
            file=sys.stderr,
        )
        return NEEDS_A_PERSON
    text = ledger.issue(book, record, evidence)
    if isinstance(text, TooLong):
        long = f"{text.characters:,} characters long even without output"
        print(f"{record.finding.id}: the issue is {long}; shorten the record or the reproducer", file=sys.stderr)
        return NEEDS_A_PERSON
    print(_address(book, record, text) if arguments.url else text, end="\n" if arguments.url else "")
    return OK


def _address(book: Ledger, record: Record, text: str) -> str:
    upstream = book.target(record.finding).upstream
    if upstream is None:
        raise UsageError(f'--url: the settings name no upstream = "owner/name" for target {record.finding.target}')
    return issue_address(upstream, record.finding.title, text)


def doctor(arguments: argparse.Namespace) -> int:
    """say what this machine has and lacks for running the ledger, and what is weak in it"""
    from feedback_ledger.doctor import diagnose  # noqa: PLC0415  what only this command needs

    book = _opened(arguments)
    text, sound = diagnose(book)
    print(text)
    return OK if sound else WRONG


def new(arguments: argparse.Namespace) -> int:
    """start a finding: a record and a reproducer with the next free number"""
    book = _opened(arguments)
    record, reproducer = ledger.start_finding(book, arguments.title, arguments.target)
    print(f"{record.relative_to(book.root)}\n{reproducer.relative_to(book.root)}")
    return OK


def schema(_: argparse.Namespace) -> int:
    """print the JSON Schema of a record, for editors"""
    sys.stdout.write(scaffold.schema_text())
    return OK


_COMMANDS = {
    "build": build,
    "run": run,
    "check": check,
    "render": render,
    "list": list_,
    "show": show,
    "issue": issue,
    "doctor": doctor,
    "new": new,
    "schema": schema,
}


_PROGRAM = "feedback-ledger"


def _common() -> _Parser:
    """What may stand before a command."""
    parser = _Parser(prog=_PROGRAM, add_help=False)
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--root", type=Path, default=Path.cwd(), metavar="DIR", help="the folder with findings/ (default: this one)"
    )
    return parser


def _parser() -> _Parser:
    parser = _Parser(
        prog=_PROGRAM,
        parents=[_common()],
        description="Findings about other people's software, kept true by running their reproducers.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    made = {name: commands.add_parser(name, help=f.__doc__, description=f.__doc__) for name, f in _COMMANDS.items()}
    for name, sub in made.items():
        sub.set_defaults(command=_COMMANDS[name])
    for name in ("run", "check"):
        made[name].add_argument("ids", nargs="*", metavar="ID", help="findings, such as F-029 (default: all)")
        made[name].add_argument("--target", metavar="T", help="only findings about this target")
        made[name].add_argument("--shard", type=_shard, metavar="I/N", help="the I-th of N parts of the findings")
        which = made[name].add_mutually_exclusive_group()
        which.add_argument("--release", metavar="V", help="test this release of the target")
        which.add_argument("--latest", action="store_true", help="test the newest published release")
        made[name].add_argument("--runs", type=_runs, metavar="N", help="run each N times")
    for name in ("build", "run", "check"):
        made[name].add_argument(
            "--jobs", type=_positive, default=0, metavar="N", help="runs side by side (default: one a core)"
        )
    for name in ("build", "run"):
        made[name].add_argument("--fresh", action="store_true", help="run again what was already run here")
        made[name].add_argument(
            "--recapture", action="store_true", help="write evidence even if only dates or durations changed"
        )
    made["run"].add_argument("--keep-going", action="store_true", help="run the good records even if others are bad")
    made["check"].add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print (default: text)"
    )
    made["check"].add_argument("--strict", action="store_true", help="fail also when something could not be judged")
    made["render"].add_argument("--check", action="store_true", help="only say whether FEEDBACK.md is stale")
    made["render"].add_argument("--draft", action="store_true", help="print it instead of writing it")
    made["list"].add_argument("--target", metavar="T", help="only findings about this target")
    made["show"].add_argument("id", metavar="ID")
    made["issue"].add_argument("id", metavar="ID")
    made["issue"].add_argument(
        "--release", metavar="V", help="on this release (default: the tested or, if fixed, the last affected)"
    )
    made["issue"].add_argument("--no-run", action="store_true", help="from stored evidence, without running anything")
    made["issue"].add_argument(
        "--url", action="store_true", help="print the address of a filled-in form instead of the text"
    )
    made["new"].add_argument("title", metavar="TITLE")
    made["new"].add_argument("--target", required=True, metavar="T", help="what it is about")
    return parser


def _positive(word: str) -> int:
    if _number(word) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {word!r}")
    return _number(word)


def _runs(word: str) -> int:
    if not 1 <= _number(word) <= MOST_RUNS:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {MOST_RUNS}, found {word!r}")
    return _number(word)


def _shard(word: str) -> tuple[int, int]:
    part, _, of = word.partition("/")
    if not 1 <= _number(part) <= _number(of):
        raise argparse.ArgumentTypeError(f"expected I/N with I from 1 to N, such as 2/4, found {word!r}")
    return _number(part), _number(of)


def _number(word: str) -> int:
    """0 for whatever is no number that anybody could mean."""
    return int(word) if re.fullmatch("[0-9]{1,9}", word) else 0


def _opened(arguments: argparse.Namespace) -> Ledger:
    return ledger.open_ledger(arguments.root.resolve())


def _good(arguments: argparse.Namespace) -> Ledger:
    book = _opened(arguments)
    ledger.require_good(book)
    return book


def _refuse_leaks_in_feedback(book: Ledger) -> None:
    problems = ledger.feedback_leaks(book)
    if problems:
        raise BadLedger(problems)


def _options(arguments: argparse.Namespace, *, write: bool, also_known_bad: bool = False) -> Options:
    given = vars(arguments)
    return Options(
        jobs=given.get("jobs", 0),
        release=given.get("release"),
        latest=given.get("latest", False),
        runs=given.get("runs"),
        fresh=not write or given.get("fresh", False) or given.get("recapture", False),
        recapture=given.get("recapture", False),
        write=write,
        also_known_bad=also_known_bad,
    )


def _run(book: Ledger, records: Sequence[Record], options: Options) -> list[Outcome]:
    from feedback_ledger.session import Session  # noqa: PLC0415  what it takes to run things is slow to import

    with _progress(len(records)) as progress, Session(book, options, datetime.date.today(), progress) as session:
        return session.run(records)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Progress]:
    progress = Progress(sys.stderr, total)
    try:
        yield progress
    finally:
        progress.clear()


def _exit_code(outcomes: Sequence[Outcome], *, strict: bool = False) -> int:
    events = {outcome.event for outcome in outcomes}
    if events & report.NEEDS_A_PERSON:
        return NEEDS_A_PERSON
    return NOT_JUDGED if strict and Event.NOT_JUDGED in events else OK
