"""Starts and stops the real servers that runs ask for: each once, at its first use."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Self

from feedback_ledger.processes import Interrupted, Job, NotRun, Supervisor
from feedback_ledger.targets import Fixture

_FOREVER_S = 7 * 86_400.0
_LOOK_S = 0.05


class Fixtures:
    """The servers of one session. Closing it ends them all."""

    def __init__(self, root: Path, defined: Mapping[str, Fixture]) -> None:
        self._root = root
        self._defined = defined
        self._running: dict[str, _Server] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends every server that was started."""
        for server in list(self._running.values()):
            server.close()

    def exports(self, name: str) -> Mapping[str, str] | NotRun:
        """The variables that a run is given to reach a fixture, started if need be; or why it would not start."""
        with self._lock:
            if name not in self._running:
                self._running[name] = _Server(self._root, self._defined[name])
            server = self._running[name]
        return server.exports()


class _Server:
    def __init__(self, root: Path, fixture: Fixture) -> None:
        self._fixture = fixture
        self._port = str(_free_port())
        self._folder = Path(tempfile.mkdtemp(prefix="ledger-fixture-"))
        self._supervisor = Supervisor()
        self._stdout = tempfile.TemporaryFile()
        self._stderr = tempfile.TemporaryFile()
        self._ended: NotRun | None = None
        given = {key: self._filled(value) for key, value in fixture.env.items()}
        # `python` in a command is the interpreter that runs the ledger, with what was installed beside it
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        command = tuple(self._filled(part) for part in fixture.command)
        job = Job(command, root, {**os.environ, "PATH": path, **given}, _FOREVER_S, folder=self._folder)
        self._thread = threading.Thread(target=self._serve, args=(job,), daemon=True)
        self._lock = threading.Lock()
        self._is_ready = False
        self._thread.start()

    def _filled(self, text: str) -> str:
        return text.replace("{port}", self._port).replace("{folder}", str(self._folder))

    def _serve(self, job: Job) -> None:
        try:
            ended = self._supervisor.run(job, self._stdout, self._stderr)
        except Interrupted:
            return
        words = _tail(self._stderr)
        why = ended.reason if isinstance(ended, NotRun) else f"exit {ended.status}{': ' + words if words else ''}"
        self._ended = NotRun(f"the fixture ended: {why}")

    def exports(self) -> Mapping[str, str] | NotRun:
        with self._lock:
            until = time.monotonic() + self._fixture.ready_timeout_s
            while not self._is_ready and self._ended is None:
                self._is_ready = self._answers()
                if not self._is_ready and time.monotonic() > until:
                    return NotRun(f"the fixture was not ready within {self._fixture.ready_timeout_s:g} s")
                time.sleep(0 if self._is_ready else _LOOK_S)
        if self._ended is not None:
            return self._ended
        return {key: self._filled(value) for key, value in self._fixture.exports.items()}

    def _answers(self) -> bool:
        ready = self._filled(self._fixture.ready)
        if not ready.startswith(("http://", "https://")):
            return ready in _whole(self._stdout)
        import http.client  # noqa: PLC0415  slow to import, and few runs need it
        import urllib.request  # noqa: PLC0415

        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy knows nothing of this machine
        try:
            with direct.open(ready, timeout=2):
                return True
        except (OSError, http.client.HTTPException):
            return False

    def close(self) -> None:
        self._supervisor.close()
        self._thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._stdout.close()
        self._stderr.close()


def _whole(file: IO[bytes]) -> str:
    return os.pread(file.fileno(), 1024 * 1024, 0).decode("utf-8", "replace")


def _tail(file: IO[bytes]) -> str:
    return " ".join(_whole(file).strip().splitlines()[-1:])[:300]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
