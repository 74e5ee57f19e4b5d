"""Tells the running backend to hang, by its management port."""

import threading
import urllib.request
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from loomlab.models import Hang
from loomlab.progress import Progress

BEHAVIOUR = "http://backend:8081/behaviour"
TIMEOUT_S = 5.0


class Hangs:
    """Within `with`, each hang begins at its time after the start; those that are not due before its end never do."""

    def __init__(self, hangs: Sequence[Hang], progress: Progress, url: str = BEHAVIOUR) -> None:
        self._url = url
        self._progress = progress
        self._timers = [threading.Timer(hang.at_s, self._begin, [hang]) for hang in hangs]

    def __enter__(self) -> Self:
        for timer in self._timers:
            timer.daemon = True
            timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for timer in self._timers:
            timer.cancel()

    def _begin(self, hang: Hang) -> None:
        request = urllib.request.Request(f"{self._url}?hang_ms={hang.duration_s * 1000:.0f}", method="PUT")  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S):  # noqa: S310 - an http URL of the lab
                self._progress.say(f"The backend hangs for {hang.duration_s:.0f} s.")
        except OSError as error:
            self._progress.say(f"The backend could not be told to hang: {error}.")
