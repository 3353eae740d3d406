"""What became of a command, in words."""

from dataclasses import dataclass

from servers.sandbox.execution import Execution
from servers.sandbox.limits import Limits
from servers.sandbox.outcome import Files, Outcome, Ran

MOST_NAMED = 5


@dataclass(frozen=True)
class Fate:
    """What became of the workspace, and which links in it could not be carried over."""

    files: Files
    lost: tuple[str, ...] = ()


def told(execution: Execution, fate: Fate, limits: Limits) -> Ran:
    """What its caller is told of a command that ran."""
    ended, heard = execution.ended, execution.heard
    return Ran(
        outcome=execution.outcome,
        exit_code=None if ended is None else ended.exit_code,
        exit_code_is_exact=ended is None or ended.exit_code is None or ended.exact,
        stdout=bytes(heard.stdout),
        stderr=bytes(heard.stderr),
        stdout_bytes=len(heard.stdout) if ended is None else ended.stdout_bytes,
        stderr_bytes=len(heard.stderr) if ended is None else ended.stderr_bytes,
        duration_s=execution.duration_s,
        files=fate.files,
        note=_note(execution, fate, limits),
    )


def _note(execution: Execution, fate: Fate, limits: Limits) -> str:
    """What a reader has to know beyond the exit code, in words; empty for an ordinary run."""
    said = []
    match execution.outcome:
        case Outcome.EXITED:
            pass
        case Outcome.TRAPPED:
            assert execution.ended is not None
            said.append(f"The program was ended by a trap: {execution.ended.detail}.")
        case Outcome.TIMED_OUT:
            said.append("The time was over and the program was stopped; what it wrote until then is above.")
        case Outcome.OUT_OF_MEMORY:
            said.append(f"The program made its sandbox hold more than {limits.worker_bytes:,} bytes and was ended.")
        case Outcome.CRASHED:
            said.append(f"The program took its sandbox down ({execution.lost}); a new one takes its place.")
    said += _cut(execution)
    if execution.usage.over:
        said.append(f"The workspace went over a limit: {execution.usage.over}.")
    if fate.files is Files.RESTORED:
        said.append("The files in /workspace are as they were before this call; what it wrote there is lost.")
    elif execution.outcome is Outcome.TIMED_OUT:
        said.append("The files in /workspace are as it left them.")
    if fate.lost:
        more = f" and {len(fate.lost) - MOST_NAMED:,} more" if len(fate.lost) > MOST_NAMED else ""
        said.append(f"Links are lost: {' '.join(fate.lost[:MOST_NAMED])}{more}")
    return " ".join(said)


def _cut(execution: Execution) -> list[str]:
    heard, ended = execution.heard, execution.ended
    if ended is None:
        return []
    streams = ("stdout", heard.stdout, ended.stdout_bytes), ("stderr", heard.stderr, ended.stderr_bytes)
    return [
        f"Of {name} the first {len(shown):,} of {written:,} bytes are shown; print less, or to a file."
        for name, shown, written in streams
        if written > len(shown)
    ]
