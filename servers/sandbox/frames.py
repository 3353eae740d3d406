"""Messages on a pipe: four bytes of length, then MessagePack."""

import asyncio
from typing import Any

import msgspec

from servers.sandbox.messages import Message

LENGTH_BYTES = 4
LARGEST = 256 << 20


class BadFrame(Exception):
    """The other side does not speak our language."""


def packed(message: Message) -> bytes:
    """The message as it goes through the pipe."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


async def receive(stream: asyncio.StreamReader, kinds: Any) -> Any:
    """The next message, one of `kinds`.

    Raises asyncio.IncompleteReadError at the end of the stream, BadFrame for anything that is no such message.
    """
    length = int.from_bytes(await stream.readexactly(LENGTH_BYTES), "big")
    if length > LARGEST:
        raise BadFrame(f"a message of {length} bytes")
    try:
        return msgspec.msgpack.decode(await stream.readexactly(length), type=kinds)
    except msgspec.DecodeError as error:
        raise BadFrame(str(error)) from None
