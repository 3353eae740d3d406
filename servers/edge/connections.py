"""A few connections to Postgres. None is ever used by two threads at once, or again after anything went wrong on it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pg8000.native import Connection, PreparedStatement

from servers.edge import NAME, callers, outages, tls
from servers.edge.outages import Outage
from servers.edge.settings import Database
from servers.refusal import Code, Refusal
from servers.workarounds import workaround

T = TypeVar("T")
CONNECT_S = 3.0
QUEUE_S = 2.0  # how long a call waits for its turn
log = logging.getLogger(__name__)


class Link:
    """One connection. Statements are prepared once: one round trip instead of three, and values are encoded first."""

    def __init__(self, database: Database, timeout_s: float) -> None:
        """Connects. Raises Outage."""
        self.timeout_s = timeout_s
        self._statements: dict[str, PreparedStatement] = {}
        try:
            how = tls.context(database)
            self._socket: socket.socket = socket.create_connection((database.host, database.port), CONNECT_S)
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                own_tls = workaround("F-013") or how is None
                if how is not None and own_tls:
                    self._socket = tls.secured(self._socket, database.host, how)
                self._driver = Connection(
                    database.user,
                    database=database.name,
                    host=database.host,
                    password=database.password,
                    application_name=NAME,
                    sock=self._socket,
                    ssl_context=False if own_tls else None,
                )
                self._driver.run(
                    f"SET statement_timeout = {int(timeout_s * 1000)}; SET lock_timeout = {int(timeout_s * 1000)};"
                    "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET client_encoding = 'UTF8';"
                    # Each statement has an index, whatever the statistics say; and filters that are not used go away.
                    "SET enable_seqscan = off; SET plan_cache_mode = force_custom_plan"
                )
            except BaseException:
                self._socket.close()
                raise
        except Exception as error:
            log.warning("no connection to %s: %s: %s", database, type(error).__name__, error)
            raise outages.while_connecting(error) from error
        self.patience(timeout_s)

    @property
    def server_version(self) -> str:
        """Of Postgres."""
        return str(self._driver.parameter_statuses.get("server_version", ""))

    def run(self, sql: str, **values: Any) -> list[list[Any]]:
        """The rows that one statement gives. Whatever it raises, the connection must be closed then."""
        if not workaround("F-056"):
            return list(self._driver.run(sql, **values) or [])
        statement = self._statements.get(sql)
        if statement is None:
            statement = self._statements[sql] = self._driver.prepare(sql)
        rows: list[list[Any]] | None = statement.run(**values)
        return rows or []

    def script(self, sql: str) -> list[list[Any]]:
        """Several statements without values, in one go."""
        rows: list[list[Any]] | None = self._driver.run(sql)
        return rows or []

    def patience(self, seconds: float) -> None:
        """How long to wait for an answer; a little more than Postgres, which should be the one to stop a statement."""
        if self._socket.fileno() >= 0:  # else the driver has wrapped it: F-013's workaround is off
            self._socket.settimeout(seconds + 2.0)

    def is_stale(self) -> bool:
        """Whether Postgres has ended the connection meanwhile, or said something that nobody read. No round trip."""
        number = self._socket.fileno()
        return number >= 0 and bool(select.select([number], [], [], 0)[0])

    def close(self) -> None:
        """Never raises, never waits."""
        with contextlib.suppress(Exception):
            self._socket.settimeout(0.5)
        with contextlib.suppress(Exception):
            self._driver.close()
        with contextlib.suppress(Exception):
            self._socket.close()


class Connections:
    """At most `size` links, opened when they are needed."""

    def __init__(self, open_link: Callable[[], Link], size: int) -> None:
        self._open_link, self._size = open_link, size
        self._idle: list[Link] = []
        self._lock = threading.Lock()
        self._closed = False
        self._turns = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(size, NAME)

    async def call(self, work: Callable[[Link], T], *, wrote: bool = False) -> T:
        """Does `work` in a thread, with a link of its own. Raises Outage.

        Who hangs up, or is cancelled, while waiting for a turn has not begun; what has begun is finished.
        """
        if self._turns.locked():
            await self._turn()
        else:
            await self._turns.acquire()  # at once
        doing = asyncio.get_running_loop().run_in_executor(self._threads, lambda: self.use(work, wrote=wrote))
        doing.add_done_callback(lambda _: self._turns.release())
        return await asyncio.shield(doing)

    async def _turn(self) -> None:
        """Waits until a link is free. Raises Outage."""
        turn, gone = asyncio.ensure_future(self._turns.acquire()), asyncio.ensure_future(callers.gone())
        try:
            await asyncio.wait({turn, gone}, timeout=QUEUE_S, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._turns.release()
            turn.cancel()
            raise
        finally:
            gone.cancel()
        if not turn.done():
            turn.cancel()
            busy = f"all {self._size} connections to the database are in use"
            raise Outage(Refusal(Code.BUSY, busy, outages.LATER))

    def use(self, work: Callable[[Link], T], *, wrote: bool = False) -> T:
        """Does `work` in this thread. What only reads is tried again if an older connection turns out to be gone.

        Raises Outage.
        """
        link, is_new = self._take()
        try:
            return self._with(link, work, wrote=wrote)
        except Outage as outage:
            if wrote or is_new or not outage.__cause__ or not outages.is_worth_repeating(outage.__cause__):
                raise
        return self._with(self._open_link(), work, wrote=wrote)

    def _with(self, link: Link, work: Callable[[Link], T], *, wrote: bool) -> T:
        healthy = False
        try:
            answer = work(link)
            healthy = True
            return answer
        except BaseException as error:
            if not isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
                raise  # such as Ctrl-C; in a thread of the server, whatever ends a statement must end nothing else
            healthy = not (outages.suspects_unread_answers() or outages.is_lost(error))
            log.warning("a statement failed: %s: %s", type(error).__name__, error)
            raise outages.while_asking(error, timeout_s=link.timeout_s, wrote=wrote) from error
        finally:
            self._give_back(link) if healthy else link.close()

    def _take(self) -> tuple[Link, bool]:
        while True:
            with self._lock:
                link = self._idle.pop() if self._idle else None
            if link is None:
                return self._open_link(), True
            if not (outages.suspects_unread_answers() and link.is_stale()):
                return link, False
            link.close()

    def _give_back(self, link: Link) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(link)
                return
        link.close()

    def close(self) -> None:
        """Closes what is idle now, and what is in use when it is given back."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for link in idle:
            link.close()
        self._threads.shutdown(wait=False)
