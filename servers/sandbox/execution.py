"""One command on one worker, under limits. Ends with what was heard, whatever the guest did."""

import asyncio
import time
from dataclasses import dataclass, field

from servers.refusal import Refusal
from servers.sandbox.limits import Limits
from servers.sandbox.messages import Ended, Output, Part, Refused, Run, Stop, Usage
from servers.sandbox.outcome import Outcome
from servers.sandbox.process import Worker, WorkerDied

LOOK_S = 0.05
GRACE_S = 3.0


@dataclass
class Heard:
    """What a guest wrote so far, up to a limit for each stream. Stays, even if nothing more comes."""

    limit: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)

    def __call__(self, part: Part) -> None:
        """Takes a part of the answer."""
        if isinstance(part, Output):
            kept = self.stdout if part.stream == "stdout" else self.stderr
            kept += part.data[: max(0, self.limit - len(kept))]


@dataclass(frozen=True)
class Execution:
    """How it went. `ended` is None if the worker was lost with the guest; `lost` then says how."""

    outcome: Outcome
    heard: Heard
    ended: Ended | None
    duration_s: float
    lost: str = ""

    @property
    def usage(self) -> Usage:
        """What the workspace holds now, as far as is known."""
        return Usage(0, 0) if self.ended is None else self.ended.usage


async def execute(worker: Worker, request: Run, time_s: float, limits: Limits) -> Execution | Refusal:
    """Runs a command until it ends, its time is over, or it takes too much memory."""
    heard, began = Heard(limits.output_bytes), time.monotonic()
    answer = asyncio.create_task(worker.ask(request, heard))
    outcome = None
    while not answer.done():
        left = began + time_s - time.monotonic()
        if left <= 0:
            outcome = Outcome.TIMED_OUT
            break
        await asyncio.wait({answer}, timeout=min(LOOK_S, left))
        if not answer.done() and worker.memory_bytes() > limits.worker_bytes:
            outcome = Outcome.OUT_OF_MEMORY
            break
    if outcome is Outcome.TIMED_OUT:
        await stop(worker)
    duration_s = time.monotonic() - began
    if outcome is Outcome.OUT_OF_MEMORY or not answer.done():
        answer.cancel()
        return Execution(outcome or Outcome.CRASHED, heard, None, duration_s, "its worker had to be ended")
    try:
        ended = answer.result()
    except WorkerDied as error:
        return Execution(outcome or Outcome.CRASHED, heard, None, duration_s, str(error))
    if isinstance(ended, Refused):
        return Refusal(ended.code, ended.message, ended.hint)
    assert isinstance(ended, Ended), ended
    how = Outcome.TRAPPED if ended.how == "trapped" else Outcome.EXITED
    return Execution(outcome or how, heard, ended, duration_s)


async def stop(worker: Worker) -> None:
    """Stops the guest in progress, and waits a little for the worker to say so."""
    if worker.busy and worker.alive:
        # Telling it may take for ever as well: one that hangs does not read.
        stopping = asyncio.ensure_future(_stop(worker))
        await asyncio.wait({stopping}, timeout=GRACE_S)
        if not stopping.done():
            stopping.cancel()
        elif not stopping.cancelled():
            stopping.exception()


async def _stop(worker: Worker) -> None:
    await worker.tell(Stop())
    await worker.settle()
