"""What must not be published, and what stands in its place.

One set of rules serves both ends: what a run printed is cleaned before it is written, and what people wrote is
refused when a rule would have changed it. Placeholders are stable, so that the same run reads the same on every
machine.
"""

from __future__ import annotations

import base64
import getpass
import os
import re
import socket
import tempfile
import urllib.parse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

MARGIN = 8192
"""Bytes beyond a cut that a rule may need to see, so that no half of a secret is left at its edge."""

_SECRET_NAME = re.compile(
    r"(?i)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIAL)"
)
_SHORTEST_SECRET = 6
_NOBODY = frozenset({"root", "user", "admin", "nobody", "runner", "ubuntu", "debian", "docker", "vagrant", "ledger"})
# A person may write down a name on purpose, and many a user is called as some word is.
_ONLY_IN_CAPTURES = frozenset({"[USER]", "[HOST]"})
# These tell nothing about anybody, and are what guests of a sandbox call their own folder.
_NO_PLACE = frozenset({"/tmp", "/var/tmp"})
_NO_HOST = frozenset({"localhost", "localhost.localdomain"})


@dataclass(frozen=True)
class _Rule:
    """What stands in place of what a pattern finds. A text without any of the `signs` needs no search, which is
    slow.
    """

    placeholder: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]

    def speaks_of(self, text: str) -> bool:
        return any(sign in text for sign in self.signs)


_TOKENS = (
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|sk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}"
    r"|pypi-[A-Za-z0-9_-]{16,}|wap_[A-Za-z0-9]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
)
_TOKEN_SIGNS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "k_live_", "k_test_"),
    *("AKIA", "ASIA", "AIza", "hf_", "npm_", "pypi-", "wap_", "eyJ"),
)
# Hosts of package indexes are spelled as patterns: a user's own mirror must not show in evidence, nor the usual ones.
_INDEX = (
    r"(?:https?://)?(?:[a-z0-9-]+\.)*(?:pyp[i]\.org|pythonhoste[d]\.org|npmj[s]\.(?:org|com))"
    r"(?::\d+)?(?:/[^\s\"'<>)\]]*)?"
)
_EMAIL = r"(?<![\w.+-])(?!git@)[\w.+-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*\.)+[A-Za-z]{2,}(?![\w@])"
_RULES = (
    _Rule(
        "[PRIVATE KEY]",
        ("PRIVATE KEY-----",),
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ),
    _Rule("[TOKEN]", _TOKEN_SIGNS, re.compile(rf"(?<![A-Za-z0-9_])(?:{_TOKENS})")),
    _Rule("[TOKEN]", ("earer ", "EARER "), re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/-]{16,}=*")),
    _Rule("[CREDENTIALS]", ("://",), re.compile(r"(?<=://)[^\s/:@\[\]]+(?::[^\s/@\[\]]*)?(?=@)")),
    _Rule("[INDEX]", ("pyp", "pythonh", "npmj"), re.compile(_INDEX)),
    _Rule("[EMAIL]", ("@",), re.compile(_EMAIL)),
    # Somebody else's home, from another machine; `/home/a` alone may be a guest's and tells nothing.
    _Rule("[HOME]", ("/home/", "/Users/"), re.compile(r"(?<![\w.])/(?:home|Users)/[A-Za-z0-9_][\w.-]*(?=/)")),
)


@dataclass(frozen=True)
class Redactor:
    """Rules about one machine, its user and its secrets, beside those that hold everywhere."""

    literals: tuple[tuple[str, str], ...]
    rules: tuple[_Rule, ...] = _RULES

    @classmethod
    def for_machine(cls, environ: Mapping[str, str], *, home: str, user: str, host: str, tmp: str) -> Self:
        """Rules from what is known of the machine; pure, so that a test can be any machine."""
        secrets = [
            (form, f"[SECRET:{name}]")
            for name, value in environ.items()
            if _SECRET_NAME.search(name) and len(value.strip()) >= _SHORTEST_SECRET and not os.path.isabs(value)
            for form in _forms(value.strip())
        ]
        names = [
            _Rule(placeholder, (name,), re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])"))
            for name, placeholder, harmless in ((user, "[USER]", _NOBODY), (host, "[HOST]", _NO_HOST))
            if name and name.lower() not in harmless
        ]
        places = [(home, "[HOME]")] if len(home) > 1 else []
        places += [(tmp, "[TMP]")] if tmp not in _NO_PLACE else []
        return cls(tuple(secrets), (*_path_rules(places), *_RULES, *names))

    @classmethod
    def here(cls) -> Self:
        """Rules for the machine and user that run this process."""
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = ""
        home = os.path.expanduser("~")  # noqa: PTH111  Path raises where nobody knows the home
        given, tmp = tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir())
        rules = cls.for_machine(os.environ, home=home, user=user, host=socket.gethostname(), tmp=tmp)
        # on macOS the one is a link to the other, and programs print either
        return rules if given in (tmp, *_NO_PLACE) else rules.knowing([(given, "[TMP]")])

    def knowing(self, places: Iterable[tuple[str, str]]) -> Self:
        """The same rules, and before them some folders with the placeholders that stand for them."""
        return type(self)(self.literals, (*_path_rules(places), *self.rules))

    def text(self, text: str) -> str:
        """The text with everything replaced that must not be published."""
        for secret, placeholder in self.literals:
            text = text.replace(secret, placeholder)
        for rule in self.rules:
            if rule.speaks_of(text):
                text = rule.pattern.sub(rule.placeholder, text)
        return text

    def stream(self, stream: bytes) -> bytes:
        """The same for bytes, whatever they are; bytes that no rule speaks of stay as they were."""
        return self.text(stream.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def leaks(self, text: str) -> list[tuple[int, str]]:
        """The lines, from 1, that hold something which must not be published, each with the placeholder that names
        its kind.
        """
        found = [
            (_line(text, text.index(secret)), placeholder) for secret, placeholder in self.literals if secret in text
        ]
        for rule in self.rules:
            if rule.placeholder not in _ONLY_IN_CAPTURES and rule.speaks_of(text):
                found += [(_line(text, match.start()), rule.placeholder) for match in rule.pattern.finditer(text)]
        return sorted(set(found))


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _forms(secret: str) -> tuple[str, ...]:
    """A secret as it may show up: itself, in an address, in base64."""
    quoted = urllib.parse.quote(secret, safe="")
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return tuple(dict.fromkeys((secret, quoted, encoded)))


def _path_rules(places: Iterable[tuple[str, str]]) -> tuple[_Rule, ...]:
    """Longest first, so that a folder inside another keeps its own placeholder; only whole path components."""
    known = sorted({(p.rstrip("/"), name) for p, name in places}, key=lambda place: -len(place[0]))
    return tuple(
        _Rule(name, (place,), re.compile(rf"(?<![\w.]){re.escape(place)}(?![\w-])")) for place, name in known if place
    )
