"""The one thing about WebAssembly's binary format that we need: a module's memory has a maximum; it can be lowered."""

import itertools
from collections.abc import Iterator

PAGE_BYTES = 65_536
HEADER = b"\0asm\1\0\0\0"
IMPORTS, MEMORIES, GLOBALS = 2, 5, 6
HAS_MAXIMUM = 1
MUTABLE_I32, END = b"\x7f\1\x41", b"\x0b"


class NotAModule(ValueError):
    """The bytes are no WebAssembly module, or one whose memory cannot be limited; the text is one line for the user."""


def with_memory_limit(module: bytes, limit_bytes: int) -> bytes:
    """The module, unable to grow its memory beyond `limit_bytes` (rounded down to pages of 64 KiB).

    A guest that asks for more is told that there is none, as on a machine with that much memory.
    """
    if not module.startswith(HEADER):
        raise NotAModule("not a WebAssembly module: it does not begin with \\0asm and version 1")
    pages = limit_bytes // PAGE_BYTES
    out, limited = bytearray(HEADER), False
    try:
        for kind, body in _sections(module):
            if kind == IMPORTS and _imports_memory(body):
                raise NotAModule("a module that imports its memory cannot be limited; link it with a memory of its own")
            kept = _limited_memories(body, pages) if kind == MEMORIES else body
            limited |= kind == MEMORIES
            out += bytes([kind]) + _leb(len(kept)) + kept
    except IndexError:
        raise NotAModule("not a WebAssembly module: it ends in the middle of a section") from None
    if not limited:
        raise NotAModule("a module without a memory cannot be a WASI program")
    return bytes(out)


def with_stack(module: bytes, top: int, more_bytes: int) -> bytes:
    """The module with its stack moved to new memory of its own, and larger by `more_bytes`.

    `top` is where the linker put the stack's top; the stack pointer is the first global, as LLVM makes it. With the
    64 KiB that a module may come with, a program that recurses writes over the data below before anything notices.
    """
    out = bytearray(HEADER)
    pages = 0
    for kind, body in _sections(module):
        kept = body
        if kind == MEMORIES:
            _, at = _read_leb(body, 2)
            pages = _read_leb(body, 2)[0] + more_bytes // PAGE_BYTES
            kept = body[:2] + _leb(pages) + body[at:]
        elif kind == GLOBALS:
            declared = MUTABLE_I32 + _signed_leb(top) + END
            count, at = _read_leb(body, 0)
            if not body.startswith(declared, at):
                raise NotAModule(f"the module's stack does not begin at {top}")
            moved = MUTABLE_I32 + _signed_leb(pages * PAGE_BYTES) + END
            kept = _leb(count) + moved + body[at + len(declared) :]
        out += bytes([kind]) + _leb(len(kept)) + kept
    return bytes(out)


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    at = len(HEADER)
    while at < len(module):
        kind = module[at]
        size, start = _read_leb(module, at + 1)
        at = start + size
        if at > len(module):
            raise IndexError
        yield kind, module[start:at]


def _limited_memories(body: bytes, pages: int) -> bytes:
    count, at = _read_leb(body, 0)
    out = bytearray(_leb(count))
    for _ in range(count):
        flags = body[at]
        least, at = _read_leb(body, at + 1)
        most = pages
        if flags & HAS_MAXIMUM:
            declared, at = _read_leb(body, at)
            most = min(declared, pages)
        if least > most:
            raise NotAModule(
                f"the module needs {least * PAGE_BYTES} bytes of memory to start; the limit is {pages * PAGE_BYTES}"
            )
        out += bytes([flags | HAS_MAXIMUM]) + _leb(least) + _leb(most)
    return bytes(out)


def _imports_memory(body: bytes) -> bool:
    count, at = _read_leb(body, 0)
    for _ in range(count):
        for _name in range(2):
            length, at = _read_leb(body, at)
            at += length
        kind, at = body[at], at + 1
        match kind:
            case 0:
                _, at = _read_leb(body, at)
            case 1:
                at = _after_limits(body, at + 1)
            case 2:
                return True
            case 3:
                at += 2
            case _:
                raise NotAModule(f"the module imports something of an unknown kind, {kind}")
    return False


def _after_limits(body: bytes, at: int) -> int:
    flags = body[at]
    _, at = _read_leb(body, at + 1)
    return _read_leb(body, at)[1] if flags & HAS_MAXIMUM else at


def _read_leb(data: bytes, at: int) -> tuple[int, int]:
    """The unsigned LEB128 number at `at`, and where it ends."""
    value = 0
    for shift in itertools.count(0, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
    raise AssertionError


def _leb(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _signed_leb(value: int) -> bytes:
    """A number that is not negative, as signed LEB128."""
    unsigned = _leb(value)
    return unsigned if not unsigned[-1] & 0x40 else unsigned[:-1] + bytes([unsigned[-1] | 0x80, 0])
