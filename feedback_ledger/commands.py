"""What each command does, from parsed arguments to an exit code."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from feedback_ledger import formats, ledger, osv, report, scaffold, unchanged
from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_captures
from feedback_ledger.errors import BadLedger, UsageError
from feedback_ledger.files import write_whole
from feedback_ledger.issue import TooLong, issue_address
from feedback_ledger.loader import Record
from feedback_ledger.options import Options
from feedback_ledger.outcome import Outcome
from feedback_ledger.progress import Progress
from feedback_ledger.show import list_text, matrix_text, show_text
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Ecosystem, Event, Verdict

if TYPE_CHECKING:
    from feedback_ledger.session import Session

FORMATS = ("text", "json", "junit", "github")
OK, NEEDS_A_PERSON, WRONG, NOT_JUDGED = 0, 1, 2, 3


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
        said = f"{rows}\nevidence: 0 written; {ledger.FEEDBACK}: unchanged\n"
        unchanged.remember(book.root, said, book.settings.workarounds)
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
    with contextlib.suppress(BrokenPipeError):  # what was found is no other because a reader has gone
        _print_check(book, outcomes, arguments.format)
    return _exit_code(outcomes, strict=arguments.strict)


def _print_check(book: Ledger, outcomes: Sequence[Outcome], form: str) -> None:
    match form:
        case "json":
            print(report.as_json(book.title, outcomes))
        case "junit":
            print(formats.as_junit(book.title, outcomes))
        case "github":
            said = formats.as_github(book.title, outcomes, _below_repository(book.root))
            sys.stdout.write(said.annotations)
            print(report.as_text(outcomes).replace("##[", "## ["))  # GitHub obeys `##[command]` anywhere in a line
            if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
                try:
                    with Path(summary).open("a", encoding="utf-8") as file:
                        file.write(said.summary)
                except OSError as error:
                    raise UsageError(f"GITHUB_STEP_SUMMARY cannot be written: {error.strerror}") from error
        case _:
            print(report.as_text(outcomes))


def _below_repository(root: Path) -> str:
    """The ledger's folder as annotations name it: from the root of the repository that is checked out."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace is None or not root.is_relative_to(Path(workspace).resolve()):
        return ""
    below = root.relative_to(Path(workspace).resolve())
    return "" if below == Path() else below.as_posix()


def sweep(arguments: argparse.Namespace) -> int:
    """run each finding on every published release of its target"""
    from feedback_ledger import sweep as sweeping  # noqa: PLC0415  what only sweeps need
    from feedback_ledger.amend import with_affected  # noqa: PLC0415
    from feedback_ledger.sweep_report import sweep_text  # noqa: PLC0415

    book = _good(arguments)
    records = _with_releases(book, arguments)
    over = sweeping.releases_of(book, records, arguments.releases)
    options = Options(jobs=arguments.jobs, fresh=arguments.fresh, resume=True)
    with _session(book, options) as session:
        rows = sweeping.sweep(session, book, records, over)
    print(sweep_text(rows))
    new = [row for row in rows if row.says_something_new and not row.unconfirmed]
    for row in new if arguments.write else ():
        path = row.record.path
        write_whole(path, with_affected(path.read_bytes().decode(), row.proposed))  # as read_text changes line ends
        print(f"written: {path.relative_to(book.root)}")
    left = [row for row in rows if row.unconfirmed or (row.says_something_new and not arguments.write)]
    return NEEDS_A_PERSON if left else OK


def _with_releases(book: Ledger, arguments: argparse.Namespace) -> list[Record]:
    """The findings that a sweep is about; of those that nobody named, only the ones whose target has releases."""
    records = ledger.select(book, arguments.ids, arguments.target)
    if arguments.ids or arguments.target:
        return records
    without = {Ecosystem.SERVICE, Ecosystem.COMMAND}
    return [r for r in records if book.target(r.finding).ecosystem not in without or book.target(r.finding).folders]


def bisect(arguments: argparse.Namespace) -> int:
    """find the releases in which the verdict on one finding changes, with the fewest runs"""
    from feedback_ledger import sweep as sweeping  # noqa: PLC0415  what only sweeps need
    from feedback_ledger.sweep_report import bisection_text  # noqa: PLC0415

    book = _good(arguments)
    record = ledger.select(book, [arguments.id])[0]
    over = sweeping.releases_of(book, [record], arguments.releases)[record.stem]
    with _session(book, Options(fresh=arguments.fresh, resume=True)) as session:
        found = sweeping.bisect(session, book, record, over, thorough=arguments.thorough)
    print(bisection_text(found))
    return OK if found.is_confirmed else NEEDS_A_PERSON


def export(arguments: argparse.Namespace) -> int:
    """print the public findings for other programs"""
    book = _good(arguments)
    sources = [
        osv.Source(
            record.finding,
            book.target(record.finding),
            current_captures(book, record)[0],
            str(record.reproducer.relative_to(book.root)),
        )
        for record in ledger.select(book, target=arguments.target)
    ]
    sys.stdout.write(osv.as_osv(sources))
    return OK


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
    records = ledger.select(book, target=arguments.target)
    print(matrix_text(book, records) if arguments.matrix else list_text(book, records))
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
        absent = judgement.verdict in (Verdict.GONE, Verdict.DRIFTED)
        said = "does not reproduce" if absent else "could not be judged"
        print(
            f"{record.finding.id} {said} on {where}: {judgement.verdict}{why}; nothing to file",
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
        raise UsageError(
            f'--url: the settings name no upstream for target {record.finding.target}, such as "owner/name"'
        )
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
    target = arguments.target
    if target is None and len(book.settings.targets) != 1:
        known = ", ".join(sorted(book.settings.targets)) or "a name of your own"
        raise UsageError(f"--target is missing; say what the finding is about: {known}")
    record, reproducer = ledger.start_finding(book, arguments.title, target or next(iter(book.settings.targets)))
    print(f"{record.relative_to(book.root)}\n{reproducer.relative_to(book.root)}")
    return OK


def schema(_: argparse.Namespace) -> int:
    """print the JSON Schema of a record, for editors"""
    sys.stdout.write(scaffold.schema_text())
    return OK


def _opened(arguments: argparse.Namespace) -> Ledger:
    try:
        root = arguments.root.resolve()
    except FileNotFoundError as error:
        raise UsageError("the working folder is gone; change to one that is there") from error
    return ledger.open_ledger(root)


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
    with _session(book, options) as session:
        return session.run(records)


@contextlib.contextmanager
def _session(book: Ledger, options: Options) -> Iterator[Session]:
    from feedback_ledger.session import Session  # noqa: PLC0415  what it takes to run things is slow to import

    progress = Progress(sys.stderr)
    try:
        with Session(book, options, datetime.date.today(), progress) as session:
            yield session
    finally:
        progress.clear()


def _exit_code(outcomes: Sequence[Outcome], *, strict: bool = False) -> int:
    events = {outcome.event for outcome in outcomes}
    if events & report.NEEDS_A_PERSON:
        return NEEDS_A_PERSON
    return NOT_JUDGED if strict and Event.NOT_JUDGED in events else OK


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": build,
    "run": run,
    "check": check,
    "render": render,
    "sweep": sweep,
    "bisect": bisect,
    "export": export,
    "list": list_,
    "show": show,
    "issue": issue,
    "doctor": doctor,
    "new": new,
    "schema": schema,
}
