"""Lines on stderr: `progress <phase> <percent|-> <seconds left|-> <text>` for the host script, others for people."""

import sys
import time
from typing import TextIO


class Progress:
    """Writes at most one progress line a second, but always the first of a phase."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._phase = ""
        self._last = 0.0

    def show(self, phase: str, percent: float | None, seconds_left: float | None, text: str) -> None:
        now = time.monotonic()
        if phase == self._phase and now - self._last < 1:
            return
        self._phase, self._last = phase, now
        self._write(f"progress {phase} {_whole(percent)} {_whole(seconds_left)} {text}")

    def say(self, message: str) -> None:
        self._write(message)

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def _whole(value: float | None) -> str:
    return "-" if value is None else str(max(round(value), 0))
