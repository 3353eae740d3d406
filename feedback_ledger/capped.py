"""What is kept of a stream that may be endless: its head and its tail, clean, and how much was cut between them."""

from __future__ import annotations

import os
from typing import IO

from feedback_ledger.redact import MARGIN, Redactor


def kept(file: IO[bytes], limit: int, redactor: Redactor) -> tuple[bytes, int]:
    """What is kept of a stream, cleaned, and how many bytes were cut from its middle. Memory is bounded by the
    limit.
    """
    fd = file.fileno()
    size = os.fstat(fd).st_size
    if size <= limit:
        return redactor.stream(os.pread(fd, size, 0)), 0
    half = limit // 2
    seen = min(half + MARGIN, size)
    head = redactor.stream(os.pread(fd, seen, 0))
    tail = redactor.stream(os.pread(fd, seen, size - seen))
    # Placeholders may be shorter than what they stand for. What lies at the inner edge may be half of a secret, so it
    # goes even where that leaves less than might be kept.
    head = head[: min(half, max(len(head) - MARGIN, 0))] if seen < size else head[:half]
    tail = tail[max(len(tail) - half, min(MARGIN, len(tail))) :] if seen < size else tail[len(tail) - half :]
    head, tail = _whole_characters(head, tail)
    cut = size - len(head) - len(tail)
    return head + f"\n[... {cut:,} bytes cut ...]\n".encode() + tail, cut


def _whole_characters(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Drops the halves of a UTF-8 character that a cut has left, so that text stays text."""
    for back in range(1, min(4, len(head) + 1)):
        if head[-back] >= 0xC0:
            length = 2 if head[-back] < 0xE0 else 3 if head[-back] < 0xF0 else 4
            head = head[:-back] if length > back else head
            break
        if head[-back] < 0x80:
            break
    start = next((i for i in range(min(4, len(tail))) if tail[i] & 0xC0 != 0x80), 0)
    return head, tail[start:]
