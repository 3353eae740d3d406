"""The program that stands between the ledger and a reproducer: starts it, limits it, and leaves nothing of it behind.

It runs as a process of its own, in a session of its own, with the standard library only, one job at a time. Its
standard input is a socket to the ledger. When that closes, whatever the reason, the job is killed with everything it
started: even SIGKILL of the ledger leaves no orphan. And a reproducer that kills its parent's whole process group hits
this program, not the ledger.

A request is one JSON object with two file descriptors, for the job's standard output and error:
    {"argv": [...], "cwd": ..., "env": {...}, "limit_s": ..., "grace_s": ..., "most_bytes": ..., "folder": ...}
The answers are two lines of JSON: {"pid": ...}, then {"status": ..., "over": null | "time" | "bytes", "duration_s":
...}; or just {"error": ...}. `folder` is removed if the ledger is gone before the job ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_LOOK_S = 0.25
_REAP_S = 10.0
_LARGEST_REQUEST = 4 * 1024 * 1024


def remove(folder: str) -> None:
    """Removes a folder, whatever was done to the permissions in it and however deep it is. Nothing outside is
    touched.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if Path(folder).is_symlink():
        Path(folder).unlink(missing_ok=True)
    elif Path(folder).exists():
        # both walk without following links, and without recursion
        for tool in (["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]):
            subprocess.run(
                tool, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )


class _LedgerGone(Exception):
    """The other end of the socket is closed."""


def _adopt_orphans() -> None:
    """On Linux, what a job leaves behind becomes a child of this process, so that it can be found and killed."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  other systems may lack it

    set_child_subreaper = 36
    ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0)


def _heed_all_signals() -> None:
    """What whoever started the ledger ignores, as a shell does for jobs in its background, a job would ignore too.

    SIGPIPE and SIGXFSZ are Python's own doing, which it takes back in every process that it starts.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            with contextlib.suppress(OSError):
                signal.signal(number, signal.SIG_DFL)


def _wake_on_signals() -> int:
    """A descriptor that becomes readable when a child ends. Nothing but the socket ends this program, so signals only
    wake it.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return reading


def _receive(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, fds = b"", list[int]()
    while not data.endswith(b"\n"):
        part, more, _, _ = socket.recv_fds(control, 65536, 2)
        if not part or len(data) > _LARGEST_REQUEST:
            raise _LedgerGone
        data += part
        fds += more
    return json.loads(data), fds


def _answer(control: socket.socket, **said: Any) -> None:
    try:
        control.sendall(json.dumps(said).encode() + b"\n")
    except OSError as error:
        raise _LedgerGone from error


class _Job:
    """One process with all that it starts."""

    def __init__(self, pid: int, wake: int, control: socket.socket) -> None:
        self.pid = pid
        self.status: int | None = None
        self._wake = wake
        self._control = control

    def reap(self) -> bool:
        """Collects every child that has ended; whether any are left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def wait(self, until: float) -> None:
        """Returns when the job's first process has ended, or at the time given."""
        self.reap()
        while self.status is None and (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([self._wake, self._control.fileno()], [], [], left)
            if self._control.fileno() in ready and not self._control.recv(1, socket.MSG_PEEK):
                raise _LedgerGone
            if self._wake in ready:
                os.read(self._wake, 4096)
            self.reap()

    def signal_group(self, number: signal.Signals) -> None:
        """To every process that is still in the job's own group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def end(self) -> None:
        """Kills whatever is left of it, those included that went into sessions of their own."""
        self.signal_group(signal.SIGKILL)
        until = time.monotonic() + _REAP_S
        while self.reap() and time.monotonic() < until:
            for pid in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)


def _children() -> list[int]:
    """The processes whose parent this one is."""
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    except OSError:
        return []
    return [int(pid) for pid in listed.split()]


def _run(request: dict[str, Any], fds: list[int], wake: int, control: socket.socket) -> None:
    try:
        started = time.monotonic()
        process = subprocess.Popen(
            request["argv"],
            cwd=request["cwd"],
            env=request["env"],
            stdin=subprocess.DEVNULL,
            stdout=fds[0],
            stderr=fds[1],
            start_new_session=True,
        )
    except OSError as error:
        _answer(control, error=_why(error, request))
        return
    process.returncode = 0  # it is collected by `reap`, so Popen must not try
    job = _Job(process.pid, wake, control)
    try:
        _answer(control, pid=job.pid)
        over = _watch(job, request, fds, started)
        duration = time.monotonic() - started
    except _LedgerGone:
        job.end()
        if request["folder"]:
            remove(request["folder"])
        raise
    job.end()
    _answer(control, status=job.status, over=over, duration_s=duration)


def _why(error: OSError, request: dict[str, Any]) -> str:
    """Why a program could not be started. The system says the same of a missing interpreter as of a missing program."""
    program = Path(request["cwd"], request["argv"][0])
    if isinstance(error, FileNotFoundError) and "/" in request["argv"][0] and program.is_file():
        with program.open("rb") as file:
            first = file.readline(256).decode("utf-8", "replace").strip()
        return f"its interpreter is not here: {first}"
    return f"{error.strerror}: {error.filename or request['argv'][0]}"


def _watch(job: _Job, request: dict[str, Any], fds: list[int], started: float) -> str | None:
    """Waits for the job; at a limit asks it to end, then kills it. Returns which limit it was, if any."""
    limit = started + request["limit_s"]
    over = None
    while job.status is None and over is None:
        job.wait(min(limit, time.monotonic() + _LOOK_S))
        if job.status is None and any(os.fstat(fd).st_size > request["most_bytes"] for fd in fds):
            over = "bytes"
        elif job.status is None and time.monotonic() >= limit:
            over = "time"
    if over is not None:
        job.signal_group(signal.SIGTERM)
        job.wait(time.monotonic() + request["grace_s"])
        job.signal_group(signal.SIGKILL)
        job.wait(time.monotonic() + _REAP_S)
    elif time.monotonic() > limit:
        over = "time"  # it ended before we came to look, but not in time
    return over


def main() -> None:
    """Serves jobs until the ledger closes the socket."""
    _adopt_orphans()
    _heed_all_signals()
    wake = _wake_on_signals()
    control = socket.socket(fileno=0)
    with contextlib.suppress(_LedgerGone, ConnectionError):
        while True:
            request, fds = _receive(control)
            try:
                _run(request, fds, wake, control)
            finally:
                for fd in fds:
                    os.close(fd)
    remove(sys.argv[1])


if __name__ == "__main__":
    main()
