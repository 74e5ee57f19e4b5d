"""What one request is answered with, byte for byte the same for every approach (raw/probe.json)."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import BinaryIO

from loomlab.records.models import Answer, Probe

VERSIONS = ("1.1", "1.0")
LONGEST_HEADER_BYTES = 65_536


def probe(host: str, port: int, target: str, headers: tuple[str, ...], timeout_s: float) -> Probe:
    """One request over HTTP/1.1 and, at the same time, one over HTTP/1.0, each asking for the connection to be kept.

    What cannot be had (no connection, no answer within `timeout_s`, no HTTP) stands in `error`.
    """
    record = Probe(target=target)
    with ThreadPoolExecutor(len(VERSIONS)) as beside:
        asked = {
            version: beside.submit(_ask, (host, port), target, version, headers, timeout_s) for version in VERSIONS
        }
    for version, answer in asked.items():
        try:
            record.answers[version] = answer.result()
        except (OSError, ValueError) as error:
            record.error = f"{host} did not answer {target} over HTTP/{version} ({error})"
    return record


def _ask(address: tuple[str, int], target: str, version: str, headers: tuple[str, ...], timeout_s: float) -> Answer:
    with socket.create_connection(address, timeout_s) as connection, connection.makefile("rb") as reader:
        return _answer(connection, reader, address[0], target, version, headers)


def _answer(
    connection: socket.socket, reader: BinaryIO, host: str, target: str, version: str, headers: tuple[str, ...]
) -> Answer:
    status, answered, body_bytes = _exchange(connection, reader, host, target, version, headers)
    kept = False
    with suppress(OSError, ValueError):  # closed: that is the finding
        _exchange(connection, reader, host, "/about", version, ())  # is answered at once
        kept = True
    return Answer(status=status, headers=answered, body_bytes=body_bytes, kept=kept)


def _exchange(
    connection: socket.socket, reader: BinaryIO, host: str, target: str, version: str, headers: tuple[str, ...]
) -> tuple[str, list[tuple[str, str]], int | None]:
    keep = ("Connection: keep-alive",) if version == "1.0" else ()
    lines = (f"GET {target} HTTP/{version}", f"Host: {host}", "Accept: */*", *keep, *headers, "", "")
    connection.sendall("\r\n".join(lines).encode("ascii"))
    status = _line(reader)
    if not status.startswith("HTTP/"):
        raise ValueError(f"the status line is {status!r}")
    answered: list[tuple[str, str]] = []
    while line := _line(reader):
        name, _, value = line.partition(":")
        answered.append((name, value.strip()))
    fields = {name.lower(): value for name, value in answered}
    if "transfer-encoding" in fields:
        return status, answered, None
    length = int(fields.get("content-length", -1))  # without one the body ends with the connection
    return status, answered, len(reader.read(length))


def _line(reader: BinaryIO) -> str:
    line = reader.readline(LONGEST_HEADER_BYTES)
    if not line.endswith(b"\n"):
        raise ValueError("the connection was closed")
    return line.decode("latin-1").rstrip("\r\n")
