"""Whether requests wait side by side, and whether as many can as a pool has connections."""

from collections.abc import Callable

from approach import Approach
from backend import Backend
from wire import get

WAITING = 500
DELAYS_SECONDS = (1, 2, 4, 8)
"""Requests that queue take longer the longer the delay is; what a busy host adds does not grow with it."""


async def assert_delays_take(
    approach: Approach, request: Callable[[int], bytes], clients: int = WAITING, waves: int = 1
) -> None:
    """The clients' requests take as many delays as there are waves. `request` makes one that waits for so many ms."""
    async with approach.crowd(clients) as crowd:
        await crowd.ask(request(0))
        for delay_seconds in DELAYS_SECONDS:
            answers, seconds = await crowd.ask(request(1000 * delay_seconds))
            if seconds < (waves + 1) * delay_seconds:
                break
    assert {answer.status for answer in answers} == {200}
    assert waves * delay_seconds <= seconds < (waves + 1) * delay_seconds


async def assert_side_by_side(approach: Approach, backend: Backend, clients: int) -> None:
    """The clients' calls are at the backend at the same time: no connection of the approach's pool is lost."""
    async with approach.crowd(clients) as crowd:
        with backend.holding("/delay/", clients):
            answers, _ = await crowd.ask(get("/httpbin/block/0"))
    assert {answer.status for answer in answers} == {200}
