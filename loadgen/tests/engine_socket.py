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

STATS: dict[str, Any] = {
    "read": "2026-11-27T21:22:33.85294311Z",
    "pids_stats": {"current": 42},
    "cpu_stats": {
        "cpu_usage": {"total_usage": 3_540_013_000},
        "system_cpu_usage": 9_664_000_000,
        "throttling_data": {"periods": 178, "throttled_periods": 81},
    },
    "memory_stats": {"stats": {"total_rss": 35_045_376}, "limit": 96 << 20},
}
"""What Docker Engine 26.1 tells on a host with cgroups of version 1, as far as it is read."""


@dataclass
class Told:
    """What it answers: services by the IDs of their containers, when these started, their statistics and quotas; and
    what it was asked."""

    socket: Path
    services: dict[str, str]
    started: str = "2026-11-23T10:11:12.123456789Z"
    quotas_ncpu: dict[str, int] = field(default_factory=dict)
    stats: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, target: str) -> Any:
        path, _, query = target.partition("?")
        self.asked.append(path)
        if path == "/containers/json":
            assert json.loads(unquote(parse_qs(query)["filters"][0])) == {"label": [PROJECT]}
            return [{"Id": one} for one in self.services]
        _, _, one, what = path.split("/")
        if one not in self.services:
            return None
        if what == "stats":
            assert query == "stream=false&one-shot=true"
            return STATS | self.stats.get(one, {})
        labels = {PROJECT: "loom-lab", SERVICE: self.services[one]}
        return {
            "Name": f"/loom-lab-{self.services[one]}-1",
            "State": {"StartedAt": self.started},
            "Config": {"Image": f"loom-lab/{self.services[one]}:jdk25", "Labels": labels},
            "HostConfig": {"NanoCpus": self.quotas_ncpu.get(one, 0), "CpuQuota": 0, "CpuPeriod": 0},
        }


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
