"""Whether requests that wait do so side by side."""

from collections.abc import Callable

from approach import Approach

WAITING = 500
DELAYS_SECONDS = (1, 2, 4, 8)
"""Requests that queue take twice the delay, however long it is; what a busy host adds does not grow with it."""


async def assert_500_delays_take_less_than_two(approach: Approach, request: Callable[[int], bytes]) -> None:
    """`request` makes one that waits for so many milliseconds."""
    async with approach.crowd(WAITING) as crowd:
        await crowd.ask(request(0))
        for delay_seconds in DELAYS_SECONDS:
            answers, seconds = await crowd.ask(request(1000 * delay_seconds))
            if seconds < 2 * delay_seconds:
                break
    assert {answer.status for answer in answers} == {200}
    assert delay_seconds <= seconds < 2 * delay_seconds
