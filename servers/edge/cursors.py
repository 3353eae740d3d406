"""Where a listing goes on: opaque to the caller, good for the same filters only, and on every instance."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

_MAC = 12


class BadCursor(ValueError):
    """It was not made by `seal` for these filters."""


def seal(key: bytes, position: int, filters: dict[str, str]) -> str:
    """The cursor of a listing that has come to `position`, a row's id."""
    place = position.to_bytes(8, "big")
    return base64.urlsafe_b64encode(place + _mac(key, place, filters)).decode().rstrip("=")


def opened(key: bytes, cursor: str, filters: dict[str, str]) -> int:
    """The position. Raises BadCursor."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise BadCursor(cursor) from None
    place, shown = raw[:8], raw[8:]
    if not hmac.compare_digest(shown, _mac(key, place, filters)):
        raise BadCursor(cursor)
    return int.from_bytes(place, "big")


def _mac(key: bytes, place: bytes, filters: dict[str, str]) -> bytes:
    said = place + json.dumps(filters, sort_keys=True).encode()
    return hmac.new(key, said, hashlib.sha256).digest()[:_MAC]
