"""Asks Docker's engine, over its socket, which containers run and what they take."""

import http.client
import json
import socket
import urllib.parse
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from loomlab.basics.errors import CannotMeasureError

PROJECT, SERVICE = "com.docker.compose.project", "com.docker.compose.service"
TIMEOUT_S = 5.0
NANO = 1e9
DEFAULT_PERIOD_US = 100_000
"""Of CPU quotas that are given in CPUs (NanoCpus)."""


@dataclass(frozen=True)
class Usage:
    """What a container took since it was started, at `at`, epoch seconds. `anonymous_bytes` has no mapped files and no
    kernel memory. None: the engine does not tell, or there is no such limit."""

    at: float
    cpu_seconds: float
    host_cpu_seconds: float | None
    anonymous_bytes: int | None
    threads: int | None
    periods: int | None
    throttled_periods: int | None
    memory_limit_bytes: int | None


@dataclass(frozen=True)
class Container:
    """A container that runs; `project` and `service` are Compose's, `started` is in epoch seconds."""

    id: str
    name: str
    image: str
    project: str
    service: str
    started: float
    quota_us: int | None
    period_us: int | None


class Engine:
    """The engine behind a Unix socket; every call raises CannotMeasureError where it does not answer."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def running(self) -> list[str]:
        """The IDs of the containers that Compose started."""
        filters = urllib.parse.quote(json.dumps({"label": [PROJECT]}))
        return [one["Id"] for one in self._asked(f"/containers/json?filters={filters}")]

    def container(self, container_id: str) -> Container:
        """What does not change while it runs."""
        told = self._asked(f"/containers/{container_id}/json")
        limits, labels = told["HostConfig"], told["Config"]["Labels"] or {}
        quota_us = limits.get("CpuQuota") or round((limits.get("NanoCpus") or 0) / NANO * DEFAULT_PERIOD_US)
        return Container(
            id=container_id,
            name=told["Name"].removeprefix("/"),
            image=told["Config"]["Image"],
            project=labels.get(PROJECT, ""),
            service=labels.get(SERVICE, ""),
            started=datetime.fromisoformat(told["State"]["StartedAt"]).timestamp(),
            quota_us=quota_us if quota_us > 0 else None,
            period_us=(limits.get("CpuPeriod") or DEFAULT_PERIOD_US) if quota_us > 0 else None,
        )

    def usage(self, container_id: str) -> Usage:
        """What it took up to now (ContainerStats of the engine's API; memory as cgroup 1 or 2 names it)."""
        told = self._asked(f"/containers/{container_id}/stats?stream=false&one-shot=true")
        cpu, memory = told["cpu_stats"], told.get("memory_stats") or {}
        throttling, parts = cpu.get("throttling_data") or {}, memory.get("stats") or {}
        return Usage(
            at=datetime.fromisoformat(told["read"]).timestamp(),
            cpu_seconds=cpu["cpu_usage"]["total_usage"] / NANO,
            host_cpu_seconds=cpu["system_cpu_usage"] / NANO if cpu.get("system_cpu_usage") else None,
            anonymous_bytes=parts.get("anon", parts.get("total_rss")),
            threads=(told.get("pids_stats") or {}).get("current"),
            periods=throttling.get("periods"),
            throttled_periods=throttling.get("throttled_periods"),
            memory_limit_bytes=memory.get("limit"),
        )

    def _asked(self, target: str) -> Any:
        connection = UnixConnection(self._path)
        try:
            connection.request("GET", target)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise CannotMeasureError(f"The engine does not answer at {self._path}: {error}.") from error
        finally:
            connection.close()
        if answer.status // 100 != 2:
            raise CannotMeasureError(f"The engine answered {answer.status} to {target.partition('?')[0]}.")
        return json.loads(body)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._socket_path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(str(self._socket_path))
