"""The way to the database during the suite: PostgreSQL behind a door that can be held, cut and shut."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PORT = 5432
HOST = "database"
CHUNK_BYTES = 65536


class Database:
    """Passes on what approach and database send each other."""

    def __init__(self) -> None:
        self.most_open = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "0.0.0.0", PORT)  # noqa: S104

    def cut(self) -> None:
        """Breaks every connection, as where the database was killed."""
        for writer in list(self._open):
            writer.transport.abort()

    def refuse(self) -> None:
        """Breaks every connection, and lets none be made."""
        if self._server:
            self._server.close()
        self.cut()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Until the block ends, nothing gets through, and nothing is lost."""
        self._flowing.clear()
        try:
            yield
        finally:
            self._flowing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        self.most_open = max(self.most_open, len(self._open))
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(HOST, PORT)
            ways = [asyncio.create_task(self._pass_on(*way)) for way in ((reader, far_writer), (far_reader, writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            far_writer.transport.abort()
        writer.transport.abort()
        self._open.discard(writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
