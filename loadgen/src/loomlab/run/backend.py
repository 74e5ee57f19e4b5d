"""Asks and changes how the running backend behaves."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from loomlab.basics.errors import UsageError
from loomlab.records.delay import Delay, delay_of
from loomlab.records.endpoints import Endpoint, with_wait
from loomlab.records.load import Load
from loomlab.records.models import Hang
from loomlab.run.console import Progress
from loomlab.run.management import PORT, Management
from loomlab.run.prometheus import UnreachableError, answered, json_object

LEASE_MS = 60_000
"""The longest that the backend grants."""


class Backend(Management):
    """The management port of the backend; raises UnreachableError where it does not take a change."""

    def __init__(self, host: str = "backend", port: int = PORT) -> None:
        super().__init__(host, port)

    def delay(self) -> str | None:
        """The one that holds now; None where the backend does not tell one."""
        with suppress(UnreachableError, KeyError, UsageError):
            return delay_of(str(json_object(f"{self.origin}/behaviour")["delay"])).text
        return None

    def set_delay(self, delay: Delay) -> None:
        self._put(delay=delay.text)

    def lend(self, delay_ms: int) -> None:
        """A delay that ends by itself after a minute, whatever becomes of the borrower."""
        self._put(delay=str(delay_ms), delay_for_ms=str(LEASE_MS))

    def hang(self, lasting_s: float) -> None:
        self._put(hang_ms=str(round(lasting_s * 1000)))

    def _put(self, **parameters: str) -> None:
        answered(f"{self.origin}/behaviour?{urlencode(parameters)}", "PUT")


@dataclass(frozen=True)
class Waits:
    """Makes one endpoint's requests wait longer or shorter for a while: in the backend, which otherwise has `delay`, or
    as requests say themselves."""

    endpoint: Endpoint
    delay: Delay
    backend: Backend
    progress: Progress

    def stretched(self, load: Load, each_ms: int) -> Load:
        """The load whose requests wait so long at a time; raises UnreachableError where the backend takes no delay."""
        if self.endpoint.waits_as_configured:
            self.backend.lend(max(each_ms, 1))
        return replace(load, targets=tuple(with_wait(target, each_ms) for target in load.targets))

    def cut(self) -> None:
        """From now on the backend's calls wait a millisecond; a longer wait that has begun goes on."""
        self._change(lambda: self.backend.lend(1), "cut short")

    def restore(self) -> None:
        """The backend's own delay."""
        self._change(lambda: self.backend.set_delay(self.delay), "reset, and the temporary one will end by itself")

    def _change(self, change: Callable[[], None], what: str) -> None:
        if not self.endpoint.waits_as_configured:
            return
        try:
            change()
        except UnreachableError as error:
            self.progress.say(f"The backend's delay could not be {what}: {error}.")


@contextmanager
def hanging(hangs: Sequence[Hang], backend: Backend, progress: Progress) -> Iterator[None]:
    """Within it, each hang begins at its time after the start; those that are not due before its end never do."""

    def begin(hang: Hang) -> None:
        try:
            backend.hang(hang.duration_s)
        except UnreachableError as error:
            progress.say(f"The backend could not be told to hang: {error}.")
        else:
            progress.say(f"The backend hangs for {hang.duration_s:.0f} s.")

    timers = [threading.Timer(hang.at_s, begin, [hang]) for hang in hangs]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
