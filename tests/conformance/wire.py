"""HTTP over raw sockets: a request is sent as it is written, an answer is read as it comes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

ANSWER_DEADLINE_SECONDS = 30


class MalformedAnswerError(Exception):
    """What came is not an answer with a body of a declared length."""


@dataclass(frozen=True)
class Answer:
    """An answer with its headers in order, as they were sent."""

    version: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def names(self) -> list[str]:
        """The headers' names in lower case, sorted, each as often as it came."""
        return sorted(name.lower() for name, _ in self.headers)

    def header(self, name: str) -> str | None:
        """The value of the only header of that name; None without one."""
        values = [value for each, value in self.headers if each.lower() == name.lower()]
        if len(values) > 1:
            raise MalformedAnswerError(f"{name} came {len(values)} times.")
        return values[0] if values else None

    @property
    def connection(self) -> str:
        return (self.header("Connection") or "").lower()


def request(
    method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes | None = None, version: str = "1.1"
) -> bytes:
    """The bytes of a request; with a body it declares the body's length."""
    lines = [f"{method} {target} HTTP/{version}", "Host: approach"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def get(target: str, **headers: str) -> bytes:
    return request("GET", target, headers)


def post_json(target: str, body: bytes) -> bytes:
    return request("POST", target, {"Content-Type": "application/json"}, body)


def chunked(method: str, target: str, body: bytes) -> bytes:
    """A request with a JSON body of undeclared length, in chunks of 64 KiB."""
    chunk_bytes = 65536
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    pieces = [body[start : start + chunk_bytes] for start in range(0, len(body), chunk_bytes)]
    return request(method, target, headers) + b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in [*pieces, b""])


def parse_head(head: bytes) -> tuple[str, tuple[tuple[str, str], ...]]:
    """First line and headers of a message."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise MalformedAnswerError(f"The header {line!r} has no colon.")
        headers.append((name, value.strip()))
    return first, tuple(headers)


class Connection:
    """A client's connection, for one request after another."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, host: str, port: int) -> Self:
        return cls(*await asyncio.open_connection(host, port))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def send(self, raw: bytes) -> None:
        """Sends without waiting for an answer."""
        self._writer.write(raw)

    async def ask(self, raw: bytes) -> Answer:
        """The answer to a request that is sent while the answer may come already; to HEAD, one without a body."""
        async with asyncio.timeout(ANSWER_DEADLINE_SECONDS):
            self.send(raw)
            receiving = self._receive(has_body=not raw.startswith(b"HEAD "))
            answer, _ = await asyncio.gather(receiving, self._writer.drain())
            return answer

    async def is_closed_within(self, seconds: float) -> bool:
        """Whether the server closes the connection in that time."""
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.read(1) == b""
        except TimeoutError:
            return False

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            return

    async def _receive(self, *, has_body: bool) -> Answer:
        first, headers = parse_head(await self._reader.readuntil(b"\r\n\r\n"))
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1."):
            raise MalformedAnswerError(f"What came is no status line: {first}.")
        lengths = [value for name, value in headers if name.lower() == "content-length"]
        if len(lengths) != 1:
            raise MalformedAnswerError(f"The answer has {len(lengths)} Content-Length, not one: {first}, {headers}.")
        body = await self._reader.readexactly(int(lengths[0])) if has_body else b""
        return Answer(version, int(rest[:3]), headers, body)
