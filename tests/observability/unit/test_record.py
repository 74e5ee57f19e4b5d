"""A record is written until it is told to stop, and read by container and figure."""

import os
import signal
import threading
from pathlib import Path

from watching.own import Kernel, Reading
from watching.record import Record, record

ONE, OTHER = "a" * 64, "b" * 64


class Counting(Kernel):
    """A second more CPU at each reading; the other container ends after two; the third reading asks to stop."""

    def __init__(self) -> None:
        super().__init__()
        self._readings = 0

    def containers(self) -> dict[str, Reading]:
        self._readings += 1
        if self._readings == 3:
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGTERM)).start()
        there = [ONE, OTHER] if self._readings < 3 else [ONE]
        return {name: Reading(float(self._readings), 29, 1024) for name in there}


def test_what_was_recorded_is_read_again(tmp_path: Path) -> None:
    record(Counting(), tmp_path / "own")
    read = Record(tmp_path / "own")
    assert read.of(ONE, "cpu_seconds").values[:3] == [1, 2, 3]
    assert read.of(OTHER, "threads").values == [29, 29]
    assert read.of("c" * 64, "threads").values == []
