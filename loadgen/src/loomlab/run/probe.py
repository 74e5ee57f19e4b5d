"""What one request is answered with, byte for byte the same for every approach (raw/probe.json)."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException, HTTPResponse

from loomlab.records.models import Answer, Probe

VERSIONS = ("1.1", "1.0")
FAILURES = (OSError, ValueError, HTTPException)


def probe(host: str, port: int, target: str, headers: tuple[str, ...], timeout_s: float) -> Probe:
    """One request over HTTP/1.1 and, at the same time, one over HTTP/1.0, each asking for its connection to be kept."""
    record = Probe(target=target)

    def ask(version: str) -> Answer:
        with socket.create_connection((host, port), timeout_s) as connection:
            answer = _exchange(connection, host, target, version, headers)
            if answer.body_bytes is not None:
                with suppress(*FAILURES):  # closed: that is the finding
                    _exchange(connection, host, "/about", version, ())  # is answered at once
                    answer.kept = True
            return answer

    with ThreadPoolExecutor(len(VERSIONS)) as beside:
        answers = {version: beside.submit(ask, version) for version in VERSIONS}
    for version, answer in answers.items():
        try:
            record.answers[version] = answer.result()
        except FAILURES as error:
            record.error = f"{host} did not answer {target} over HTTP/{version} ({error})"
    return record


def _exchange(connection: socket.socket, host: str, target: str, version: str, headers: tuple[str, ...]) -> Answer:
    keep = ("Connection: keep-alive",) if version == "1.0" else ()
    lines = (f"GET {target} HTTP/{version}", f"Host: {host}", "Accept: */*", *keep, *headers, "", "")
    connection.sendall("\r\n".join(lines).encode("ascii"))
    response = HTTPResponse(connection, method="GET")
    response.begin()
    return Answer(
        status=f"HTTP/{response.version / 10} {response.status} {response.reason}",
        headers=response.getheaders(),
        body_bytes=None if response.chunked else len(response.read()),
        kept=False,
    )
