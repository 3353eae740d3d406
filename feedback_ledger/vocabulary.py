"""The words that records, evidence and reports are made of: closed vocabularies, each in one place."""

from __future__ import annotations

import signal
from enum import StrEnum


class Nature(StrEnum):
    """What kind of claim a finding makes."""

    BUG = "bug"
    REGRESSION = "regression"
    SECURITY = "security"
    PERFORMANCE = "performance"
    FRICTION = "friction"
    MISSING = "missing"
    DOCS = "docs"


class Severity(StrEnum):
    """How much it hurts the people who use the target."""

    BLOCKER = "blocker"
    MAJOR = "major"
    MINOR = "minor"
    PAPERCUT = "papercut"


class Status(StrEnum):
    """What the record says of the finding today."""

    OPEN = "open"
    FIXED = "fixed"
    INTENDED = "intended"
    WONTFIX = "wontfix"
    WITHDRAWN = "withdrawn"


class Origin(StrEnum):
    """Where the claim came from."""

    SEED = "seed"
    FOUND = "found"


class Disclosure(StrEnum):
    """Whether a finding may be described in what is published."""

    PUBLIC = "public"
    PRIVATE = "private"


class Ecosystem(StrEnum):
    """Where a target's releases come from."""

    PYPI = "pypi"
    NPM = "npm"
    COMMAND = "command"
    SERVICE = "service"


class Verdict(StrEnum):
    """What one finding's evidence says on one release."""

    REPRODUCES = "reproduces"
    GONE = "gone"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    BROKEN = "broken"
    BLOCKED = "blocked"


class Event(StrEnum):
    """What a verdict means against what the record says."""

    AS_RECORDED = "as recorded"
    FIXED_UPSTREAM = "fixed upstream"
    GONE_UNCONFIRMED = "gone, unconfirmed"
    REGRESSED = "regressed"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    NOT_JUDGED = "not judged"


TIMEOUT = "timeout"
NONZERO = "nonzero"
OUTPUT_LIMIT = "output limit"
"""How an observation says that a run was ended because it would not stop printing."""
SIGNALS = frozenset(item.name for item in signal.Signals)
PLACEHOLDER = "TODO"
"""What `ledger new` puts where a person has to write; a record that still holds it is refused."""
