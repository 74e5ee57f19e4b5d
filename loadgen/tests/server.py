"""A small HTTP server that keeps HTTP/1.0 connections alive and can misbehave; on a loopback address of its own.

`python server.py ADDRESS DELAY_S BEHAVIOUR`: traffic on port 8080; a metrics page, and its memory, on 8081.
"""

import asyncio
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

EVERY = 20
STALL_AFTER = 60
POSTED = b'{"title": "Alien"}'
HELD = {
    "heap_used_bytes": 40_000,
    "rss_anon_bytes": 60_000,
    "heap_rss_anon_bytes": 45_000,
    "thread_stack_bytes": 10_000,
    "kernel_bytes": 9_000,
}
"""What a request adds to each figure of its memory."""
ABOUT = b'{"approach": "test", "outbound": {"max_connections_per_route": 1000}}'


class Server:
    def __init__(self, delay_s: float, behaviour: str) -> None:
        self.delay_s = delay_s
        self.behaviour = behaviour
        self.count = 0
        self.inflight = 0

    async def traffic(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(body_bytes(head))
                if head.startswith(b"GET /about"):
                    self.answer(writer, b"200 OK", ABOUT)
                    break
                self.count += 1
                wanted = b"Content-Type: application/json\r\n" in head and body == POSTED
                odd = not wanted if self.behaviour == "post" else self.count % EVERY == 0
                self.inflight += 1
                goes_on = await self.serve(writer, wait_s(head) or self.delay_s, odd, late=self.count > STALL_AFTER)
                self.inflight -= 1
                if not goes_on:
                    break
        writer.close()

    async def serve(self, writer: asyncio.StreamWriter, delay_s: float, odd: bool, late: bool) -> bool:
        """Whether the connection goes on."""
        hangs = late if self.behaviour == "stall" else odd and self.behaviour == "slow"
        await asyncio.sleep(3600 if hangs else delay_s)
        if odd and self.behaviour == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return False
        if odd and self.behaviour == "close":
            return False
        status = b"503 Busy" if odd and self.behaviour in {"non2xx", "post"} else b"200 OK"
        self.answer(writer, status, b"0123456789")
        return self.behaviour != "noka"

    def answer(self, writer: asyncio.StreamWriter, status: bytes, body: bytes) -> None:
        keep = b"" if self.behaviour == "noka" else b"Connection: keep-alive\r\n"
        writer.write(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, keep, len(body), body))

    async def metrics(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        page = b"process_cpu_time_ns_total %d\nlab_inflight_requests %d\n" % (time.process_time_ns(), self.inflight)
        self.answer(writer, b"200 OK", self.memory() if head.startswith(b"POST /memory") else page)
        writer.close()

    def memory(self) -> bytes:
        held = {name: (1_000_000 + each * self.inflight) for name, each in HELD.items()}
        return json.dumps(held | {"requests_in_flight": self.inflight}).encode()

    async def run(self, address: str) -> None:
        async with (
            await asyncio.start_server(self.traffic, address, 8080, backlog=4096),
            await asyncio.start_server(self.metrics, address, 8081),
        ):
            print("ready", flush=True)  # noqa: T201
            await asyncio.get_running_loop().create_future()


def wait_s(head: bytes) -> float:
    """As the request says, 0 where it does not."""
    wait = re.search(rb"^GET [^ ]*[?&]delayInMillis=(\d+)", head)
    return int(wait[1]) / 1000 if wait else 0.0


def body_bytes(head: bytes) -> int:
    length = re.search(rb"\r\nContent-Length: (\d+)\r\n", head)
    return int(length[1]) if length else 0


@contextmanager
def running(address: str, delay_s: float, behaviour: str = "well") -> Iterator[None]:
    """The server in a process of its own, ready when the block is entered."""
    command = [sys.executable, str(Path(__file__)), address, str(delay_s), behaviour]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(Server(float(sys.argv[2]), sys.argv[3]).run(sys.argv[1]))
