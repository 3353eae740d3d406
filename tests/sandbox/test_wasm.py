"""A module's memory has the maximum that we give it, and everything else of it stays as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.sandbox.wasm import PAGE_BYTES, NotAModule, with_memory_limit, with_stack

HEADER = b"\0asm\1\0\0\0"
TYPES = b"\1\4\1\x60\0\0"


def memory(*body: int) -> bytes:
    return bytes([5, len(body), *body])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (memory(1, 0, 2), memory(1, 1, 2, 16)),
        (memory(1, 1, 2, 8), memory(1, 1, 2, 8)),
        (memory(1, 1, 2, 200, 1), memory(1, 1, 2, 16)),
        (memory(1, 1, 2, 16), memory(1, 1, 2, 16)),
        (memory(2, 0, 1, 0, 2), memory(2, 1, 1, 16, 1, 2, 16)),
    ],
)
def test_the_maximum_is_lowered_never_raised(before: bytes, after: bytes) -> None:
    custom = b"\0\5\4name"
    module = HEADER + TYPES + before + custom
    assert with_memory_limit(module, 16 * PAGE_BYTES + 1) == HEADER + TYPES + after + custom


@pytest.mark.parametrize(
    ("module", "says"),
    [
        (b"", "not a WebAssembly module"),
        (b"\0asm\2\0\0\0", "not a WebAssembly module"),
        (b"GIF89a", "not a WebAssembly module"),
        (HEADER, "without a memory"),
        (HEADER + b"\1\xff", "in the middle of a section"),
        (HEADER + b"\5\x10\1\0", "in the middle of a section"),
        (HEADER + memory(1, 0, 200, 1), "the limit is 1048576"),
        (HEADER + b"\2\x08\1\1a\1b\2\0\1", "imports its memory"),
        (HEADER + b"\2\x08\1\1a\1b\x09\0\1", "unknown kind, 9"),
    ],
)
def test_what_cannot_be_limited_is_refused(module: bytes, says: str) -> None:
    with pytest.raises(NotAModule, match=says):
        with_memory_limit(module, 16 * PAGE_BYTES)


def test_other_imports_are_read_over() -> None:
    imports = b"\1a\1b\0\0" + b"\1a\1b\1\x70\1\1\2" + b"\1a\1b\3\x7f\0"
    module = HEADER + bytes([2, len(imports) + 1, 3]) + imports + memory(1, 0, 1)
    assert with_memory_limit(module, PAGE_BYTES).endswith(memory(1, 1, 1, 1))


@given(st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_else_happens(garbage: bytes) -> None:
    try:
        assert with_memory_limit(HEADER + garbage, 16 * PAGE_BYTES).startswith(HEADER)
    except NotAModule as error:
        assert "\n" not in str(error)


def test_the_stack_gets_memory_of_its_own() -> None:
    pointer = bytes([6, 8, 1, 0x7F, 1, 0x41, 0x80, 0xA1, 0x0C, 0x0B])
    moved = bytes([6, 8, 1, 0x7F, 1, 0x41, 0x80, 0x80, 0x18, 0x0B])
    module = HEADER + memory(1, 0, 4) + pointer
    assert with_stack(module, 200_832, 2 * PAGE_BYTES) == HEADER + memory(1, 0, 6) + moved
    with pytest.raises(NotAModule, match="does not begin at 65536"):
        with_stack(module, 65_536, PAGE_BYTES)
