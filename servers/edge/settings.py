"""What the environment says, checked once and before anything starts."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from servers.workarounds import workaround

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{16,512}=*")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?|\[[0-9a-f:]+\](:\d{1,5})?")
_ORIGIN = re.compile(r"https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?")


class BadSetting(ValueError):
    """A variable does not hold what it should; the text is one line for whoever sets it, and never holds a secret."""


class Tls(StrEnum):
    """How the connection to the database is protected."""

    VERIFY = "verify"
    REQUIRE = "require"
    DISABLE = "disable"


class Scope(StrEnum):
    """What the bearer of a token may do; to write includes to read."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True)
class Database:
    """Where the database is and how to get in. `ca` is a file, or the certificates themselves as PEM."""

    host: str
    port: int
    name: str
    user: str
    password: str = field(repr=False)
    tls: Tls = Tls.VERIFY
    ca: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.name}"


@dataclass(frozen=True)
class Token:
    """A secret that callers show, of which only the digest is kept."""

    digest: bytes = field(repr=False)
    scope: Scope

    @classmethod
    def of(cls, secret: str, scope: Scope) -> Token:
        """The token that is this secret."""
        return cls(hashlib.sha256(secret.encode()).digest(), scope)

    def matches(self, shown: str) -> bool:
        """Takes the same time whether it does or not."""
        return hmac.compare_digest(self.digest, hashlib.sha256(shown.encode(errors="replace")).digest())


@dataclass(frozen=True)
class Settings:
    """Everything that the environment decides. No `database` means the embedded one, kept in `data`."""

    host: str = "0.0.0.0"
    port: int = 8000
    database: Database | None = None
    data: Path | None = None
    pool: int = 5
    timeout_s: float = 5.0
    region: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()
    jobs_token: Token | None = None
    rate: int = 100

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def jobs_are_served(self) -> bool:
        """Whether the routes of jobs exist: never where strangers could call them without a token."""
        return self.jobs_token is not None or self.is_loopback


def load(environ: Mapping[str, str]) -> Settings:
    """Reads the settings. Raises BadSetting for the first variable that is wrong."""
    read = _Reader(environ)
    if workaround("F-009"):
        port_from = "PORT" if read.text("PORT") else "FASTMCP_PORT"
        address = {"host": read.text("FASTMCP_HOST", "0.0.0.0"), "port": read.integer(port_from, 8000, 1, 65535)}
    else:
        address = {"host": "127.0.0.1", "port": 8000}
    return Settings(
        **address,  # type: ignore[arg-type]
        database=_database(read) if read.text("DB_HOST") else None,
        data=Path(read.text("EDGE_DATA")).expanduser().absolute() if read.text("EDGE_DATA") else None,
        pool=read.integer("DB_POOL", 5, 1, 100),
        timeout_s=read.integer("DB_TIMEOUT", 5, 1, 300),
        region=read.text("EDGE_REGION"),
        hosts=read.each("ALLOWED_HOSTS", _HOST, "a host such as my-app.example.com, without https://"),
        origins=read.each("ALLOWED_ORIGINS", _ORIGIN, "an origin such as https://app.example.com, without a path"),
        tokens=_tokens(read),
        jobs_token=Token.of(read.secret("JOBS_TOKEN"), Scope.WRITE) if read.text("JOBS_TOKEN") else None,
        rate=read.integer("RATE_LIMIT", 100, 0, 1_000_000),
    )


class _Reader:
    """Variables one by one; those that are empty count as unset."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def text(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        said = self.text(name)
        if not said:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", said) or not least <= int(said) <= most:
            raise BadSetting(f"{name}: {said!r} is no whole number from {least} to {most}")
        return int(said)

    def each(self, name: str, pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
        words = [word.strip().lower() for word in self.text(name).split(",") if word.strip()]
        for word in words:
            if not pattern.fullmatch(word):
                raise BadSetting(f"{name}: {word!r} is not {what}; separate several by commas")
        return tuple(words)

    def secret(self, name: str) -> str:
        said = self.text(name)
        if not _TOKEN.fullmatch(said):
            raise BadSetting(f"{name}: a token has 16 or more of the characters A-Z a-z 0-9 - . _ ~ + / and =")
        return said


def _database(read: _Reader) -> Database:
    missing = [name for name in ("DB_NAME", "DB_USERNAME", "DB_PASSWORD") if not read.text(name)]
    if missing:
        raise BadSetting(f"{missing[0]}: must be set when DB_HOST is; or unset DB_HOST for the embedded Postgres")
    tls = read.text("DB_SSL", Tls.VERIFY)
    if tls not in list(Tls):
        raise BadSetting(f"DB_SSL: {tls!r} is none of {', '.join(Tls)}")
    return Database(
        host=read.text("DB_HOST"),
        port=read.integer("DB_PORT", 5432, 1, 65535),
        name=read.text("DB_NAME"),
        user=read.text("DB_USERNAME"),
        password=read.text("DB_PASSWORD"),
        tls=Tls(tls),
        ca=read.text("DB_SSL_CA"),
    )


def _tokens(read: _Reader) -> tuple[Token, ...]:
    found = []
    for number, one in enumerate(filter(None, map(str.strip, read.text("MCP_TOKENS").split(","))), 1):
        scope, colon, secret = one.partition(":")
        if not colon or scope not in list(Scope) or not _TOKEN.fullmatch(secret):
            raise BadSetting(
                f"MCP_TOKENS: entry {number} is not read:TOKEN or write:TOKEN; a token has 16 or more of the "
                "characters A-Z a-z 0-9 - . _ ~ + / and ="
            )
        found.append(Token.of(secret, Scope(scope)))
    return tuple(found)
