"""A Postgres of our own, for when no other is named: starts by itself, keeps its data, and ends with this process."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

from servers.edge import outages
from servers.edge.settings import Database, Tls

_START_S, _STOP_S = 60.0, 20.0
_USER = "edge"
_SUPERVISOR = [sys.executable, "-m", "servers.postgres"]
_ROOT = Path(__file__).parents[2]
_ROOTS = Path("/var/lib/wasmer-edge-echo")
log = logging.getLogger(__name__)


def default_folder() -> Path:
    """Where the data is kept: private to the user."""
    if os.geteuid() == 0 and not _has_user_namespaces():
        return _ROOTS  # Postgres then runs as `nobody`, who cannot get into root's home
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "wasmer-edge-echo"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "wasmer-edge-echo"


def _has_user_namespaces() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    return subprocess.run([unshare, "--user", "true"], capture_output=True, check=False).returncode == 0


class Embedded:
    """Starts it, and stops it. The supervisor that is started here stops Postgres when this process ends in any way."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._supervisor: subprocess.Popen[str] | None = None
        self._port: int | None = None  # once the supervisor's Postgres is ready
        self._starting = threading.Lock()
        self._is_over = False

    def database(self) -> Database:
        """Where it is; another program's, if that is running one on the same data. Started if nobody does.

        To be asked for each connection anew, as whoever runs it may have ended. Raises Outage.
        """
        try:
            self._folder = folder = self._folder or default_folder()
            password = _password(folder)
            port = self._own_port() or _running(folder) or self._start(folder, password)
        except OSError as error:
            raise _failed(str(error)) from None
        return Database("127.0.0.1", port, "postgres", _USER, password, Tls.DISABLE)

    def _own_port(self) -> int | None:
        supervisor, port = self._supervisor, self._port  # which another thread may be about to end
        return port if supervisor and supervisor.poll() is None else None

    def _start(self, folder: Path, password: str) -> int:
        if not self._starting.acquire(blocking=False):
            raise outages.starting()
        try:
            return self._own_port() or self._supervised(folder, password)
        finally:
            self._starting.release()

    def _supervised(self, folder: Path, password: str) -> int:
        self._end()
        if self._is_over:
            raise outages.starting()
        port = _free_port()
        self._supervisor = subprocess.Popen(
            [*_SUPERVISOR, "--port", str(port), "--keep", str(folder / "cluster"), "--with-stdin"],
            cwd=_ROOT,
            env=os.environ | {"PGUSER": _USER, "PGPASSWORD": password},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # Ctrl-C is for us, who then stop it
        )
        said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_listen, args=(self._supervisor, said), daemon=True).start()
        try:
            first = said.get(timeout=_START_S)
        except queue.Empty:
            first = "it was not ready in time"
        if first == f"ready on 127.0.0.1:{port}":
            self._port = port
            return port
        self._end()
        if others := _running(folder):  # another program was faster
            return others
        raise _failed(first.removeprefix("servers.postgres: ") or "it said nothing")

    def stop(self) -> None:
        """Lets it end in good order, for good; returns when it has."""
        self._is_over = True
        self._end()

    def _end(self) -> None:
        supervisor, self._supervisor, self._port = self._supervisor, None, None
        if supervisor is None:
            return
        assert supervisor.stdin is not None
        supervisor.stdin.close()
        try:
            supervisor.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()


def _failed(why: str) -> outages.Outage:
    log.error("the embedded Postgres cannot be started: %s; or set DB_HOST", why)
    return outages.not_started()


def _listen(supervisor: subprocess.Popen[str], said: queue.Queue[str]) -> None:
    """Passes on its first line, and logs the others."""
    assert supervisor.stdout is not None
    with supervisor.stdout as lines:
        said.put(lines.readline().strip())
        for line in lines:
            log.info("embedded Postgres: %s", line.strip())


def _password(folder: Path) -> str:
    """The one that was made with the data; made now if there is none."""
    folder.mkdir(mode=0o711 if folder == _ROOTS else 0o700, parents=True, exist_ok=True)
    file = folder / "password"
    if not file.exists():
        fresh = folder / f"password-{secrets.token_hex(8)}"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as writing:
            writing.write(secrets.token_urlsafe(32))
        with contextlib.suppress(FileExistsError):  # another one was faster; its password it is
            os.link(fresh, file)
        fresh.unlink()
    return file.read_text()


def _running(folder: Path) -> int | None:
    """The port of the server that runs on this data already, by what it noted."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        noted = (folder / "cluster" / "data" / "postmaster.pid").read_text().splitlines()
        if noted[7] == "ready   ":
            with socket.create_connection(("127.0.0.1", int(noted[3])), 1.0):
                return int(noted[3])
    return None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
