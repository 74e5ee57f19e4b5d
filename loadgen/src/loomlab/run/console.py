"""The terminal's side of a run: what it says while it goes, and the signals that end it."""

import signal
import sys
import time
from typing import TextIO

from loomlab.basics.format import plain

TICK_S = 0.2
PLAIN_EVERY_S, TERMINAL_EVERY_S = 5, 1
CLEAR = "\r\033[K"


class Stop:
    """SIGINT and SIGTERM as a flag that the loops ask, so that what was measured is kept; the program ends with 130."""

    def __init__(self) -> None:
        self.requested = False

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, *_: object) -> None:
        self.requested = True

    def pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.requested and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, TICK_S))


class Progress:
    """Lines of `[label] phase`, how far it is, and a text: in place on a terminal, else one now and then."""

    def __init__(self, stream: TextIO | None = None, label: str = "", *, terminal: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._label = f"[{label}] " if label else ""
        self._begin, self._end = (CLEAR, "") if terminal else ("", "\n")
        self._every_s = TERMINAL_EVERY_S if terminal else PLAIN_EVERY_S
        self._phase = ""
        self._last = 0.0

    def show(self, phase: str, text: str, how_far: str = "") -> None:
        now = time.monotonic()
        if phase == self._phase and now - self._last < self._every_s:
            return
        self._phase, self._last = phase, now
        self._write(f"{self._begin}{self._label}{phase}{how_far}  {plain(text)}{self._end}")

    def say(self, message: str) -> None:
        self._write(f"{self._begin}{plain(message)}\n")

    def end(self) -> None:
        self._write(self._begin)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
