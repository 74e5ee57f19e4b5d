"""Pools that run short make requests wait, or give up in time; and saving, which small.env switches on."""

import asyncio
import json
import time

import pytest

from approach import Approach, Settings
from backend import Backend
from cases import MOVIES_BODY, SENT_MOVIES
from conftest import Golden
from problems import assert_problem
from waiting import assert_delays_take
from wire import get, post_json

pytestmark = pytest.mark.small

WAITING = 30


async def test_requests_beyond_the_limit_wait_for_others(approach: Approach, settings: Settings) -> None:
    """On platform threads the pool is the limit."""
    limit = settings["PLATFORM_THREADS" if approach.thread_kind == "platform" else "LIMIT"]
    await assert_delays_take(
        approach,
        lambda delay_ms: get(f"/epoch-millis?delayInMillis={delay_ms}"),
        clients=2 * limit or WAITING,
        waves=2 if limit else 1,
    )


async def test_who_gets_no_backend_connection_in_time_gives_up(
    approach: Approach, backend: Backend, settings: Settings, golden: Golden
) -> None:
    pool = settings["POOL"]
    async with approach.crowd(pool + 1) as crowd:
        started = time.monotonic()
        with backend.holding("/delay/"):
            asking = [asyncio.create_task(each.ask(get("/httpbin/block/0"))) for each in crowd.connections]
            await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        assert time.monotonic() - started >= settings["POOL_TIMEOUT_MS"] / 1000
        answers = await asyncio.gather(*asking)
        assert sorted(answer.status for answer in answers) == [200] * pool + [504]
        (given_up,) = (answer for answer in answers if answer.status == 504)
        assert_problem(given_up, 504)
        golden("backend-504.json", given_up.body)
        after, _ = await crowd.ask(get("/capabilities"))
    assert {answer.status for answer in after} == {200}
    assert backend.most_open <= pool


async def test_any_number_may_wait_for_a_backend_connection(
    approach: Approach, backend: Backend, settings: Settings
) -> None:
    async with approach.crowd(WAITING) as crowd:
        await crowd.ask(get("/httpbin/block/0"))
        backend.forget()
        answers, _ = await crowd.ask(get("/httpbin/block/0"))
    assert {answer.status for answer in answers} == {200}
    assert len(backend.calls) == WAITING
    assert backend.most_open <= settings["POOL"]


async def test_posted_movies_are_stored(approach: Approach) -> None:
    await approach.ask(post_json("/movies?delayInMillis=0", MOVIES_BODY))
    director = SENT_MOVIES[0]["directors"][0]["lastName"]
    answer = await approach.ask(get(f"/movies?directorLastName={director}&delayInMillis=0"))
    assert json.loads(answer.body) == SENT_MOVIES
