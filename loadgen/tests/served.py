"""Small HTTP servers that stand for a port of a process, each on a free port of 127.0.0.1."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qs, urlparse

NOBODY = "http://127.0.0.1:9"


class UnixServer(ThreadingUnixStreamServer):
    daemon_threads = True


@dataclass
class Served:
    """A server that runs, and what it was asked."""

    origin: str = ""
    asked: list[str] = field(default_factory=list)  # such as `GET /about`
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    connections: int = 0

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])


@contextmanager
def serving(answer: Callable[[str], tuple[int, bytes]], port: int = 0, path: Path | None = None) -> Iterator[Served]:
    """`answer` gives status and body for what is asked, such as `GET /about`; it ends with the block even if that
    fails. `path`: of a Unix socket, in place of a port."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            served.connections += 1
            super().setup()

        def reply(self) -> None:
            asked = f"{self.command} {self.path}"
            served.asked.append(asked)
            status, body = answer(asked)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            served.arrived.release()

        do_GET = do_POST = do_PUT = reply  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    with _listening(Handler, served, port, path):
        yield served


@contextmanager
def dripping(head: bytes, piece: bytes, pause_s: float = 0.05, path: Path | None = None) -> Iterator[Served]:
    """Answers each connection with the head, and then the piece again and again, for as long as somebody reads."""
    served = Served()

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                self.request.recv(65536)
                self.request.sendall(head)
                while True:
                    time.sleep(pause_s)
                    self.request.sendall(piece)

    with _listening(Handler, served, path=path):
        yield served


@contextmanager
def _listening(
    handler: type[BaseRequestHandler], served: Served, port: int = 0, path: Path | None = None
) -> Iterator[None]:
    with UnixServer(str(path), handler) if path else ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        if isinstance(server, ThreadingHTTPServer):
            served.origin = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def prometheus(*answers: Any, port: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Gives these results one after another, the last one for ever, and the queries; a number is a status, another
    value the whole answer."""
    queries: list[str] = []

    def answer(asked: str) -> tuple[int, bytes]:
        queries.append(parse_qs(urlparse(asked.partition(" ")[2]).query)["query"][0])
        value = answers[min(len(queries), len(answers)) - 1]
        if isinstance(value, int):
            return value, b""
        return 200, json.dumps({"data": {"result": value}} if isinstance(value, list) else value).encode()

    with serving(answer, port) as served:
        yield served.origin, queries


def sampled(at: float, approach: str = "app") -> list[dict[str, Any]]:
    """A sample at that time, and one before it, of all that a measurement waits for."""
    wanted = [("container_cpu_usage_seconds_total", service) for service in (approach, "backend", "loadgen")]
    wanted += [("process_start_time_seconds", service) for service in (approach, "backend")]
    values = [[at - 1, "1"], [at, "2"]]
    return [{"metric": {"__name__": name, "service": service}, "values": values} for name, service in wanted]
