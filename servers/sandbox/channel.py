"""The worker's end of the pipe to its server."""

import asyncio
import os
from typing import Any

from wasmer_sdk import PackageLoadProgress

from servers.sandbox import frames
from servers.sandbox.messages import Message, Progress, Request

HELD_BYTES, SOON_S = 65_536, 0.001


class Channel:
    """The pipe to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._held = bytearray()
        self._sending_soon: asyncio.TimerHandle | None = None

    async def receive(self) -> Any:
        """The next request."""
        return await frames.receive(self._reader, Request)

    async def send(self, message: Message) -> None:
        """Sends, and waits while the server is slower than we are."""
        self._held += frames.packed(message)
        self._flush()
        await self._writer.drain()

    async def send_soon(self, message: Message) -> None:
        """Sends together with what comes next, if that is soon: each message alone costs the server a wake-up."""
        if len(self._held) > HELD_BYTES:
            await self.send(message)
            return
        self._held += frames.packed(message)
        if self._sending_soon is None:
            self._sending_soon = asyncio.get_running_loop().call_later(SOON_S, self._flush)

    def _flush(self) -> None:
        if self._sending_soon is not None:
            self._sending_soon.cancel()
            self._sending_soon = None
        self._writer.write(bytes(self._held))
        self._held.clear()


async def open_channel() -> Channel:
    """Takes stdin and stdout for messages; what else would write to stdout goes to stderr instead."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(0), "rb", buffering=0))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
    return Channel(reader, asyncio.StreamWriter(transport, protocol, None, loop))


def teller(channel: Channel, name: str) -> Any:
    """What passes the progress of a download on to the server."""
    told: set[asyncio.Task[None]] = set()

    def tell(progress: PackageLoadProgress) -> None:
        download = progress.download
        message = Progress(f"{progress.phase.value} {name}", download.downloaded_bytes, download.total_bytes or 0)
        task = asyncio.get_running_loop().create_task(channel.send(message))
        told.add(task)
        task.add_done_callback(told.discard)

    return tell
