from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from servers.edge.settings import Database
from tests.edge.running import Postgres, in_process, postgres, settings_for

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """The Postgres of the whole run. Tests that stop or starve one have one of their own."""
    with postgres(tmp_path_factory.mktemp("postgres")) as one:
        yield one


@pytest.fixture
def database(server: Postgres) -> Database:
    return server.fresh(f"test_{next(_numbers)}")


@pytest.fixture(scope="module")
def url(server: Postgres) -> Iterator[str]:
    """An echo server for tests that mind nobody else's rows."""
    with in_process(settings_for(server.fresh(f"module_{next(_numbers)}"))) as address:
        yield address
