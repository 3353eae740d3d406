"""What the tools of `wasmer-sandbox` take and answer, as models; and how bytes become text and back."""

import base64
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from servers.refusal import Code, Refusal
from servers.sandbox.outcome import Files, Health, Network, Outcome, Ran
from servers.toolserver import Answer
from servers.workarounds import workaround

MOST_READ = 1 << 20


class Encoding(StrEnum):
    """How a file's bytes are written in JSON."""

    TEXT = "text"
    BASE64 = "base64"


CodeText = Annotated[str, Field(description="Python source. Only what it prints is answered.")]
Args = Annotated[list[str], Field(description="Arguments for the program.")]
Stdin = Annotated[str, Field(description="What the program reads from its standard input.")]
Env = Annotated[dict[str, str], Field(description="Environment variables for this call.")]
Timeout = Annotated[float, Field(gt=0, description="Seconds after which the program is stopped.")]
NetworkName = Annotated[
    Network,
    Field(
        description="Which sandbox. `disabled`: no network. `host`: packages that have sockets may use this machine's; "
        "the `python` and `js` that come with the server have none. Each has files of its own."
    ),
]
Path_ = Annotated[str, Field(description="Below /workspace; a relative path is taken from there.")]


class RanAnswer(Answer):
    """How a program ended, and what it wrote."""

    outcome: Outcome = Field(description="`exited` by itself; everything else is told in `note`.")
    exit_code: int | None = Field(description="Its own exit code; null unless it exited.")
    exit_code_is_exact: bool = Field(description="False where a code above 255 arrives as its low byte.")
    stdout: str
    stderr: str
    stdout_bytes: int = Field(description="How much it wrote, even if less is shown.")
    stderr_bytes: int = Field(description="How much it wrote, even if less is shown.")
    truncated: bool = Field(description="Whether more was written than is shown.")
    duration_ms: int
    files: Files = Field(description="`kept`: /workspace is as the program left it. `restored`: as before the call.")
    note: str = Field(description="What else there is to know; empty for an ordinary run.")


class WrittenAnswer(Answer):
    """A file that was written."""

    path: str
    size: int = Field(description="Bytes.")


class FileAnswer(Answer):
    """A piece of a file."""

    path: str
    encoding: Encoding
    content: str
    offset: int = Field(description="Where the piece begins, in bytes.")
    size: int = Field(description="Bytes in the whole file.")
    next_offset: int | None = Field(description="Where to read on; null at the end.")


class EntryAnswer(Answer):
    """One thing in a folder."""

    name: str
    kind: str = Field(description="`file` or `directory`.")
    size: int = Field(description="Bytes.")


class FolderAnswer(Answer):
    """A folder, sorted by name."""

    path: str
    entries: list[EntryAnswer]


class InstalledAnswer(Answer):
    """What a package added."""

    commands: list[str] = Field(description="For run_command.")


class ResetAnswer(Answer):
    """An emptied sandbox."""

    network: Network
    files_removed: int


class SlotAnswer(Answer):
    """One sandbox."""

    network: Network
    health: Health
    detail: str
    commands: list[str]
    waiting_calls: int
    restarts: int = Field(description="How often its worker process had to be replaced.")
    files: int
    workspace_bytes: int
    memory_bytes: int = Field(description="What its worker process holds in memory.")


class LimitsAnswer(Answer):
    """What a call may use up. Sizes in bytes, times in seconds."""

    time_s: float
    longest_s: float
    memory_bytes: int
    output_bytes: int
    file_bytes: int
    workspace_bytes: int
    workspace_files: int


class InfoAnswer(Answer):
    """The server."""

    version: str
    sdk_version: str = Field(description="Of wasmer-sdk; empty until a sandbox is warm.")
    runtime_source: str
    runtimes: dict[str, str]
    uptime_s: float
    limits: LimitsAnswer
    sandboxes: list[SlotAnswer]
    package_folders: list[str] = Field(description="From where install_sandbox_package takes files.")
    notes: list[str]


def ran_answer(ran: Ran) -> RanAnswer:
    """What a client is told of a command that ran."""
    return RanAnswer(
        outcome=ran.outcome,
        exit_code=ran.exit_code,
        exit_code_is_exact=ran.exit_code_is_exact,
        stdout=_text(ran.stdout),
        stderr=_text(ran.stderr),
        stdout_bytes=ran.stdout_bytes,
        stderr_bytes=ran.stderr_bytes,
        truncated=ran.stdout_bytes > len(ran.stdout) or ran.stderr_bytes > len(ran.stderr),
        duration_ms=round(ran.duration_s * 1000),
        files=ran.files,
        note=ran.note,
    )


def _text(data: bytes) -> str:
    """Output as text; bytes that are none become U+FFFD."""
    return data.decode("utf-8", "replace" if workaround("F-055") else "surrogateescape")


def bytes_of(content: str, encoding: Encoding) -> bytes | Refusal:
    """The bytes that a client means."""
    match encoding:
        case Encoding.TEXT:
            return content.encode("utf-8", "replace")
        case Encoding.BASE64:
            try:
                return base64.b64decode(content, validate=True)
            except ValueError as error:
                return Refusal(Code.INVALID_ARGUMENTS, f"content is not base64: {error}", "Encode the bytes again.")


def shown(data: bytes, wanted: Encoding | None, *, more: bool) -> tuple[Encoding, str, int]:
    """The bytes as JSON carries them, and how many these are: a character cut in two waits for the next piece."""
    if wanted is not Encoding.BASE64:
        cut = len(data) - _unfinished(data) if more else len(data)
        try:
            return Encoding.TEXT, data[:cut].decode(), cut
        except UnicodeDecodeError:
            if wanted is Encoding.TEXT:
                return Encoding.TEXT, _text(data), len(data)
    return Encoding.BASE64, base64.b64encode(data).decode(), len(data)


def _unfinished(data: bytes) -> int:
    """How many bytes at the end begin a UTF-8 character without finishing it."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if needed > back and back < len(data) else 0
        if byte < 0x80:
            return 0
    return 0
