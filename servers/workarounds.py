"""Which workarounds are in force. Each is named by the finding that it exists for.

`LEDGER_WITHOUT=F-077,F-055` in the environment switches some off, so that a reproducer can show the friction through
the real server. The ledger lists the places that call `workaround`.
"""

import functools
import os
import re

VARIABLE = "LEDGER_WITHOUT"


class BadVariable(ValueError):
    """The environment variable does not hold a list of findings."""


@functools.cache
def switched_off() -> frozenset[str]:
    """The findings whose workarounds are off in this process.

    Raises BadVariable, whose text is one line for the user.
    """
    names = [name.strip() for name in os.environ.get(VARIABLE, "").split(",")]
    if bad := [name for name in names if name and not re.fullmatch(r"F-\d{3,}", name)]:
        raise BadVariable(f"{VARIABLE}: {bad[0]!r} is no finding; write ids such as F-077, separated by commas")
    return frozenset(filter(None, names))


def workaround(finding: str) -> bool:
    """Whether the code that exists only because of `finding` is in force."""
    return finding not in switched_off()
