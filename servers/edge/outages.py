"""What goes wrong with the database, in the words of an answer."""

from __future__ import annotations

import ssl
from typing import Any

from pg8000.exceptions import DatabaseError, InterfaceError

from servers.edge.settings import BadSetting
from servers.refusal import Code, Refusal
from servers.workarounds import workaround

LATER = "Wait a few seconds and call again; get_server_info says whether the database is back."
OPERATOR = "Whoever runs this server has to mend that; its log has the details. get_server_info says when it works."
LOOK = "Look whether it is there (list_echoes, list_feedback) before you send it again."
_NOT_OURS = "the tables in the database are not those of this server"
UNDEFINED_TABLE, READ_ONLY = "42P01", "25006"


class Outage(Exception):
    """The database did not do what was asked, and `refusal` tells the caller so."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class NoTls(Exception):
    """The database speaks plain text only, and TLS was asked for."""


def sqlstate(error: BaseException) -> str:
    """The five characters by which Postgres classes its errors, or nothing if it is none of Postgres's."""
    said: Any = error.args[0] if isinstance(error, DatabaseError) and error.args else {}
    return str(said.get("C", "")) if isinstance(said, dict) else ""


def is_lost(error: BaseException) -> bool:
    """Whether the connection is what failed, not the statement."""
    kinds = (InterfaceError, OSError) if workaround("F-058") else InterfaceError
    return isinstance(error, kinds) or _was_ended(error)


def is_worth_repeating(error: BaseException) -> bool:
    """Whether what only reads may be asked once more, on another connection, as this one has ended."""
    if isinstance(error, TimeoutError):
        return False
    # The driver hides Postgres's own reason, 57P01, behind an InterfaceError, as if the network had failed.
    return is_lost(error) if workaround("F-151") else _was_ended(error)


def suspects_unread_answers() -> bool:
    """Whether a connection may hold an answer that nobody has read, and that the next call would get as its own."""
    # It does after a value that cannot be encoded, after an interruption, and after a value that cannot be decoded.
    return workaround("F-056") and workaround("F-111") and workaround("F-112")


def _was_ended(error: BaseException) -> bool:
    """Whether Postgres says that it has ended the connection."""
    return sqlstate(error).startswith("57P")


def not_started() -> Outage:
    """There is no Postgres of our own. Why would tell callers where it keeps its files."""
    return _down("the server's own Postgres cannot be started", OPERATOR)


def starting() -> Outage:
    """It will be there in a moment, or is about to end."""
    return _down("the database is starting or stopping", LATER)


def while_connecting(error: Exception) -> Outage:
    """Why there is no connection."""
    state = sqlstate(error)
    if isinstance(error, BadSetting):  # of a file that was there when the server started
        return _down(str(error), OPERATOR)
    if isinstance(error, NoTls):
        return _down("the database does not speak TLS", OPERATOR)
    if isinstance(error, ssl.SSLCertVerificationError):
        return _down(f"the database's certificate is not trusted: {error.verify_message}", OPERATOR)
    if isinstance(error, ssl.SSLError):
        return _down("TLS with the database failed", OPERATOR)
    if state.startswith("28"):
        return _down("the database refused the server's user name or password, or how it connects", OPERATOR)
    if state == "3D000":
        return _down("the server's database does not exist", OPERATOR)
    if state == "53300":
        return Outage(Refusal(Code.BUSY, "the database has no connection to spare", LATER))
    if _was_ended(error):
        return starting()
    if isinstance(error, InterfaceError | OSError):
        return _down("the database cannot be reached", LATER)
    return while_asking(error, timeout_s=0.0, wrote=False)


def while_preparing(error: Exception, timeout_s: float) -> Outage:
    """Why the tables are not there, or not up to date."""
    if sqlstate(error) == UNDEFINED_TABLE:  # once they are said to be there
        return _down(_NOT_OURS, OPERATOR)
    return while_asking(error, timeout_s=timeout_s, wrote=False)


def while_asking(error: BaseException, *, timeout_s: float, wrote: bool) -> Outage:
    """Why a statement did not work out. `wrote`: whether it was to change something."""
    state = sqlstate(error)
    if is_lost(error) and wrote:
        return _down("the connection to the database was lost while it wrote; whether it did is not known", LOOK)
    if is_lost(error):
        return _down("the connection to the database was lost", LATER)
    if state == "57014":
        return _down(f"the database took longer than {timeout_s:g} s, and was stopped", LATER)
    if state == READ_ONLY:
        return _down("the database takes no changes at the moment; reading works", LATER)
    if state == "42501":
        return _down("the server's database user lacks a right", OPERATOR)
    if state.startswith("42") and state != UNDEFINED_TABLE:
        return _down(_NOT_OURS, OPERATOR)
    if state[:2] in ("53", "40", "55") or state == UNDEFINED_TABLE:
        return Outage(Refusal(Code.BUSY, "the database could not do that just now", LATER))
    if wrote and not state:
        what = "the database's driver failed while it wrote; whether it did is not known, and the log has the details"
        return Outage(Refusal(Code.INTERNAL, what, LOOK))
    return Outage(
        Refusal(
            Code.INTERNAL,
            "the database or its driver failed on this call; the server's log has the details",
            "Call again with other arguments; if that fails as well, report it with that log.",
        )
    )


def _down(message: str, hint: str) -> Outage:
    return Outage(Refusal(Code.NOT_AVAILABLE, message, hint))
