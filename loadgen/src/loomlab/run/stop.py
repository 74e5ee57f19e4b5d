"""SIGINT and SIGTERM as a flag that the loops ask: what was measured is kept, then the program ends with 130."""

import signal
import time
from types import FrameType

TICK_S = 0.2


class Stop:
    """`requested` turns true at the first signal."""

    def __init__(self) -> None:
        self.requested = False

    def install(self) -> None:
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True

    def pause(self, seconds: float) -> None:
        """Waits so long, or until a stop is requested."""
        until = time.monotonic() + seconds
        while not self.requested and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, TICK_S))
