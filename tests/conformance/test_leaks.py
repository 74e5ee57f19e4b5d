"""Hundreds of bad requests of each kind leave no thread, connection, file or unfinished request behind."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from approach import Approach, Crowd, Holdings, eventually
from backend import Backend
from cases import GOOD_REQUESTS, ONE_REFUSAL_OF_EACH_KIND, PROMPT_TROUBLES, SILENCE, UNUSABLE_REPLIES, Refusal, Trouble
from wire import get

REQUESTS = 500
CONNECTIONS = 100
WAITING = 500
# Compilers, collectors and pools come and go; a leak shows REQUESTS.
SLACK = 30


@dataclass
class Rest:
    """What the approach holds at rest; after a leak, what it holds since, so that a leak fails one test."""

    holdings: Holdings


@pytest.fixture(scope="module")
async def rest(approach: Approach, running_backend: Backend) -> Rest:
    """What the approach holds after as many good requests at once as the tests below make bad ones."""
    async with approach.crowd(WAITING) as crowd:
        for raw in GOOD_REQUESTS.values():
            await crowd.ask(raw)
        with running_backend.delayed(0.5):
            await crowd.ask(get("/capabilities"))
        await crowd.ask(get("/epoch-millis?delayInMillis=500"))

    async def look() -> Holdings:
        return await approach.holdings(running_backend.open_connections)

    return Rest(await eventually(look, lambda seen: seen.open_connections == 0 and seen.inflight_requests == 0))


@pytest.fixture
async def crowd(approach: Approach) -> AsyncIterator[Crowd]:
    async with approach.crowd(CONNECTIONS) as crowd:
        yield crowd


async def assert_nothing_leaked(
    approach: Approach, backend: Backend, rest: Rest, held_open: int, kept_files: int = 0
) -> None:
    """The approach soon holds what it held at rest, the connections that the suite holds open, and as many more files
    as are known to be kept."""

    async def look() -> Holdings:
        return await approach.holdings(backend.open_connections)

    before = rest.holdings
    idle_workers = CONNECTIONS if approach.keeps_idle_workers else 0

    def is_at_rest(seen: Holdings) -> bool:
        return (
            seen.inflight_requests == before.inflight_requests
            and seen.open_connections == before.open_connections + held_open
            and seen.threads <= before.threads + SLACK + idle_workers
            and seen.open_files <= before.open_files + SLACK + kept_files
            and seen.backend_connections <= before.backend_connections + SLACK
        )

    seen = await eventually(look, is_at_rest)
    if not is_at_rest(seen):
        rest.holdings = replace(seen, open_connections=seen.open_connections - held_open)
    elif kept_files:
        rest.holdings = replace(before, open_files=seen.open_files)
    assert is_at_rest(seen), f"{seen} with {held_open} connections held open; at rest it was {before}."
    assert (await approach.ask(get("/capabilities"))).status == 200


@pytest.mark.parametrize("refusal", ONE_REFUSAL_OF_EACH_KIND, ids=lambda each: each.kind)
async def test_refusing(approach: Approach, backend: Backend, rest: Rest, crowd: Crowd, refusal: Refusal) -> None:
    answers = await crowd.ask_often(refusal.raw, REQUESTS // CONNECTIONS)
    assert {answer.status for answer in answers} == {refusal.status}
    assert len({answer.body for answer in answers}) == 1
    await assert_nothing_leaked(approach, backend, rest, CONNECTIONS)


@pytest.mark.parametrize("trouble", PROMPT_TROUBLES, ids=lambda each: each.name)
async def test_a_backend_that(approach: Approach, backend: Backend, rest: Rest, crowd: Crowd, trouble: Trouble) -> None:
    with backend.replying({"/authorization/": trouble.reply}):
        answers = await crowd.ask_often(get("/capabilities"), REQUESTS // CONNECTIONS)
    assert {(answer.status, json.loads(answer.body)["status"]) for answer in answers} == {(502, 502)}
    kept = REQUESTS if trouble.name == "sends-garbage" and approach.keeps_files_of_garbage else 0
    await assert_nothing_leaked(approach, backend, rest, CONNECTIONS, kept)


async def test_an_answer_that_cannot_be_passed_on(
    approach: Approach, backend: Backend, rest: Rest, crowd: Crowd
) -> None:
    endpoint, call, reply = UNUSABLE_REPLIES["token-with-spaces"]
    with backend.replying({call: reply}):
        answers = await crowd.ask_often(GOOD_REQUESTS[endpoint], REQUESTS // CONNECTIONS)
    assert {answer.status for answer in answers} == {502}
    await assert_nothing_leaked(approach, backend, rest, CONNECTIONS)


async def test_a_backend_that_is_down(approach: Approach, backend: Backend, rest: Rest, crowd: Crowd) -> None:
    await backend.refuse()
    try:
        answers = await crowd.ask_often(get("/capabilities"), REQUESTS // CONNECTIONS)
    finally:
        await backend.listen()
    assert {answer.status for answer in answers} == {502}
    await assert_nothing_leaked(approach, backend, rest, CONNECTIONS)


async def test_a_silent_backend(approach: Approach, backend: Backend, rest: Rest) -> None:
    async with approach.crowd(WAITING) as crowd:
        with backend.replying({"/authentication": SILENCE.reply}):
            answers = await crowd.ask_often(get("/capabilities"), REQUESTS // WAITING)
        assert {answer.status for answer in answers} == {504}
        await assert_nothing_leaked(approach, backend, rest, WAITING)


async def test_clients_that_leave_while_they_wait(approach: Approach, backend: Backend, rest: Rest) -> None:
    async with approach.crowd(WAITING) as crowd:
        for each in crowd.connections:
            each.send(get("/epoch-millis?delayInMillis=1000"))
    await assert_nothing_leaked(approach, backend, rest, 0)
