"""Pools that run short make requests wait, or give up in time; and saving, which small.env switches on."""

import json

import pytest

from approach import Approach, Settings
from backend import Backend, http
from backend import Reply as BackendReply
from cases import MOVIES_BODY, SENT_MOVIES
from conftest import Golden
from problems import assert_problem
from wire import get, post_json

pytestmark = pytest.mark.small


async def test_platform_threads_wait_for_one_another(approach: Approach, settings: Settings) -> None:
    threads = settings["PLATFORM_THREADS"]
    async with approach.crowd(2 * threads) as crowd:
        answers, seconds = await crowd.ask(get("/epoch-millis?delayInMillis=1000"))
    assert {answer.status for answer in answers} == {200}
    assert seconds >= (2 if approach.thread_kind == "platform" else 1)
    assert seconds < 4


async def test_who_gets_no_backend_connection_in_time_gives_up(
    approach: Approach, backend: Backend, settings: Settings, golden: Golden
) -> None:
    pool = settings["BACKEND_CONNECTIONS"]
    longer_than_the_wait = BackendReply(http("0").raw, delay_seconds=settings["POOL_TIMEOUT_MS"] / 1000 + 2)
    async with approach.crowd(2 * pool) as crowd:
        with backend.replying({"/delay/": longer_than_the_wait}):
            answers, _ = await crowd.ask(get("/httpbin/block/0"))
        assert sorted(answer.status for answer in answers) == [200] * pool + [504] * pool
        for answer in (each for each in answers if each.status == 504):
            assert_problem(answer, 504)
            golden("backend-504.json", answer.body)
        after, _ = await crowd.ask(get("/capabilities"))
    assert {answer.status for answer in after} == {200}
    assert backend.most_open <= pool


async def test_any_number_may_wait_for_a_backend_connection(
    approach: Approach, backend: Backend, settings: Settings
) -> None:
    async with approach.crowd(100) as crowd:
        await crowd.ask(get("/httpbin/block/0"))
        backend.forget()
        answers, _ = await crowd.ask(get("/httpbin/block/0"))
    assert {answer.status for answer in answers} == {200}
    assert len(backend.calls) == 100
    assert backend.most_open <= settings["BACKEND_CONNECTIONS"]


async def test_posted_movies_are_stored(approach: Approach) -> None:
    await approach.ask(post_json("/movies?delayInMillis=0", MOVIES_BODY))
    director = SENT_MOVIES[0]["directors"][0]["lastName"]
    answer = await approach.ask(get(f"/movies?directorLastName={director}&delayInMillis=0"))
    assert json.loads(answer.body) == SENT_MOVIES
