"""Requests that wait do so side by side, on the kind of thread that the approach is named after."""

from itertools import pairwise

import pytest

from approach import Approach
from backend import Backend
from cases import GOOD_REQUESTS, MOVIES_BODY, one_by_day_of
from waiting import WAITING, assert_delays_take
from wire import get, post_json

WAITS = {
    "/epoch-millis": lambda delay_ms: get(f"/epoch-millis?delayInMillis={delay_ms}"),
    "/movies": lambda delay_ms: get(f"/movies?directorLastName=Allen&delayInMillis={delay_ms}"),
    "POST /movies": lambda delay_ms: post_json(f"/movies?delayInMillis={delay_ms}", MOVIES_BODY),
}


@pytest.mark.parametrize("endpoint", one_by_day_of(len(WAITS), ((name,) for name in WAITS)))
async def test_500_delays_take_less_than_two(approach: Approach, endpoint: str) -> None:
    await assert_delays_take(approach, WAITS[endpoint])


@pytest.mark.parametrize("endpoint", one_by_day_of(2, [("/capabilities",), ("/meetings",)]))
async def test_500_times_three_backend_calls_take_less_than_six_of_their_delays(
    approach: Approach, backend: Backend, endpoint: str
) -> None:
    async with approach.crowd(WAITING) as crowd:
        await crowd.ask(GOOD_REQUESTS[endpoint])
        for delay_seconds in (0.4, 0.8, 1.6, 3.2):
            backend.forget()
            with backend.delayed(delay_seconds):
                answers, seconds = await crowd.ask(GOOD_REQUESTS[endpoint])
            if seconds < 6 * delay_seconds:
                break
    assert {answer.status for answer in answers} == {200}
    assert 3 * delay_seconds <= seconds < 6 * delay_seconds
    assert len({answer.body for answer in answers}) == WAITING
    assert len(backend.calls) == 3 * WAITING


async def test_every_endpoint_is_served_by_the_kind_of_thread_it_is_named_after(approach: Approach) -> None:
    for raw in GOOD_REQUESTS.values():
        await approach.ask(raw)
    kinds = (await approach.about())["thread_kinds"]
    assert kinds == {endpoint: approach.thread_kind for endpoint in GOOD_REQUESTS if endpoint != "/about"}


async def test_time_goes_on_from_request_to_request(approach: Approach) -> None:
    async with approach.crowd(20) as crowd:
        answers = await crowd.ask_often(get("/epoch-millis?delayInMillis=1"), 10)
    for index in range(0, len(answers), 10):
        times_ms = [int(answer.body) for answer in answers[index : index + 10]]
        assert all(earlier < later for earlier, later in pairwise(times_ms))
