"""Asks and changes how the running backend behaves, by its management port."""

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from loomlab.basics.errors import UsageError
from loomlab.records.delay import Delay, delay_of
from loomlab.records.models import Hang
from loomlab.run.progress import Progress
from loomlab.run.prometheus import UnreachableError, answered, get_json

BEHAVIOUR = "http://backend:8081/behaviour"


class Behaviour:
    """The backend's delay; every call raises UnreachableError where the backend does not answer as it should."""

    def __init__(self, url: str = BEHAVIOUR) -> None:
        self._url = url

    def delay(self) -> Delay:
        """The one that holds now."""
        answer = get_json(self._url)
        try:
            return delay_of(str(answer["delay"]))
        except (TypeError, KeyError, UsageError) as error:
            raise UnreachableError(f"{self._url} did not report a delay") from error

    def set_delay(self, delay: Delay) -> None:
        self._put(delay=delay.text)

    def lend(self, delay_ms: int, lasting_ms: int) -> None:
        """A delay that ends by itself after so long, whatever becomes of the borrower."""
        self._put(delay=str(delay_ms), delay_for_ms=str(lasting_ms))

    def hang(self, lasting_ms: int) -> None:
        self._put(hang_ms=str(lasting_ms))

    def _put(self, **parameters: str) -> None:
        answered(f"{self._url}?{urlencode(parameters)}", "PUT")


class Hangs:
    """Within `with`, each hang begins at its time after the start; those that are not due before its end never do."""

    def __init__(self, hangs: Sequence[Hang], progress: Progress, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
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
        try:
            self._behaviour.hang(round(hang.duration_s * 1000))
        except UnreachableError as error:
            self._progress.say(f"The backend could not be told to hang: {error}.")
        else:
            self._progress.say(f"The backend hangs for {hang.duration_s:.0f} s.")
