"""What the settings define: the products that findings are about, what runs need, the servers that they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import (
    Field,
    StrictInt,
    model_validator,
)

from feedback_ledger.fields import (
    SECONDS,
    Document,
    Folder,
    Name,
    Place,
    Release,
    Releases,
    Repository,
    Seconds,
    Title,
    Variable,
    Words,
)
from feedback_ledger.vocabulary import Ecosystem


class Companion(Document):
    """Packages that old releases of a target need at older versions than they ask for."""

    releases: Releases = Field(description="`A..B`, a stretch of releases in quotes; either end may be left out")
    packages: Words = Field(description="a list of packages, such as `scramp<1.5`")


class Target(Document):
    """A product that findings are about."""

    ecosystem: Ecosystem = Field(default=Ecosystem.SERVICE, description="one of pypi, npm, command, service")
    package: str | None = Field(default=None, description="its name in the package index")
    release: Release | None = Field(
        default=None, description="the release, in quotes, that `run` and `check` test by default"
    )
    upstream: Repository | None = Field(
        default=None,
        description="the repository that takes its issues, `owner/name` on GitHub or `host/owner/name` elsewhere",
    )
    version_command: Words | None = Field(default=None, description="the command, as a list, that prints its version")
    since: Release | None = Field(default=None, description="the oldest release, in quotes, that a sweep looks at")
    companions: tuple[Companion, ...] = Field(default=(), description="a list of tables with `releases` and `packages`")
    folders: Mapping[Release, str] = Field(
        default={}, description="a table from releases of a command to the folders that hold it"
    )

    @model_validator(mode="after")
    def _package_is_named(self) -> Self:
        if self.ecosystem in (Ecosystem.PYPI, Ecosystem.NPM) and not self.package:
            raise ValueError(f'package = "name" for ecosystem {self.ecosystem.value}')
        return self


class Requirement(Document):
    """Something that a run needs; all keys that are given must hold. A reproducer is given the variable that `env`
    names.
    """

    command: str | None = Field(default=None, description="the name of a command on the PATH")
    min_version: str | None = Field(
        default=None, description="the least version, in quotes, that the command's `--version` may print"
    )
    env: Variable | None = Field(default=None, description="the name of an environment variable")
    tcp: Place | None = Field(default=None, description="`host:port` that accepts a connection")
    platform: str | None = Field(default=None, description="the system's name, such as linux or darwin")
    about: str = Field(
        default="",
        repr=False,  # the text of a requirement is what a run depends on; other words for it call for no new run
        description="what it is, in a few words, for whoever lacks it",
    )

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.model_fields_set - {"about"}:
            raise ValueError("one of command, env, tcp, platform")
        if self.min_version and not self.command:
            raise ValueError("command beside min_version")
        return self


class Fixture(Document):
    """A server that the ledger starts once for all runs that ask for it; `{port}` stands for a free port and
    `{folder}` for a private folder that is removed after it.
    """

    command: Words = Field(description="the command, as a list")
    ready: str = Field(description="an http address that answers, or a line on its standard output")
    ready_timeout_s: Seconds = Field(default=60.0, description=SECONDS)
    env: Mapping[str, str] = Field(default={}, description="environment variables of the server")
    exports: Mapping[str, str] = Field(default={}, description="environment variables that its reproducers are given")


class Settings(Document):
    """`[tool.ledger]` of pyproject.toml, or ledger.toml."""

    title: Title = Field(default="Feedback ledger", description="the title of FEEDBACK.md")
    output_limit: Annotated[StrictInt, Field(ge=1024)] = Field(
        default=1024 * 1024, description="how many bytes of each stream are kept, a whole number of at least 1024"
    )
    workarounds: tuple[Folder, ...] = Field(
        default=(), description="a list of folders, seen from the ledger's root, whose files mark workarounds"
    )
    targets: Mapping[Name, Target] = Field(default={}, description="tables named [targets.NAME]")
    requirements: Mapping[Name, Requirement] = Field(default={}, description="tables named [requirements.NAME]")
    fixtures: Mapping[Name, Fixture] = Field(default={}, description="tables named [fixtures.NAME]")
