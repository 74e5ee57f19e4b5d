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

    def ask(version: str) -> Answer:
        with socket.create_connection((host, port), timeout_s) as connection, connection.makefile("rb") as reader:
            answer = _exchange(connection, reader, host, target, version, headers)
            with suppress(OSError, ValueError):  # closed: that is the finding
                _exchange(connection, reader, host, "/about", version, ())  # is answered at once
                answer.kept = True
            return answer

    with ThreadPoolExecutor(len(VERSIONS)) as beside:
        answers = {version: beside.submit(ask, version) for version in VERSIONS}
    for version, answer in answers.items():
        try:
            record.answers[version] = answer.result()
        except (OSError, ValueError) as error:
            record.error = f"{host} did not answer {target} over HTTP/{version} ({error})"
    return record


def _exchange(
    connection: socket.socket, reader: BinaryIO, host: str, target: str, version: str, headers: tuple[str, ...]
) -> Answer:
    keep = ("Connection: keep-alive",) if version == "1.0" else ()
    lines = (f"GET {target} HTTP/{version}", f"Host: {host}", "Accept: */*", *keep, *headers, "", "")
    connection.sendall("\r\n".join(lines).encode("ascii"))
    answer = Answer(status=_line(reader), headers=[], body_bytes=None, kept=False)
    if not answer.status.startswith("HTTP/"):
        raise ValueError(f"the status line is {answer.status!r}")
    while line := _line(reader):
        name, _, value = line.partition(":")
        answer.headers.append((name, value.strip()))
    fields = {name.lower(): value for name, value in answer.headers}
    if "transfer-encoding" not in fields:
        length = int(fields.get("content-length", -1))  # without one the body ends with the connection
        answer.body_bytes = len(reader.read(length))
    return answer


def _line(reader: BinaryIO) -> str:
    line = reader.readline(LONGEST_HEADER_BYTES)
    if not line.endswith(b"\n"):
        raise ValueError("the connection was closed")
    return line.decode("latin-1").rstrip("\r\n")
