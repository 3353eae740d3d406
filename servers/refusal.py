"""What a server answers when it will not, or cannot, do what was asked: one shape for every server and every face."""

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Why a request was refused. A closed vocabulary, so that clients may branch on it."""

    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    WARMING = "warming"
    BUSY = "busy"
    NOT_FOUND = "not_found"
    TOO_LARGE = "too_large"
    NOT_ALLOWED = "not_allowed"
    NOT_AVAILABLE = "not_available"
    INTERNAL = "internal"


@dataclass(frozen=True)
class Refusal:
    """`message` says what happened, in one line; `hint` names what to do next."""

    code: Code
    message: str
    hint: str
