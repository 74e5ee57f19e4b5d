"""The approach under test: its sockets, its own account of itself, and what it holds at a moment."""

import asyncio
import json
import os
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from wire import Answer, Connection, get, request

PORT = 8080
MANAGEMENT_PORT = 8081
SETTLING_SECONDS = 15
POLL_SECONDS = 0.1
WITHOUT_C2 = "-XX:TieredStopAtLevel=1"


@dataclass(frozen=True)
class Settings:
    """What the approach was asked to be started with: name in .env, value."""

    values: dict[str, str]

    def __getitem__(self, name: str) -> int:
        return int(self.values[name])

    @classmethod
    def from_environment(cls) -> "Settings":
        return cls(dict(os.environ))


@dataclass(frozen=True)
class Holdings:
    """What an approach holds that a leak would let grow; its open files without those of connections."""

    threads: int
    inflight_requests: int
    open_connections: int
    open_files: int
    backend_connections: int


class Scrape:
    """One scrape of /actuator/prometheus. It parses no line but those that are asked for: the parser is slow."""

    def __init__(self, text: str) -> None:
        self._lines = [line for line in text.splitlines() if not line.startswith("#")]

    @property
    def names(self) -> set[str]:
        return {re.split("[{ ]", line, maxsplit=1)[0] for line in self._lines}

    def samples(self, name: str = "") -> list[Sample]:
        """Those of that name; without one, all."""
        lines = "\n".join(line for line in self._lines if line.startswith(name))
        samples = [sample for family in text_string_to_metric_families(lines) for sample in family.samples]
        return [sample for sample in samples if name in {"", sample.name}]

    def series(self, name: str) -> list[dict[str, str]]:
        """The labels of every series of that name."""
        return [dict(sample.labels) for sample in self.samples(name)]

    def value(self, name: str, **labels: str) -> float:
        """The sum of the series of that name that have those labels."""
        samples = self.samples(name)
        assert samples, f"There is no metric {name}."
        return sum(s.value for s in samples if labels.items() <= s.labels.items())


class Crowd:
    """Many connections that are held open and used at the same time."""

    def __init__(self, address: str, connections: list[Connection]) -> None:
        self._address = address
        self.connections = connections

    async def ask(self, raw: bytes) -> tuple[list[Answer], float]:
        """Every connection asks once, all at the same time; answers, and seconds until the last one."""
        started = time.perf_counter()
        answers = await asyncio.gather(*(each.ask(raw) for each in self.connections))
        return answers, time.perf_counter() - started

    async def ask_often(self, raw: bytes, times: int) -> list[Answer]:
        """Every connection asks that often, one request after another; opened anew where the server closes it."""
        batches = await asyncio.gather(*(self._ask_often(i, raw, times) for i in range(len(self.connections))))
        return [answer for batch in batches for answer in batch]

    async def _ask_often(self, index: int, raw: bytes, times: int) -> list[Answer]:
        answers = []
        for _ in range(times):
            answer = await self.connections[index].ask(raw)
            answers.append(answer)
            if answer.connection == "close":
                await self.connections[index].close()
                self.connections[index] = await Connection.open(self._address, PORT)
        return answers


class Approach:
    """A container that runs one approach."""

    def __init__(self, name: str, concurrency: str, *, speaks_http10: bool) -> None:
        self.name = name
        self._concurrency = concurrency
        self._speaks_http10 = speaks_http10
        self._address = socket.gethostbyname(name)
        self.server = ""
        self.client = ""
        self.java = 0

    @property
    def thread_kind(self) -> str:
        """The kind of thread that the approach's concurrency promises for every endpoint."""
        return {"platform-threads": "platform", "virtual-threads": "virtual"}.get(self._concurrency, "event-loop")

    @property
    def a_monitor_pins(self) -> bool:
        """Up to JDK 23 a virtual thread keeps its carrier while it waits within a monitor."""
        return self.thread_kind == "virtual" and self.java < 24

    @property
    def keeps_files_of_garbage(self) -> bool:
        """The JDK's client never closes a connection over which something came that is not HTTP."""
        return self.client == "jdk-httpclient"

    @property
    def limits_no_connections(self) -> bool:
        """microhttp and Netty have no limit of inbound connections."""
        return self.server in {"microhttp", "netty"}

    @property
    def takes_the_longest_idle_backend_connection(self) -> bool:
        return self.client == "jdk-httpclient"

    @property
    def takes_the_next_backend_connection_early(self) -> bool:
        """reactor-netty hands an answer on before it gives the connection back, so a chain of calls uses two."""
        return self.client == "reactor-netty"

    @property
    def ignores_connection_close(self) -> bool:
        """microhttp keeps an HTTP/1.1 connection whatever the client asks."""
        return self.server == "microhttp"

    async def connect(self) -> Connection:
        return await Connection.open(self._address, PORT)

    @asynccontextmanager
    async def crowd(self, size: int) -> AsyncIterator[Crowd]:
        connections = await asyncio.gather(*(self.connect() for _ in range(size)))
        crowd = Crowd(self._address, connections)
        try:
            yield crowd
        finally:
            await asyncio.gather(*(each.close() for each in crowd.connections))

    async def ask(self, raw: bytes) -> Answer:
        """The answer over a connection of its own."""
        async with await self.connect() as connection:
            return await connection.ask(raw)

    async def refuses_http10(self, raw: bytes) -> bool:
        """Whether it does not speak HTTP/1.0, as compose.yaml says, after it was seen to refuse `raw`."""
        if not self._speaks_http10:
            assert (await self.ask(raw)).status >= 400, f"{self.name} answers HTTP/1.0: drop x-http10 in compose.yaml."
        return not self._speaks_http10

    async def about(self) -> dict[str, Any]:
        about: dict[str, Any] = json.loads((await self.ask(get("/about"))).body)
        return about

    async def management(self, path: str, method: str = "GET") -> Answer:
        async with await Connection.open(self._address, MANAGEMENT_PORT) as connection:
            return await connection.ask(request(method, path))

    async def scrape(self) -> Scrape:
        return Scrape((await self.management("/actuator/prometheus")).body.decode())

    async def holdings(self, backend_connections: int) -> Holdings:
        """What it holds now; the caller counts the connections to the backend."""
        scrape = await self.scrape()
        open_connections = int(scrape.value("lab_open_connections"))
        return Holdings(
            threads=int(scrape.value("jvm_threads_live_threads")),
            inflight_requests=int(scrape.value("lab_inflight_requests")),
            open_connections=open_connections,
            open_files=int(scrape.value("process_files_open_files")) - open_connections - backend_connections,
            backend_connections=backend_connections,
        )


async def eventually[T](look: Callable[[], Awaitable[T]], accepted: Callable[[T], bool]) -> T:
    """What is seen once it is accepted; after SETTLING_SECONDS, what was seen last."""
    deadline = time.monotonic() + SETTLING_SECONDS
    seen = await look()
    while not accepted(seen) and time.monotonic() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        seen = await look()
    return seen
