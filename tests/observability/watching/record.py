"""A record of every container's own counters while a lab runs: lines of JSON, one a moment."""

import json
import signal
import threading
import time
from dataclasses import asdict
from pathlib import Path

from watching.own import Kernel
from watching.series import Series

EVERY_SECONDS = 0.5


def record(kernel: Kernel, file: Path) -> None:
    """Until SIGTERM."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with file.open("w") as lines:
        while not stop.wait(EVERY_SECONDS - time.time() % EVERY_SECONDS):
            moment = {"time": time.time(), "containers": {id_: asdict(one) for id_, one in kernel.containers().items()}}
            lines.write(json.dumps(moment) + "\n")
            lines.flush()


class Record:
    """What `record` wrote."""

    def __init__(self, file: Path) -> None:
        self._moments = [json.loads(line) for line in file.read_text().splitlines()]

    def of(self, container: str, figure: str) -> Series:
        """One figure (a field of Reading) of the container with that ID."""
        return Series(
            tuple(
                (moment["time"], float(moment["containers"][container][figure]))
                for moment in self._moments
                if container in moment["containers"]
            )
        )
