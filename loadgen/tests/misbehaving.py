"""A small HTTP server in the tests' own process that remembers what it was asked, and misbehaves on request."""

import asyncio
import json
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

BODY = b"0123456789"
EVERY, STALL_AFTER = 20, 60
HELD = {
    "heap_used_bytes": 40_000, "rss_anon_bytes": 60_000, "heap_rss_anon_bytes": 45_000, "thread_stack_bytes": 10_000,
    "kernel_bytes": 9_000,
}  # fmt: skip
"""What a request adds to each figure of its memory."""
FAULTS = {"non2xx": "status/503", "slow": "never", "stall": "never"}
"""That behaviours are, where they are not called so."""
CONNECTION = {"noka": "", "last": "Connection: close\r\n"}


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
class Misbehaving:
    """Answers after `delay_s`, or as the request says. By the path: /status/NNN that status, /never nothing, /reset a
    reset, /close the end of the connection, /cut half of a body and then the end, /last an answer that ends the
    connection, /slow after five times `delay_s`. By its behaviour, every 20th request gets `non2xx` (a 503), `slow`
    (nothing), `reset` or `close`; all do `noka` (their connections are not kept), and `stall` nothing after the
    first 60."""

    delay_s: float
    behaviour: str = "well"
    origin: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    inflight: int = 0

    async def traffic(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection = self.connections
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._serve(writer, await _read(reader, connection)):
                pass
        writer.close()

    async def management(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A metrics page, and its memory."""
        asked = await _read(reader, 0)
        page = f"process_cpu_time_ns_total {time.process_time_ns()}\nlab_inflight_requests {self.inflight}\n"
        held = {name: 1_000_000 + each * self.inflight for name, each in HELD.items()}
        memory = json.dumps(held | {"requests_in_flight": self.inflight})
        await _answer(writer, (memory if asked.line.startswith("POST /memory") else page).encode())
        writer.close()

    async def _serve(self, writer: asyncio.StreamWriter, asked: Asked) -> bool:
        """Whether the connection goes on."""
        if asked.path == "/about":
            about = {"approach": urlsplit(self.origin).hostname, "outbound": {"max_connections_per_route": 1000}}
            await _answer(writer, json.dumps(about).encode())
            return True
        self.asked.append(asked)
        fault, wait = self._fault(asked), re.search(r"[?&]delayInMillis=(\d+)", asked.path)
        delay_s = int(wait[1]) / 1000 if wait else self.delay_s * (5 if asked.path.startswith("/slow") else 1)
        self.inflight += 1
        await asyncio.sleep(3600 if fault == "never" else delay_s)
        self.inflight -= 1
        if fault == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        if fault not in {"reset", "close"}:
            await _answer(writer, BODY, fault)
        return fault not in {"reset", "close", "cut", "last", "noka"}

    def _fault(self, asked: Asked) -> str:
        name = asked.path.partition("?")[0].removeprefix("/")
        if name in {"never", "reset", "close", "cut", "last"} or name.startswith("status/"):
            return name
        turns = {"noka": True, "stall": len(self.asked) > STALL_AFTER}
        turn = turns.get(self.behaviour, len(self.asked) % EVERY == 0)
        return FAULTS.get(self.behaviour, self.behaviour) if turn else "well"


async def _read(reader: asyncio.StreamReader, connection: int) -> Asked:
    line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
    at = time.time()
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
    return Asked(at, connection, line, headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _answer(writer: asyncio.StreamWriter, body: bytes, fault: str = "well") -> None:
    status = fault.removeprefix("status/") if fault.startswith("status/") else "200"
    location = "Location: /ok\r\n" if status == "302" else ""
    length = len(body) * (2 if fault == "cut" else 1)
    keep = CONNECTION.get(fault, "Connection: keep-alive\r\n")
    writer.write(f"HTTP/1.1 {status} OK\r\n{keep}{location}Content-Length: {length}\r\n\r\n".encode() + body)
    await writer.drain()


@contextmanager
def running(
    address: str = "", delay_s: float = 0.0, behaviour: str = "well", tls: ssl.SSLContext | None = None
) -> Iterator[Misbehaving]:
    """The server, ready when the block is entered: on port 8080 of a loopback address, with its management port 8081;
    without an address, on a free port."""
    server, loop, host = Misbehaving(delay_s, behaviour), asyncio.new_event_loop(), address or "127.0.0.1"
    ports = [(server.traffic, 8080), (server.management, 8081)] if address else [(server.traffic, 0)]
    listening = [
        loop.run_until_complete(asyncio.start_server(serve, host, port, backlog=4096, ssl=tls)) for serve, port in ports
    ]
    server.origin = f"http{'s' * bool(tls)}://{host}:{listening[0].sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server
    finally:
        for listener in listening:
            loop.call_soon_threadsafe(listener.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
