"""A small HTTP/1.1 server in the tests' own process that remembers what it was asked."""

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

BODY = b"0123456789"
DELAYS = {"/slow": 5, "/never": 10_000}


@dataclass(frozen=True)
class Asked:
    """`at` in epoch seconds, `connection` in the order they were opened in."""

    at: float
    connection: int
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


@dataclass
class Recorder:
    """Answers after `delay_s`; by the path: /status/NNN that status, /never nothing, /reset a reset, /close the end of
    the connection, /cut half of a body and then the end, /last an answer that ends the connection, /slow after five
    times `delay_s`."""

    delay_s: float
    origin: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection = self.connections
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._answer(writer, await self._read(reader, connection)):
                pass
        writer.close()

    async def _read(self, reader: asyncio.StreamReader, connection: int) -> Asked:
        line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
        at = time.time()
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(at, connection, line, headers, body)
        self.asked.append(asked)
        return asked

    async def _answer(self, writer: asyncio.StreamWriter, asked: Asked) -> bool:
        """Whether the connection goes on."""
        await asyncio.sleep(self.delay_s * DELAYS.get(asked.path.partition("?")[0], 1))
        if asked.path == "/reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        if asked.path in {"/reset", "/close"}:
            return False
        status = asked.path.rpartition("/")[2] if asked.path.startswith("/status/") else "200"
        length = len(BODY) * (2 if asked.path == "/cut" else 1)
        last = b"Connection: close\r\n" if asked.path == "/last" else b""
        head = b"HTTP/1.1 %b Status\r\n%bLocation: /ok\r\nContent-Length: %d\r\n\r\n" % (status.encode(), last, length)
        writer.write(head + BODY)
        await writer.drain()
        return asked.path not in {"/cut", "/last"}


@contextmanager
def recording(delay_s: float = 0.0) -> Iterator[Recorder]:
    """A server on a free port, ready when the block is entered."""
    recorder = Recorder(delay_s)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(recorder.serve, "127.0.0.1", 0, backlog=1024))
    recorder.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield recorder
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
