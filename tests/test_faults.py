"""The first promise, on the real ledger of this repository: whatever breaks below a finding, it never reads as fixed.

Each test breaks all findings in one way and runs them where a false `gone` would be believed most easily: on the
release under test and, for a finding that still shows there, on the newest release that was seen without it. With
LEDGER_ALL_FAULTS=1 also programs that take long run under each fault that lets them run to their end.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from feedback_ledger import releases
from feedback_ledger.book import Ledger
from feedback_ledger.loader import Record
from feedback_ledger.options import Options
from feedback_ledger.ordering import in_order
from feedback_ledger.outcome import Outcome
from feedback_ledger.session import Session
from feedback_ledger.verdict import judge
from feedback_ledger.vocabulary import Event, Verdict
from tests.ledgers import TODAY, opened

REPOSITORY = Path(__file__).parents[1]
NO_RELEASE = "99.99.99"
PAGE = 4096
LONG_S = 3.0
ALL = bool(os.environ.get("LEDGER_ALL_FAULTS"))
Pair = tuple[str, str | None]


class World:
    """A copy of this repository's ledger, to be broken. Its environments are the repository's own unless a fault is
    about them: they take minutes to build.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, later: contextlib.ExitStack) -> None:
        self.root, self.monkeypatch, self.later = root, monkeypatch, later
        for name in ("findings", "reproducers", "servers"):
            shutil.copytree(REPOSITORY / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(REPOSITORY / "pyproject.toml", root)
        (root / ".ledger").mkdir()
        environments = REPOSITORY / ".ledger" / "environments"
        environments.mkdir(parents=True, exist_ok=True)
        (root / ".ledger" / "environments").symlink_to(environments)

    @property
    def reproducers(self) -> list[Path]:
        return sorted(path for path in (self.root / "reproducers").iterdir() if path.is_file())

    def without_environments(self) -> Path:
        """Nothing is built yet, and the installers have nothing in store; returns a folder for what else is needed."""
        (self.root / ".ledger" / "environments").unlink()
        for name in ("UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"):
            self.monkeypatch.delenv(name, raising=False)
        self.monkeypatch.setenv("UV_CACHE_DIR", str(self.root / "uv"))
        self.monkeypatch.setenv("npm_config_cache", str(self.root / "npm"))
        return self.root

    def run(self, fault: Fault) -> list[Outcome]:
        book = opened(self.root)
        pairs = [
            pair
            for record in book.records
            if fault.concerned(record.reproducer)
            for pair in ([(record, fault.release)] if fault.release else due(book, record))
            if ALL or not fault.late or took_s(book, *pair) <= LONG_S
        ]
        with Session(book, Options(jobs=2, write=False, fresh=True), TODAY) as session:
            return session.run_on(pairs)


def took_s(book: Ledger, record: Record, release: str | None) -> float:
    """How long the stored run took; 0 if there is none."""
    seen = book.store.read_all(record.stem).get(release)
    return seen.duration_s if seen else 0.0


def due(book: Ledger, record: Record) -> list[tuple[Record, str | None]]:
    """Where to run a finding: the release under test and the newest one whose stored evidence reads `gone`."""
    release = releases.tested(book.target(record.finding))
    stored = book.store.read_all(record.stem)
    gone = [seen for seen in stored if seen and judge(record.finding, stored[seen]).verdict is Verdict.GONE]
    return [(record, one) for one in dict.fromkeys((release, *in_order(gone)[-1:]))]


@dataclass(frozen=True)
class Fault:
    """One way to break everything. `reason` is a pattern of what the ledger says then; `concerned` tells which
    reproducers it can break, and `escapable` that some of these may still show their finding before it bites. A `late`
    one lets programs run to their end first; those that take long meet the other faults, and this one if all are asked
    for.
    """

    spoil: Callable[[World], None]
    reason: str
    concerned: Callable[[Path], bool] = lambda _: True
    release: str | None = None
    escapable: bool = False
    late: bool = False


@dataclass(frozen=True)
class Language:
    """How programs in one language are broken: each is the code that a program is made to begin with."""

    dead_at_start: str
    dead_after_first_line: str
    dead_at_end: str
    stdout_full: str
    syntax_error: str = ")"


PYTHON = Language(
    dead_at_start="import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    dead_after_first_line="""
import builtins, os, signal
def _last_words(*words, _print=print, **options):
    _print(*words, **{**options, "flush": True})
    os.kill(os.getpid(), signal.SIGKILL)
builtins.print = _last_words
""",
    dead_at_end="""
import atexit, os, signal, sys
def _die(*_):
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
atexit.register(_die)
os._exit = _die
""",
    stdout_full='import os; os.dup2(os.open("/dev/full", os.O_WRONLY), 1)',
)
JAVASCRIPT = Language(
    dead_at_start='process.kill(process.pid, "SIGKILL");',
    dead_after_first_line="""
const _log = console.log;
console.log = (...words) => { _log(...words); process.kill(process.pid, "SIGKILL"); };
""",
    dead_at_end="""
process.exit = () => process.kill(process.pid, "SIGKILL");
process.on("exit", process.exit);
""",
    stdout_full="""
const { openSync, writeSync } = await import("node:fs");
const _full = openSync("/dev/full", "w");
process.stdout.write = text => writeSync(_full, text);
""",
)
LANGUAGES = {".py": PYTHON, ".mjs": JAVASCRIPT}
SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))"
NO_NETWORK = """
import os, socket
def _unreachable(*_):
    raise OSError(101, "Network is unreachable")
socket.socket.connect = socket.socket.connect_ex = _unreachable
os.environ.update(PIP_INDEX_URL="http://127.0.0.1:9/", PIP_RETRIES="0", PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull)
"""


def language(path: Path) -> Language:
    if path.suffix not in LANGUAGES:
        pytest.fail(f"{path.name}: say in LANGUAGES how such a program is broken")
    return LANGUAGES[path.suffix]


def parts(program: str) -> tuple[str, str]:
    """A program's header, if it has one, and the rest."""
    end = re.search(r"(?m)^(?:#|//) ///[ \t]*\n", program)
    return ("", program) if end is None else (program[: end.end()], program[end.end() :])


def is_python(path: Path) -> bool:
    return path.suffix == ".py"


def is_javascript(path: Path) -> bool:
    return path.suffix in (".mjs", ".js", ".cjs")


def uses_the_network(path: Path) -> bool:
    """Whether it may connect to something."""
    connects = r'(?m)^(?:import|from) (?:http|urllib)|PGHOST|"pip"|create_connection|\bport='
    return is_python(path) and bool(re.search(connects, path.read_text()))


def beginning_with(code: Callable[[Path], str], world: World) -> None:
    for path in world.reproducers:
        head, rest = parts(path.read_text(encoding="utf-8"))
        path.write_text(f"{head}{code(path)}\n{rest}", encoding="utf-8")


def emptied(world: World) -> None:
    for path in world.reproducers:
        path.write_text(parts(path.read_text(encoding="utf-8"))[0], encoding="utf-8")


def on_a_full_device(world: World) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    beginning_with(lambda path: language(path).stdout_full, world)


def on_a_full_disk(pages_left: int, world: World) -> None:
    """The temporary folder of everything, runs included, is a file system with so little room left."""
    disk = world.root / "disk"
    disk.mkdir()
    options = f"size={(pages_left + 1) * PAGE}"
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a small disk, and not everywhere")
    world.later.callback(lambda: subprocess.run(["umount", "--lazy", disk], check=True))
    (disk / "ballast").write_bytes(b"x" * PAGE)
    world.monkeypatch.setenv("TMPDIR", str(disk))
    world.monkeypatch.setattr(tempfile, "tempdir", str(disk))


def limited_to(seconds: float, world: World) -> None:
    for path in (world.root / "findings").glob("*.yaml"):
        text, found = re.subn(r"(?m)^( +timeout_s:).*$", rf"\1 {seconds}", path.read_text(encoding="utf-8"))
        assert found == 1, path.name
        path.write_text(text, encoding="utf-8")


def with_another_python(world: World) -> None:
    world.without_environments()
    for path in filter(is_python, world.reproducers):
        text = re.sub(r"(?m)^# requires-python = .*\n", "", path.read_text(encoding="utf-8"))
        head, rest = parts(text)
        head = head or "# /// script\n# ///\n"
        path.write_text(head.replace("\n", '\n# requires-python = ">=3.99"\n', 1) + rest, encoding="utf-8")


def without_node(world: World) -> None:
    """Everything else on the PATH is still there."""
    bin_ = world.root / "bin"
    bin_.mkdir()
    for folder in map(Path, os.get_exec_path()):
        for program in folder.iterdir() if folder.is_dir() else ():
            if program.name not in ("node", "nodejs", "npm", "npx") and not (bin_ / program.name).is_symlink():
                (bin_ / program.name).symlink_to(program)
    world.monkeypatch.setenv("PATH", str(bin_))


def with_another_node(world: World) -> None:
    """A program of that name which says nothing and is content."""
    without_node(world)
    node = world.root / "bin" / "node"
    node.write_text("#!/bin/sh\nexit 0\n")
    node.chmod(0o755)


def unreachable(world: World) -> None:
    """Installed, but nothing can be connected to. Some reproducers wait for it then, for as long as they are let."""
    limited_to(5, world)
    beginning_with(lambda path: NO_NETWORK if is_python(path) else "", world)


def offline(world: World) -> None:
    world.without_environments()
    world.monkeypatch.setenv("UV_OFFLINE", "1")
    world.monkeypatch.setenv("npm_config_offline", "true")


class NoPackages(BaseHTTPRequestHandler):
    """A package index, for pip's kind of clients and for npm, that has no release of anything."""

    def do_GET(self) -> None:
        self.send_error(404)

    def do_HEAD(self) -> None:
        self.send_error(404)

    def answer(self, kind: str, body: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


class NoFiles(NoPackages):
    """An index that lists the release of every package, and has no file of it."""

    def do_GET(self) -> None:
        name = self.path.strip("/").removeprefix("simple/").replace("%2f", "/")
        if name.startswith("files/"):
            super().do_GET()
        elif self.path.startswith("/simple/"):
            file = f"{name.replace('-', '_')}-{NO_RELEASE}-py3-none-any.whl"
            self.answer("text/html", f'<a href="/files/{file}">{file}</a>')
        else:
            dist = {"tarball": f"http://{self.headers['Host']}/files/{NO_RELEASE}.tgz", "shasum": "0" * 40}
            version = {"name": name, "version": NO_RELEASE, "dist": dist}
            versions = {"name": name, "dist-tags": {"latest": NO_RELEASE}, "versions": {NO_RELEASE: version}}
            self.answer("application/json", json.dumps(versions))


def served_by(index: type[NoPackages], world: World) -> None:
    world.without_environments()
    server = ThreadingHTTPServer(("127.0.0.1", 0), index)
    world.later.callback(server.server_close)
    world.later.callback(server.shutdown)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "UV_DEFAULT_INDEX": f"{address}/simple",
        "UV_NO_CONFIG": "1",
        "UV_HTTP_RETRIES": "0",
        "npm_config_registry": address,
        "npm_config_fetch_retries": "0",
        "no_proxy": "127.0.0.1",
        "NO_PROXY": "127.0.0.1",
    }.items():
        world.monkeypatch.setenv(name, value)


CONTROL = "control does not hold"
FIXTURE = "the fixture ended"
FAULTS = {
    "a release that is on no index": Fault(partial(served_by, NoPackages), "not found|404", release=NO_RELEASE),
    "a wheel that is listed and not there": Fault(partial(served_by, NoFiles), "404", release=NO_RELEASE),
    "another Python": Fault(with_another_python, r"3\.99", is_python),
    "no Node": Fault(without_node, "node|npm", is_javascript),
    "a Node that is none": Fault(with_another_node, "printed nothing", is_javascript),
    "no network to install from": Fault(offline, r"(?i)network|offline|cache"),
    "no network to run with": Fault(unreachable, CONTROL, uses_the_network, escapable=True),
    "a syntax error": Fault(partial(beginning_with, lambda path: language(path).syntax_error), "SyntaxError"),
    "nothing printed": Fault(emptied, "printed nothing"),
    "a full device as its output": Fault(on_a_full_device, CONTROL, late=True),
    "no room in any file": Fault(
        partial(beginning_with, lambda path: SMALL_FILES if is_python(path) else ""), CONTROL, is_python, late=True
    ),
    "a full disk": Fault(partial(on_a_full_disk, 0), f"{os.strerror(errno.ENOSPC)}|{FIXTURE}"),
    "a disk with room for the program alone": Fault(
        partial(on_a_full_disk, 1), f"{os.strerror(errno.ENOSPC)}|{CONTROL}|{FIXTURE}"
    ),
    "killed at its start": Fault(partial(beginning_with, lambda path: language(path).dead_at_start), "SIGKILL"),
    "killed after its first line": Fault(
        partial(beginning_with, lambda path: language(path).dead_after_first_line), "SIGKILL", late=True
    ),
    "killed as it ends": Fault(partial(beginning_with, lambda path: language(path).dead_at_end), "SIGKILL", late=True),
    "out of time at once": Fault(partial(limited_to, 0.01), "hit its time limit"),
}


@contextlib.contextmanager
def a_world(root: Path) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as monkeypatch, contextlib.ExitStack() as later:
        yield World(root, monkeypatch, later)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with a_world(tmp_path / "ledger") as made:
        yield made


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """What those say that read `gone` by their stored evidence, on this machine and with nothing broken."""
    with a_world(tmp_path_factory.mktemp("unbroken") / "ledger") as world:
        book = opened(world.root)
        pairs = [
            (record, release)
            for record in book.records
            for _, release in due(book, record)
            if (seen := book.store.read_all(record.stem).get(release)) is not None
            and judge(record.finding, seen).verdict is Verdict.GONE
        ]
        with Session(book, Options(jobs=2, write=False, fresh=True), TODAY) as session:
            return session.run_on(pairs)


@pytest.fixture(scope="module")
def gone(unbroken: list[Outcome]) -> set[Pair]:
    """Where nothing but a fault stands between a run and `gone`: there each fault must be seen to bite."""
    return {key(outcome) for outcome in unbroken if outcome.judgement.verdict is Verdict.GONE}


def key(outcome: Outcome) -> Pair:
    return outcome.record.stem, outcome.release


def told(outcome: Outcome) -> str:
    where = f"{outcome.record.stem} on {outcome.release}"
    return f"{where}: {outcome.judgement.verdict}, {outcome.event}: {outcome.reason or 'no reason'}"


def test_without_a_fault_they_read_as_gone(unbroken: list[Outcome], gone: set[Pair]) -> None:
    if unbroken and all(outcome.event is Event.NOT_JUDGED for outcome in unbroken):
        pytest.skip(f"nothing can run here; {told(unbroken[0])}")
    assert gone


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_reads_as_fixed(world: World, gone: set[Pair], name: str) -> None:
    fault = FAULTS[name]
    fault.spoil(world)
    outcomes = world.run(fault)
    wrong = [f"{told(outcome)} ({why})" for outcome in outcomes if (why := misread(outcome, fault, gone))]
    assert not wrong, "\n".join([f"with {name}:", *wrong])


def misread(outcome: Outcome, fault: Fault, gone: set[Pair]) -> str:
    """What is wrong with how a broken run was read; empty if nothing is."""
    if outcome.judgement.verdict is Verdict.GONE or outcome.event in (Event.FIXED_UPSTREAM, Event.GONE_UNCONFIRMED):
        return "it is broken, and reads as fixed"
    ended = outcome.evidence.exit if outcome.evidence else None
    if outcome.judgement.verdict is Verdict.REPRODUCES and ended not in (0, "SIGKILL"):
        return ""  # the finding itself ended the program before the fault could
    if outcome.judgement.verdict is Verdict.REPRODUCES and fault.escapable:
        return ""
    if outcome.judgement.verdict not in (Verdict.BROKEN, Verdict.BLOCKED, Verdict.DRIFTED):
        return "it is broken, and was judged all the same"
    if not outcome.reason:
        return "nobody is told why"
    # a release that does not exist was never seen to be gone, but whoever can read `gone` here can install
    stems = {stem for stem, _ in gone}
    bites = outcome.record.stem in stems if fault.release else key(outcome) in gone
    return "" if not bites or re.search(fault.reason, outcome.reason) else f"expected to hear of {fault.reason}"
