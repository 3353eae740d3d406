"""From evidence and a signature to a verdict; from a verdict and a record to an event. Pure.

The rule behind every branch: what could not be judged is never called gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from feedback_ledger.fields import compiled
from feedback_ledger.model import Evidence, Finding, Judgement, Matcher, Observation, Reproducer, Signature
from feedback_ledger.ordering import comes_later, is_affected
from feedback_ledger.text import seen
from feedback_ledger.vocabulary import NONZERO, OUTPUT_LIMIT, TIMEOUT, Event, Status, Verdict

# How Python and Node name what went wrong; the line that does is seldom the last.
_ERROR = re.compile(r"(?:^|\s)[\w.]*(?:Error|Exception)(?: \[\w+\])?:")


def judge(finding: Finding, evidence: Evidence) -> Judgement:
    """The verdict of stored or fresh evidence, by the signature of the record as it is now."""
    return judge_runs(finding.reproducer, evidence.observations)


def judge_runs(reproducer: Reproducer, observations: Iterable[tuple[Observation, int]]) -> Judgement:
    """The verdict of one or several runs, given as distinct outcomes with the number of runs that ended so."""
    outcomes = [(judge_one(reproducer.signature, run), times) for run, times in observations]
    tally: Counter[Verdict] = Counter()
    for outcome, times in outcomes:
        tally[outcome.verdict] += times
    runs = tally.total()
    hits = tally[Verdict.REPRODUCES]
    broken = next((outcome for outcome, _ in outcomes if outcome.verdict is Verdict.BROKEN), None)
    if broken is not None:
        where = "" if runs == 1 else f" (in {tally[Verdict.BROKEN]} of {runs} runs)"
        return Judgement(Verdict.BROKEN, broken.reason + where, hits, runs)
    if reproducer.min_hits is not None and hits >= reproducer.min_hits:
        return Judgement(Verdict.REPRODUCES, "", hits, runs)
    if len(tally) == 1:
        return Judgement(outcomes[0][0].verdict, outcomes[0][0].reason, hits, runs)
    if hits == 0 and reproducer.min_hits is not None:
        return Judgement(Verdict.DRIFTED, f"{tally[Verdict.DRIFTED]} of {runs} runs matched neither", hits, runs)
    wanted = f", fewer than the {reproducer.min_hits} asked for" if reproducer.min_hits is not None else ""
    return Judgement(Verdict.FLAKY, f"{hits}/{runs} runs show it{wanted}", hits, runs)


def judge_one(signature: Signature, run: Observation) -> Judgement:
    """The verdict of a single run, in the order that the contract gives.

    Two cases are stricter than a plain reading of the order, as half of a run is no proof of a fix: one that failed is
    `gone` only if `gone` or `control` asks for that very exit, and so is one whose output was cut only if what was cut
    could not have shown the finding.
    """
    if run.exit == OUTPUT_LIMIT:
        return Judgement(Verdict.BROKEN, "it would not stop printing and was ended")
    if signature.control is not None and (why := unmet(signature.control, run)):
        return Judgement(Verdict.BROKEN, f"control does not hold: {why}{_ended(run)}")
    reproduces = not unmet(signature.reproduces, run)
    gone = signature.gone is not None and not unmet(signature.gone, run)
    match reproduces, gone:
        case True, True:
            return Judgement(Verdict.BROKEN, "the signature is ambiguous: reproduces and gone both hold")
        case True, False:
            return Judgement(Verdict.REPRODUCES)
        case False, True if not unmet(_where_uncut(signature.reproduces, run), run):
            return Judgement(Verdict.BROKEN, "gone holds, but output was cut, so it can't be said not to show it")
        case False, True if run.exit == 0 or _asks_for_exit(signature):
            return Judgement(Verdict.GONE)
    if run.exit == TIMEOUT:
        return Judgement(Verdict.BROKEN, f"hit its time limit after {run.duration_s:.1f} s")
    said = "gone holds, but for how it ended" if gone else "neither reproduces nor gone holds"
    return Judgement(Verdict.DRIFTED, said + _ended(run))


def _asks_for_exit(signature: Signature) -> bool:
    return any(matcher is not None and matcher.exit is not None for matcher in (signature.gone, signature.control))


def _where_uncut(matcher: Matcher, run: Observation) -> Matcher:
    """The matcher without its conditions on streams of which a part is missing."""
    cut = {"stdout": run.cut.stdout, "stderr": run.cut.stderr, "output": run.cut.stdout or run.cut.stderr}
    unknown = [name for name in cut if cut[name]]
    return matcher.model_copy(update=dict.fromkeys([*unknown, *(f"not_{name}" for name in unknown)]))


def _ended(run: Observation) -> str:
    """How a run ended, with its last words where it failed: what a reader looks for first."""
    if run.exit == TIMEOUT:
        return f"; it hit its time limit after {run.duration_s:.1f} s"
    if run.exit == 0:
        return "" if run.stdout or run.stderr else "; it printed nothing"
    lines = [line.strip() for line in seen(run.stderr).splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR.search(line)] or lines
    return f"; exit {run.exit}" + (f": {telling[-1][:200]}" if telling else "")


def unmet(matcher: Matcher, run: Observation) -> str:
    """The first condition of `matcher` that `run` does not meet, in words; empty if all hold.

    Where the middle of a stream was cut, nothing can be said to be absent from it, so `not_` conditions do not hold
    there.
    """
    if matcher.exit is not None and not _exit_matches(matcher.exit, run.exit):
        return f"exit is {run.exit}, not {matcher.exit}"
    stdout, stderr = _text(run.stdout), _text(run.stderr)
    for name, pattern, streams in (
        ("stdout", matcher.stdout, (stdout,)),
        ("stderr", matcher.stderr, (stderr,)),
        ("output", matcher.output, (stdout, stderr)),
    ):
        if pattern is not None and not any(compiled(pattern).search(stream) for stream in streams):
            return f"{name} lacks '{pattern}'"
    for name, pattern, streams, cut in (
        ("stdout", matcher.not_stdout, (stdout,), run.cut.stdout),
        ("stderr", matcher.not_stderr, (stderr,), run.cut.stderr),
        ("output", matcher.not_output, (stdout, stderr), run.cut.stdout or run.cut.stderr),
    ):
        if pattern is not None and any(compiled(pattern).search(stream) for stream in streams):
            return f"{name} has '{pattern}'"
        if pattern is not None and cut:
            return f"{name} was cut, so it can't be said to lack '{pattern}'"
    if matcher.min_duration_s is not None and run.duration_s < matcher.min_duration_s:
        return f"it took {run.duration_s:.1f} s, less than {matcher.min_duration_s:g} s"
    if matcher.max_duration_s is not None and run.duration_s > matcher.max_duration_s:
        return f"it took {run.duration_s:.1f} s, more than {matcher.max_duration_s:g} s"
    return ""


def _exit_matches(wanted: int | str, found: int | str) -> bool:
    if wanted == NONZERO:
        return found not in (0, TIMEOUT, OUTPUT_LIMIT)
    return wanted == found


def _text(stream: bytes) -> str:
    return stream.decode("utf-8", "backslashreplace")


def event_on(
    finding: Finding, release: str | None, judgement: Judgement, control: Judgement | None = None
) -> tuple[Event, str]:
    """The event of one release, and why.

    A release of which the record says that it came, or came back, only later need not show it; on those that the
    record calls affected, a fixed finding must.
    """
    if release is not None and judgement.verdict is Verdict.GONE and comes_later(finding, release):
        return Event.AS_RECORDED, "the record says that it came later"
    if release is not None and finding.status is Status.FIXED and is_affected(finding, release):
        if judgement.verdict is Verdict.GONE:
            return Event.GONE_UNCONFIRMED, f"the record calls {release} affected"
        return compare(Status.OPEN, judgement)
    return compare(finding.status, judgement, control)


def compare(status: Status, judgement: Judgement, control: Judgement | None = None) -> tuple[Event, str]:
    """What a verdict means against the record's status, and why.

    `control` is the verdict of the same reproducer, run in the same session on the last release known to be affected;
    only with a control that reproduces is an open finding called fixed.
    """
    match judgement.verdict:
        case Verdict.BLOCKED | Verdict.BROKEN:
            return Event.NOT_JUDGED, judgement.reason
        case Verdict.DRIFTED:
            return Event.DRIFTED, judgement.reason
        case Verdict.FLAKY:
            return Event.FLAKY, judgement.reason
        case Verdict.REPRODUCES:
            return (Event.REGRESSED if status is Status.FIXED else Event.AS_RECORDED), judgement.reason
        case Verdict.GONE:
            if status is not Status.OPEN:
                return Event.AS_RECORDED, judgement.reason
            if control is None:
                return (
                    Event.GONE_UNCONFIRMED,
                    "no older release is known to be affected, so no control run was possible",
                )
            if control.verdict is Verdict.REPRODUCES:
                return Event.FIXED_UPSTREAM, ""
            why = f": {control.reason}" if control.reason else ""
            return (
                Event.GONE_UNCONFIRMED,
                f"the control run did not reproduce it but read {control.verdict}{why}",
            )
    assert_never(judgement.verdict)
