"""Runs findings side by side and says what came of each. One session shares its environments, fixtures and
supervisors.
"""

from __future__ import annotations

import datetime
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Self

from feedback_ledger import releases
from feedback_ledger.book import Ledger
from feedback_ledger.captures import current_of
from feedback_ledger.compare import same_facts
from feedback_ledger.environment import Environments
from feedback_ledger.fixtures import Fixtures
from feedback_ledger.gathering import Enough, grouped, rate_of, too_quiet
from feedback_ledger.history import chance_of_silence
from feedback_ledger.loader import Record
from feedback_ledger.model import Evidence, Judgement
from feedback_ledger.notes import Notes
from feedback_ledger.options import Options
from feedback_ledger.ordering import in_order, is_older
from feedback_ledger.outcome import Outcome
from feedback_ledger.processes import Supervisor
from feedback_ledger.runner import Capture, NotCaptured, Runner
from feedback_ledger.verdict import event_on, judge, unmet
from feedback_ledger.vocabulary import Event, Status, Verdict

Listener = Callable[[str, str], None]
"""Hears what is being done: `(what, about which finding)`; `what` is "due", "start" or "done"."""


class Session:
    """One process's worth of running: environments, fixtures and supervisors are shared by all its runs."""

    def __init__(
        self, ledger: Ledger, options: Options, today: datetime.date, listen: Listener = lambda *_: None
    ) -> None:
        self._ledger = ledger
        self._options = options
        self._today = today
        self._listen = listen
        self._jobs = options.jobs or os.cpu_count() or 1
        self._supervisors = [Supervisor() for _ in range(self._jobs)]
        self._idle: queue.SimpleQueue[Supervisor] = queue.SimpleQueue()
        for supervisor in self._supervisors:
            self._idle.put(supervisor)
        self._fixtures = Fixtures(ledger.root, ledger.settings.fixtures)
        environments = Environments(ledger.root / ".ledger" / "environments", ledger.redactor)
        self._runner = Runner(ledger.root, ledger.settings, environments, self._fixtures, ledger.redactor)
        self._notes = Notes(ledger)
        self._latest: dict[str, str | None] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_runs()
        self._fixtures.close()

    def run(self, records: Sequence[Record]) -> list[Outcome]:
        """Runs each record on the releases that are due: the one asked for or tested, and its control where one is
        claimed to be fixed.
        """
        pairs = [(record, release) for record in records for release in self._releases(record)]
        return self._heard_out(self.run_on(pairs))

    def _heard_out(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Runs anew what was quiet in too few runs, as only a run beside it has told how seldom the finding shows."""
        seen: dict[str, dict[str | None, Evidence]] = {}
        for one in outcomes:
            if one.evidence is not None:
                seen.setdefault(one.record.stem, {})[one.release] = one.evidence
        quiet = [one for one in outcomes if too_quiet(one.judgement, rate_of(seen.get(one.record.stem, {})))]
        again = iter(self.rerun([(one.record, one.release) for one in quiet]))
        return [next(again) if one in quiet else one for one in outcomes]

    def run_on(self, pairs: Sequence[tuple[Record, str | None]], *, controls: bool = True) -> list[Outcome]:
        """Runs records on releases, side by side where they may be; the outcomes in the order of the pairs."""
        known = {record.stem: self._ledger.store.read_all(record.stem, record.finding.target) for record, _ in pairs}
        current = {record.stem: current_of(record, known[record.stem]) for record, _ in pairs}
        due = [
            _Due(record, release, known[record.stem].get(release), current[record.stem], controls)
            for record, release in pairs
        ]
        for one in due:
            self._listen("due", one.record.finding.id)
        done: dict[_Due, Outcome] = {}
        together = sorted((one for one in due if not one.alone), key=lambda one: -one.expected_s)
        for group in (together, *([one] for one in due if one.alone)):
            done |= self._side_by_side(group)
        return [done[one] for one in due]

    def rerun(self, pairs: Sequence[tuple[Record, str | None]]) -> list[Outcome]:
        """Runs records on releases now, even if they were run before."""
        self._options, options = replace(self._options, fresh=True), self._options
        try:
            return self.run_on(pairs, controls=False)
        finally:
            self._options = options

    def _side_by_side(self, group: Sequence[_Due]) -> dict[_Due, Outcome]:
        """Longest first, so that the last to end is a short one."""
        with ThreadPoolExecutor(self._jobs) as pool:
            futures = {one: pool.submit(self._one, one) for one in group}
            try:
                return {one: future.result() for one, future in futures.items()}
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._end_runs()
                raise

    def _end_runs(self) -> None:
        for supervisor in self._supervisors:
            supervisor.close()

    def _releases(self, record: Record) -> list[str | None]:
        """The releases to run: the one asked for or tested; for a fixed finding also the last that showed it."""
        due = [self._release(record)]
        if self._options.also_known_bad and record.finding.status is Status.FIXED and self._options.release is None:
            due += record.finding.known_bad[:1]
        return list(dict.fromkeys(due))

    def _release(self, record: Record) -> str | None:
        if self._options.release is not None:
            return self._options.release
        target = self._ledger.target(record.finding)
        if not self._options.latest:
            return releases.tested(target)
        name = record.finding.target
        with self._lock:
            if name not in self._latest:
                self._latest[name] = releases.latest(name, target)
            return self._latest[name]

    def _one(self, due: _Due) -> Outcome:
        self._listen("start", due.record.finding.id)
        outcome = self._as_it_was(due) or self._as_it_is(due)
        self._listen("done", due.record.finding.id)
        return outcome

    def _as_it_was(self, due: _Due) -> Outcome | None:
        """What a run here has shown before, where nothing has changed since that calls for another."""
        record, release, known = due.record, due.release, due.known
        if known is None or self._options.fresh or not self._notes.up_to_date(record, release, known):
            return None
        judgement = judge(record.finding, known)
        event, reason = event_on(record.finding, release, judgement)
        if not self._options.resume and (event is not Event.AS_RECORDED or too_quiet(judgement, rate_of(due.current))):
            return None
        return Outcome(record, release, judgement, event, reason, known.duration_s, known, known, known, fresh=False)

    def _as_it_is(self, due: _Due) -> Outcome:
        supervisor = self._idle.get()
        try:
            outcome = self._run_now(due, due.release, due.known, supervisor)
            if due.controls and outcome.event is Event.GONE_UNCONFIRMED and due.record.finding.status is Status.OPEN:
                outcome = self._with_control(outcome, due, supervisor)
        finally:
            self._idle.put(supervisor)
        return outcome if not self._options.write else self._written(outcome)

    def _run_now(
        self,
        due: _Due,
        release: str | None,
        known: Evidence | None,
        supervisor: Supervisor,
        *,
        is_control: bool = False,
    ) -> Outcome:
        record, finding = due.record, due.record.finding
        rate = rate_of(due.current)
        runs = self._options.runs or finding.reproducer.runs
        more = Enough(finding.reproducer, runs, not self._options.write and not is_control, rate).more
        captured = self._runner.capture(record, self._ledger.target(finding), release, supervisor, more)
        if isinstance(captured, NotCaptured):
            judgement = Judgement(captured.verdict, captured.reason)
            return Outcome(record, release, judgement, Event.NOT_JUDGED, captured.reason, stored=known)
        evidence = self._evidence(record, release, captured)
        judgement = judge(finding, evidence)
        event, reason = event_on(finding, release, judgement)
        if event is Event.DRIFTED and (hider := self._hider(record, evidence)):
            reason = f"{reason}; may be hidden by {hider}"
        reason = _with_chance(reason, judgement, rate)
        took = sum(run.duration_s for run in captured.runs)
        return Outcome(record, release, judgement, event, reason, took, evidence, known, due.baseline)

    def _hider(self, record: Record, evidence: Evidence) -> str | None:
        """Another finding about the same target that the output shows: it may have come first and hidden this one."""
        run = evidence.observations[0][0]
        for other in self._ledger.records:
            same_target = other.finding.target == record.finding.target and other.stem != record.stem
            if same_target and not unmet(other.finding.reproducer.signature.reproduces, run):
                return other.finding.id
        return None

    def _evidence(self, record: Record, release: str | None, captured: Capture) -> Evidence:
        shown, others, hits = grouped(captured.runs, record.finding.reproducer.signature)
        return Evidence(
            finding=record.stem,
            target=record.finding.target,
            release=release,
            captured=self._today,
            command=captured.command,
            reproducer_sha256=captured.reproducer_sha256,
            versions=captured.versions,
            runs=len(captured.runs),
            hits=hits,
            others=others,
            **dict(shown),
        )

    def _with_control(self, outcome: Outcome, due: _Due, supervisor: Supervisor) -> Outcome:
        """Runs the same reproducer on the last release known to be affected: only if it still shows there, here, it
        is fixed.
        """
        known_bad = control_release(outcome.record, outcome.release, due.current)
        if known_bad is None:
            return outcome
        control = self._run_now(due, known_bad, None, supervisor, is_control=True)
        shown = control.evidence
        current = {**due.current, known_bad: shown} if shown else due.current
        if too_quiet(outcome.judgement, rate_of(current)):  # only the control run has told how seldom it shows
            outcome = self._run_now(replace(due, current=current), outcome.release, outcome.stored, supervisor)
            if outcome.judgement.verdict is not Verdict.GONE:
                return outcome
        seen = outcome.evidence
        if seen and shown and seen.reproducer_sha256 != shown.reproducer_sha256:
            return replace(outcome, reason="the reproducer was edited beside the control run, which so tells nothing")
        event, reason = event_on(outcome.record.finding, outcome.release, outcome.judgement, control.judgement)
        return replace(
            outcome,
            event=event,
            reason=_with_chance(reason, outcome.judgement, rate_of(current)),
            control=(known_bad, control.judgement),
            baseline=shown or outcome.baseline,
        )

    def _written(self, outcome: Outcome) -> Outcome:
        """Writes what a reader would care about; evidence that was judged is never replaced by a run that broke."""
        new, old = outcome.evidence, outcome.stored
        if new is None:
            return outcome
        if old is not None:
            before = judge(outcome.record.finding, old)
            stale = old.reproducer_sha256 != new.reproducer_sha256
            if outcome.judgement.verdict is Verdict.BROKEN and before.verdict is not Verdict.BROKEN and not stale:
                return outcome
            news = self._options.recapture or new.runs > old.runs  # more runs tell more
            if same_facts(old, new) and before.verdict is outcome.judgement.verdict and not news:
                self._notes.remember(outcome.record, outcome.release, old)
                return replace(outcome, evidence=old)
        self._ledger.store.write(new)
        self._notes.remember(outcome.record, outcome.release, new)
        return replace(outcome, changed=True)


def _with_chance(reason: str, judgement: Judgement, rate: tuple[int, int] | None) -> str:
    """For a flaky finding that is gone, also how likely it is that it only kept quiet."""
    if judgement.verdict is not Verdict.GONE or rate is None:
        return reason
    chance = chance_of_silence(*rate, judgement.runs)
    seen = f"seen in {rate[0]} of {rate[1]} runs before"
    quiet = f"{seen}; that all {judgement.runs} runs miss it has a chance of {chance:.2%}"
    return f"{reason}; {quiet}" if reason else quiet


@dataclass(frozen=True, eq=False)
class _Due:
    """One record on one release, the evidence stored of it, and all that there is of the reproducer as it is now."""

    record: Record
    release: str | None
    known: Evidence | None
    current: Mapping[str | None, Evidence]
    controls: bool = True

    @property
    def baseline(self) -> Evidence | None:
        """What to hold a capture against: that of the same release, else of the last one that showed the finding."""
        last_bad = in_order(known_to_show(self.record, self.current))[-1:]
        return next((self.current[each] for each in (self.release, *last_bad) if each in self.current), None)

    @property
    def alone(self) -> bool:
        return self.record.finding.reproducer.serial

    @property
    def expected_s(self) -> float:
        return self.known.duration_s * self.known.runs if self.known else self.record.finding.reproducer.timeout_s


def control_release(record: Record, tested: str | None, current: Mapping[str | None, Evidence]) -> str | None:
    """The last release before the tested one that the record or stored evidence knows to be affected: one that came
    later can't tell whether anything was fixed.
    """
    before = [each for each in known_to_show(record, current) if tested is None or is_older(each, tested)]
    return in_order(before)[-1] if before else None


def known_to_show(record: Record, current: Mapping[str | None, Evidence]) -> set[str]:
    """Every release that the record or stored evidence knows to be affected."""
    seen = {
        release
        for release, evidence in current.items()
        if release is not None and judge(record.finding, evidence).verdict is Verdict.REPRODUCES
    }
    return {*record.finding.known_bad} | seen
