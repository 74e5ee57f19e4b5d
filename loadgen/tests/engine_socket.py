"""An engine of our making behind a Unix socket."""

import json
import os
import socketserver
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from loomlab.exporter.engine import PROJECT, SERVICE


@dataclass
class Told:
    """What it answers: services by the IDs of their containers, when these started; and what it was asked."""

    socket: Path
    services: dict[str, str]
    started: str = "2026-11-23T10:11:12.123456789Z"
    asked: list[str] = field(default_factory=list)

    def answer(self, target: str) -> Any:
        self.asked.append(target)
        path, _, query = target.partition("?")
        if path == "/containers/json":
            assert json.loads(unquote(parse_qs(query)["filters"][0])) == {"label": [PROJECT]}
            return [
                {
                    "Id": one,
                    "Names": [f"/loom-lab-{service}-1"],
                    "Image": f"loom-lab/{service}:jdk25",
                    "Labels": {PROJECT: "loom-lab", SERVICE: service},
                }
                for one, service in self.services.items()
            ]
        container = path.split("/")[2]
        return {"State": {"StartedAt": self.started}} if container in self.services else None


@contextmanager
def engine_of(services: dict[str, str]) -> Iterator[Told]:
    """Answers until the end of the block."""
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        told = Told(Path(folder) / "docker.sock", services)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = told.answer(self.path)
                body = json.dumps(answer).encode()
                self.send_response(404 if answer is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

            def address_string(self) -> str:
                return "unix"

        with socketserver.ThreadingUnixStreamServer(os.fspath(told.socket), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            yield told
            server.shutdown()
