"""What a run says while it goes: in place on a terminal, else a line at every change of phase and every few seconds."""

import sys
import time
from typing import TextIO

PLAIN_EVERY_S, TERMINAL_EVERY_S = 5, 1
CLEAR = "\r\033[K"


class Progress:
    """Lines of `[label] phase`, how far it is, and a text; messages are lines of their own."""

    def __init__(self, stream: TextIO | None = None, label: str = "", *, terminal: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._label = f"[{label}] " if label else ""
        self._terminal = terminal
        self._every_s = TERMINAL_EVERY_S if terminal else PLAIN_EVERY_S
        self._phase = ""
        self._last = 0.0

    def show(self, phase: str, percent: float | None, seconds_left: float | None, text: str) -> None:
        now = time.monotonic()
        if phase == self._phase and now - self._last < self._every_s:
            return
        self._phase, self._last = phase, now
        share = "" if percent is None else f" {_whole(percent)} %"
        left = "" if seconds_left is None else f", {_whole(seconds_left)} s left"
        line = f"{self._label}{phase}{share}{left}  {text}"
        self._write(f"{CLEAR}{line}" if self._terminal else f"{line}\n")

    def say(self, message: str) -> None:
        self._write(f"{CLEAR if self._terminal else ''}{message}\n")

    def end(self) -> None:
        """Leaves no half line."""
        if self._terminal:
            self._write(CLEAR)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _whole(value: float) -> int:
    return max(round(value), 0)
