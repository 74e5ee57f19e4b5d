"""Makes requests wait longer or shorter than the load has it, for a while."""

from collections.abc import Callable
from dataclasses import replace

from loomlab.records.delay import Delay
from loomlab.records.endpoints import Endpoint, with_wait
from loomlab.records.load import Load
from loomlab.run.backend import Behaviour
from loomlab.run.progress import Progress
from loomlab.run.prometheus import UnreachableError

LEASE_MS = 60_000
"""The longest that the backend grants."""


class Waits:
    """The waits of one endpoint's requests: in the backend, which otherwise has `delay`, or as requests say
    themselves."""

    def __init__(self, endpoint: Endpoint, delay: Delay, behaviour: Behaviour, progress: Progress) -> None:
        self._endpoint = endpoint
        self._delay = delay
        self._behaviour = behaviour
        self._progress = progress

    def stretched(self, load: Load, each_ms: int) -> Load:
        """The load whose requests wait so long at a time; raises UnreachableError where the backend takes no delay."""
        if self._endpoint.waits_as_configured:
            self._behaviour.lend(max(each_ms, 1), LEASE_MS)
        return replace(load, targets=tuple(with_wait(target, each_ms) for target in load.targets))

    def cut(self) -> None:
        """From now on the backend's calls wait a millisecond; a longer wait that has begun goes on."""
        if self._endpoint.waits_as_configured:
            self._telling("The backend's delay could not be cut short", lambda: self._behaviour.lend(1, LEASE_MS))

    def restore(self) -> None:
        """The backend's own delay."""
        if self._endpoint.waits_as_configured:
            self._telling(
                "The backend's delay could not be reset, and the temporary one will end by itself",
                lambda: self._behaviour.set_delay(self._delay),
            )

    def _telling(self, failure: str, change: Callable[[], None]) -> None:
        try:
            change()
        except UnreachableError as error:
            self._progress.say(f"{failure}: {error}.")
