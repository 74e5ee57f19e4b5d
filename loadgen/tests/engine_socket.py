"""An engine of our making behind a Unix socket."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from loomlab.exporter.engine import PROJECT, SERVICE
from served import serving

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
class FakeEngine:
    """What it answers."""

    socket: Path
    services: dict[str, str]  # by the IDs of their containers
    started: str = "2026-11-23T10:11:12.123456789Z"
    quotas_ncpu: dict[str, int] = field(default_factory=dict)
    stats: dict[str, dict[str, Any]] = field(default_factory=dict)  # what is other than STATS, by ID

    def answer(self, target: str) -> Any:
        """None: there is no such container."""
        path, _, query = target.partition("?")
        if path == "/containers/json":
            assert json.loads(unquote(parse_qs(query)["filters"][0])) == {"label": [PROJECT]}
            return [{"Id": container} for container in self.services]
        _, _, container, what = path.split("/")
        service = self.services.get(container)
        if service is None:
            return None
        if what == "stats":
            assert query == "stream=false&one-shot=true"
            return STATS | self.stats.get(container, {})
        return {
            "Id": container, "Name": f"/loom-lab-{service}-1", "State": {"StartedAt": self.started},
            "Config": {"Image": f"loom-lab/{service}:jdk25", "Labels": {PROJECT: "loom-lab", SERVICE: service}},
            "HostConfig": {"NanoCpus": self.quotas_ncpu.get(container, 0), "CpuQuota": 0, "CpuPeriod": 0, "Memory": 9},
        }  # fmt: skip


@contextmanager
def engine_of(services: dict[str, str]) -> Iterator[FakeEngine]:
    """Answers until the end of the block."""
    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        engine = FakeEngine(Path(folder) / "docker.sock", services)

        def reply(asked: str) -> tuple[int, bytes]:
            answer = engine.answer(asked.removeprefix("GET "))
            return 404 if answer is None else 200, json.dumps(answer).encode()

        with serving(reply, path=engine.socket):
            yield engine
