"""Runs one process at a time under a supervisor (supervise.py), with limits, and says how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from feedback_ledger.supervise import remove

_SUPERVISE = Path(__file__).with_name("supervise.py")
_PATIENCE_S = 30.0
"""How much longer than a job's own limits its supervisor may take before it is given up."""

MOST_BYTES = 2 * 1024**3
"""A process that prints more than this to one stream is ended: it would fill the disk."""


@dataclass(frozen=True)
class Job:
    """What to run. Times in seconds; `folder` is removed if the ledger dies before the job ends."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    limit_s: float
    grace_s: float = 2.0
    most_bytes: int = MOST_BYTES
    folder: Path | None = None


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code (negative: a signal), which limit it hit (`time`, `bytes`) if any, and after
    how long.
    """

    status: int
    over: str | None
    duration_s: float


@dataclass(frozen=True)
class NotRun:
    """Why a process could not be started, or could not be watched to its end."""

    reason: str


class Interrupted(Exception):
    """The supervisor was closed while a job ran, as the ledger is about to end."""


class Supervisor:
    """A slot in which one process after another is run. Closing it from another thread ends what runs there."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._folder = ""

    @property
    def closed(self) -> bool:
        """Whether the ledger is about to end."""
        return self._closed

    def folder(self) -> Path:
        """A folder for its jobs to work in. It goes with the supervisor, even if the ledger is killed."""
        self._connected()
        return Path(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the supervisor, and with it the job that runs."""
        with self._lock:
            self._closed = True
            self._drop()

    def run(self, job: Job, stdout: IO[bytes], stderr: IO[bytes]) -> Ended | NotRun:
        """Runs one job to its end; raises Interrupted if the slot is closed meanwhile."""
        pid = None
        try:
            control = self._connected()
            control.settimeout(_PATIENCE_S)
            _send(control, job, stdout, stderr)
            lines = _Lines(control)
            first = lines.next()
            if "error" in first:
                return NotRun(str(first["error"]))
            pid = int(first["pid"])
            control.settimeout(job.limit_s + job.grace_s + _PATIENCE_S)
            last = lines.next()
        except (OSError, EOFError, ValueError):
            return self._lost(pid, job)
        if last["status"] is None:
            return NotRun("not even SIGKILL ended it")
        return Ended(int(last["status"]), last["over"], float(last["duration_s"]))

    def _connected(self) -> socket.socket:
        with self._lock:
            if self._closed:
                raise Interrupted
            if self._control is None:
                self._folder = tempfile.mkdtemp(prefix="ledger-")
                ours, theirs = socket.socketpair()
                with theirs:
                    self._process = subprocess.Popen(
                        [sys.executable, "-I", "-S", str(_SUPERVISE), self._folder],
                        stdin=theirs.fileno(),
                        stdout=subprocess.DEVNULL,
                        # a reproducer can read its parent's environment
                        env={"PATH": os.environ.get("PATH", os.defpath)},
                        start_new_session=True,
                    )
                self._control = ours
            return self._control

    def _lost(self, pid: int | None, job: Job) -> NotRun:
        """The supervisor itself is gone or does not answer: end its job by hand, and start afresh next time."""
        with self._lock:
            if self._closed:
                raise Interrupted
            if pid is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
            self._drop()
            if job.folder is not None:
                _end_all_in(job.folder)
        return NotRun("it killed the process that watches over it, or stopped it from answering")

    def _drop(self) -> None:
        control, process = self._control, self._process
        self._control = self._process = None
        if control is not None:
            with contextlib.suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)
            control.close()
        if process is not None:
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            remove(self._folder)


def _end_all_in(folder: Path) -> None:
    """Kills what was started with a home in `folder`. On Linux only; elsewhere there is no way to find it."""
    marker = f"HOME={folder}/".encode()
    until = time.monotonic() + _PATIENCE_S
    found = True
    while found and time.monotonic() < until:
        found = False
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if any(part.startswith(marker) for part in environ.read_bytes().split(b"\0")):
                    found = True
                    os.kill(int(environ.parent.name), signal.SIGKILL)


class _Lines:
    """JSON objects, one a line, from a socket."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._rest = b""

    def next(self) -> dict[str, Any]:
        while b"\n" not in self._rest:
            part = self._control.recv(65536)
            if not part:
                raise EOFError
            self._rest += part
        line, self._rest = self._rest.split(b"\n", 1)
        said = json.loads(line)
        if not isinstance(said, dict):
            raise ValueError("no object")
        return said


def _send(control: socket.socket, job: Job, stdout: IO[bytes], stderr: IO[bytes]) -> None:
    request = {
        "argv": job.argv,
        "cwd": str(job.cwd),
        "env": dict(job.env),
        "limit_s": job.limit_s,
        "grace_s": job.grace_s,
        "most_bytes": job.most_bytes,
        "folder": str(job.folder or ""),
    }
    data = json.dumps(request).encode() + b"\n"
    sent = socket.send_fds(control, [data], [stdout.fileno(), stderr.fileno()])
    control.sendall(data[sent:])


@dataclass(frozen=True)
class Said:
    """How a helper process ended, and what it printed, decoded."""

    ended: Ended | NotRun
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        """Whether it ran to its end with exit code 0."""
        return isinstance(self.ended, Ended) and self.ended.over is None and self.ended.status == 0


def ask(supervisor: Supervisor, job: Job) -> Said:
    """Runs a helper such as the installer, and returns what it printed."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        ended = supervisor.run(job, stdout, stderr)
        return Said(ended, _whole(stdout), _whole(stderr))


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(1024 * 1024).decode("utf-8", "replace")
