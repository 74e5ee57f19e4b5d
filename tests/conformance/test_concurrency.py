"""Requests that wait do so side by side, on the kind of thread that the approach is named after."""

from itertools import pairwise

import pytest

from approach import Approach
from backend import Backend
from cases import GOOD_REQUESTS, MOVIES_BODY
from wire import get, post_json

WAITING = 500
WAITS = {
    "/epoch-millis": get("/epoch-millis?delayInMillis=1000"),
    "/pinned": get("/pinned?delayInMillis=1000"),
    "/movies": get("/movies?directorLastName=Allen&delayInMillis=1000"),
    "POST /movies": post_json("/movies?delayInMillis=1000", MOVIES_BODY),
}
BACKEND_WAIT_SECONDS = 0.5
TRIES = 3
"""A host that is busy with something else makes everything late; not three times."""


@pytest.mark.parametrize("endpoint", WAITS)
async def test_500_delays_of_one_second_take_less_than_two(approach: Approach, endpoint: str) -> None:
    async with approach.crowd(WAITING) as crowd:
        await crowd.ask(GOOD_REQUESTS[endpoint])
        for _ in range(TRIES):
            answers, seconds = await crowd.ask(WAITS[endpoint])
            if seconds < 2:
                break
    assert {answer.status for answer in answers} == {200}
    assert 1 <= seconds < 2


@pytest.mark.parametrize("endpoint", ["/capabilities", "/meetings"])
async def test_500_times_three_backend_calls_take_less_than_six_of_their_delays(
    approach: Approach, backend: Backend, endpoint: str
) -> None:
    async with approach.crowd(WAITING) as crowd:
        await crowd.ask(GOOD_REQUESTS[endpoint])
        with backend.delayed(BACKEND_WAIT_SECONDS):
            for _ in range(TRIES):
                backend.forget()
                answers, seconds = await crowd.ask(GOOD_REQUESTS[endpoint])
                if seconds < 6 * BACKEND_WAIT_SECONDS:
                    break
    assert {answer.status for answer in answers} == {200}
    assert 3 * BACKEND_WAIT_SECONDS <= seconds < 6 * BACKEND_WAIT_SECONDS
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
