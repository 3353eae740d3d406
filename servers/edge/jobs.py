"""The job that removes old notes: `python -m servers.edge.jobs prune --days 7`, and `POST /jobs/prune?days=7`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
from collections.abc import Iterable

from servers.edge import store, tls
from servers.edge.connections import Link
from servers.edge.embedded import Embedded
from servers.edge.migrations import Schema, connections_to
from servers.edge.outages import Outage
from servers.edge.settings import BadSetting, load
from servers.workarounds import BadVariable

DAYS = 7
_MOST = 3650


class BadDays(ValueError):
    """Not an age in days; the text is one line for the caller."""


def days_of(query: Iterable[tuple[str, str]]) -> int:
    """The days of a query string, in which nothing else may be. Raises BadDays."""
    given = list(query)
    if not given:
        return DAYS
    if len(given) > 1 or given[0][0] != "days":
        raise BadDays("the only parameter is days, once")
    return days(given[0][1])


def days(said: str) -> int:
    """A number of days. Raises BadDays."""
    if not re.fullmatch(r"[0-9]{1,4}", said) or not 1 <= int(said) <= _MOST:
        raise BadDays(f"days: must be a whole number from 1 to {_MOST}")
    return int(said)


def prune(link: Link, older_than: int) -> dict[str, int]:
    """Removes notes that are older than so many days; what is said about it."""
    return {"days": older_than, "deleted": store.prune(link, older_than)}


def main(arguments: list[str] | None = None) -> int:
    """Runs the job; returns the exit code: 0 done, 1 the database did not let it, 2 wrong arguments or settings."""
    parser = argparse.ArgumentParser(prog="servers.edge.jobs", description="Jobs of the echo server.")
    parser.add_argument("job", choices=["prune"], help="prune removes old notes")
    parser.add_argument("--days", default=str(DAYS), help=f"how old a note may get, from 1 to {_MOST}; default {DAYS}")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        older_than, settings = days(given.days), load(os.environ)
        if settings.database:
            tls.context(settings.database)
    except (BadDays, BadSetting, BadVariable) as bad:
        print(f"servers.edge.jobs: {bad}", file=sys.stderr)
        return 2
    embedded = Embedded(settings.data)
    connections = connections_to(lambda: settings.database or embedded.database(), settings, Schema())
    try:
        print(json.dumps(connections.use(lambda link: prune(link, older_than), wrote=True)))
    except Outage as failure:
        print(f"servers.edge.jobs: {failure}", file=sys.stderr)
        return 1
    finally:
        connections.close()
        embedded.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
