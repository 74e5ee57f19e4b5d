"""The backend that an approach calls during the suite: records every call, answers as it is told."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from uuid import uuid4

from wire import parse_head

PORT = 9000
BACKLOG = 4096


class Then(Enum):
    """What becomes of the connection after a reply."""

    KEEP = auto()
    CLOSE = auto()
    RESET = auto()


@dataclass(frozen=True)
class Call:
    """A request that reached the backend."""

    connection: int
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]

    @property
    def names(self) -> set[str]:
        return {name.lower() for name, _ in self.headers}


@dataclass(frozen=True)
class Reply:
    """Bytes to send after a delay; None is silence."""

    raw: bytes | None
    delay_seconds: float = 0
    then: Then = Then.KEEP


def http(body: str, status: str = "200 OK", kind: str = "text/plain;charset=UTF-8", header: str = "") -> Reply:
    """A well-formed HTTP/1.1 reply; header ends with a line end."""
    encoded = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(encoded)}\r\n{header}\r\n"
    return Reply(head.encode() + encoded)


def json_reply(value: object) -> Reply:
    return http(json.dumps(value), kind="application/json")


def meetings_of(user_id: str) -> str:
    meetings = {"meetings": [{"time": "now", "subject": f"für {user_id}"}]}
    return json.dumps(meetings, ensure_ascii=False, separators=(",", ":"))


def usual_reply(target: str) -> Reply:
    """Answers that show by their content which answer they follow from."""
    name, _, argument = target.removeprefix("/").partition("/")
    path, _, query = target.partition("?")
    answers: dict[str, Callable[[], Reply]] = {
        "/authentication": lambda: http(str(uuid4())),
        f"/authorization/{argument}": lambda: http(f"ROLE_{argument}"),
        f"/capabilities/{argument}": lambda: http(f"für {argument}"),
        "/authenticate": lambda: json_reply({"userId": f"user-{uuid4()}", "since": 2026}),
        "/authorize": lambda: json_reply({"authorities": ["any", "get-meetings"]}),
        "/meetings": lambda: http(meetings_of(query.removeprefix("id=")), kind="application/json"),
    }
    if name == "delay":
        return Reply(http(argument).raw, float(argument))
    return answers.get(path, lambda: http("no such path", "404 Not Found"))()


class Backend:
    """A server on all addresses. Its replies can be changed while it runs."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.most_open = 0
        self._delay_seconds = 0.0
        self._replies: Mapping[str, Reply] = {}
        self._server: asyncio.Server | None = None
        self._open: dict[int, asyncio.Transport] = {}
        self._accepted = 0
        self._holding: tuple[str, int | None] | None = None
        self._held: list[Callable[[], None]] = []

    @property
    def open_connections(self) -> int:
        return len(self._open)

    async def listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Conversation(self), "0.0.0.0", PORT, backlog=BACKLOG)  # noqa: S104

    async def refuse(self) -> None:
        """Refuses new connections and closes those that are open."""
        if self._server:
            self._server.close()
        for transport in list(self._open.values()):
            transport.close()
        while self._open:
            await asyncio.sleep(0)

    def forget(self) -> None:
        """Starts the record of calls anew."""
        self.calls.clear()
        self.most_open = self.open_connections

    def targets(self) -> list[str]:
        return [call.target for call in self.calls]

    @contextmanager
    def replying(self, replies: Mapping[str, Reply]) -> Iterator[None]:
        """Gives these replies to targets that start so, until the block ends."""
        self._replies = replies
        try:
            yield
        finally:
            self._replies = {}

    @contextmanager
    def delayed(self, seconds: float) -> Iterator[None]:
        """Gives every usual reply that much later, until the block ends."""
        self._delay_seconds = seconds
        try:
            yield
        finally:
            self._delay_seconds = 0.0

    @contextmanager
    def holding(self, prefix: str, calls: int | None = None) -> Iterator[None]:
        """Keeps the replies to targets that start so back, until that many wait at once, or the block ends."""
        self._holding = prefix, calls
        try:
            yield
        finally:
            self._release()

    def has_open(self, connections: Iterable[int]) -> bool:
        """Whether any of the connections with these numbers is open."""
        return not self._open.keys().isdisjoint(connections)

    def opened(self, transport: asyncio.Transport) -> int:
        self._accepted += 1
        self._open[self._accepted] = transport
        self.most_open = max(self.most_open, len(self._open))
        return self._accepted

    def closed(self, connection: int) -> None:
        del self._open[connection]

    def receive(self, call: Call, answer: Callable[[Reply], None]) -> None:
        """Records the call and answers it, at once or when it is no longer held back."""
        self.calls.append(call)
        reply = self._reply_to(call)
        if self._holding is None or not call.target.startswith(self._holding[0]):
            answer(reply)
            return
        self._held.append(lambda: answer(reply))
        if len(self._held) == self._holding[1]:
            self._release()

    def _release(self) -> None:
        held, self._held, self._holding = self._held, [], None
        for answer in held:
            answer()

    def _reply_to(self, call: Call) -> Reply:
        for prefix, reply in self._replies.items():
            if call.target.startswith(prefix):
                return reply
        usual = usual_reply(call.target)
        return Reply(usual.raw, usual.delay_seconds + self._delay_seconds)


class _Conversation(asyncio.Protocol):
    """One connection of an approach: GET requests, one after another."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._number = self._backend.opened(transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._backend.closed(self._number)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            first, headers = parse_head(head)
            method, target, version = first.split(" ")
            self._backend.receive(Call(self._number, method, target, version, headers), self._answer)

    def _answer(self, reply: Reply) -> None:
        if reply.raw is None:
            return
        if reply.delay_seconds:
            asyncio.get_running_loop().call_later(reply.delay_seconds, self._send, reply)
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(reply.raw or b"")
        if reply.then is Then.CLOSE:
            self._transport.close()
        elif reply.then is Then.RESET:
            no_linger = struct.pack("ii", 1, 0)
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
            self._transport.abort()
