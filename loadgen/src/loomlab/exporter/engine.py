"""Asks Docker's engine, over its socket, which containers run."""

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


@dataclass(frozen=True)
class Container:
    """One that runs; `project` and `service` are Compose's."""

    id: str
    name: str
    image: str
    project: str
    service: str


class Engine:
    """The engine behind a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def containers(self) -> list[Container]:
        """Those that Compose started; raises CannotMeasureError."""
        filters = urllib.parse.quote(json.dumps({"label": [PROJECT]}))
        return [
            Container(
                id=one["Id"],
                name=one["Names"][0].removeprefix("/") if one["Names"] else "",
                image=one["Image"],
                project=one["Labels"].get(PROJECT, ""),
                service=one["Labels"].get(SERVICE, ""),
            )
            for one in self._asked(f"/containers/json?filters={filters}")
        ]

    def started(self, container_id: str) -> float:
        """When it was started last, epoch seconds; raises CannotMeasureError."""
        told = self._asked(f"/containers/{container_id}/json")["State"]["StartedAt"]
        return datetime.fromisoformat(told).timestamp()

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
