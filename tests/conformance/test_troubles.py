"""Whatever the backend does, the client gets one problem after one attempt, and the next request is served."""

import asyncio
import time
from itertools import product

import pytest

from approach import SETTLING_SECONDS, Approach, Settings, eventually
from backend import Backend, json_reply
from cases import (
    BACKEND_CALLS,
    GOOD_REQUESTS,
    PROMPT_TROUBLES,
    SILENT_TROUBLES,
    UNUSABLE_REPLIES,
    Trouble,
    name_of,
    one_by_day_of,
)
from conftest import Golden
from problems import assert_problem
from waiting import assert_side_by_side
from wire import Answer, get

FIRST_CALLS = {
    "/capabilities": "/authentication",
    "/meetings": "/authenticate",
    "/httpbin/block/{seconds}": "/delay/",
}


async def assert_usable_afterwards(approach: Approach, raw: bytes, golden: Golden, status: int) -> Answer:
    async with await approach.connect() as connection:
        answer = await connection.ask(raw)
        assert_problem(answer, status)
        golden(f"backend-{status}.json", answer.body)
        assert answer.connection != "close"
        assert (await connection.ask(get("/epoch-millis?delayInMillis=0"))).status == 200
    return answer


@pytest.mark.parametrize(("trouble", "asked"), one_by_day_of(4, product(PROMPT_TROUBLES, BACKEND_CALLS)), ids=name_of)
async def test_a_backend_that(
    approach: Approach, backend: Backend, golden: Golden, trouble: Trouble, asked: tuple[str, str]
) -> None:
    """By day each fault on one or two calls, and two or three faults on each call."""
    endpoint, call = asked
    with backend.replying({call: trouble.reply}):
        await assert_usable_afterwards(approach, GOOD_REQUESTS[endpoint], golden, trouble.status)
    assert [target.startswith(call) for target in backend.targets()].count(True) == 1
    assert backend.targets()[-1].startswith(call)
    assert (await approach.ask(GOOD_REQUESTS[endpoint])).status == 200


@pytest.mark.small
@pytest.mark.parametrize("troubles", one_by_day_of(3, ((SILENT_TROUBLES[i:] + SILENT_TROUBLES[:i],) for i in range(3))))
async def test_a_backend_that_falls_silent_is_given_up_in_time_and_its_connection_closed(
    approach: Approach, backend: Backend, golden: Golden, settings: Settings, troubles: list[Trouble]
) -> None:
    """Each of three requests at once meets another silence."""
    timeout_seconds = settings["RESPONSE_TIMEOUT_MS"] / 1000
    started = time.monotonic()
    with backend.replying({call: trouble.reply for call, trouble in zip(FIRST_CALLS.values(), troubles, strict=True)}):
        await asyncio.gather(*(assert_usable_afterwards(approach, GOOD_REQUESTS[e], golden, 504) for e in FIRST_CALLS))
    assert timeout_seconds <= time.monotonic() - started < timeout_seconds + SETTLING_SECONDS
    assert len(backend.calls) == len(FIRST_CALLS)
    silent = {call.connection for call in backend.calls}

    async def any_is_open() -> bool:
        return backend.has_open(silent)

    assert not await eventually(any_is_open, lambda seen: not seen)
    await assert_side_by_side(approach, backend, settings["POOL"])


@pytest.mark.parametrize("name", UNUSABLE_REPLIES)
async def test_an_answer_that_cannot_be_passed_on(
    approach: Approach, backend: Backend, golden: Golden, name: str
) -> None:
    endpoint, call, reply = UNUSABLE_REPLIES[name]
    with backend.replying({call: reply}):
        await assert_usable_afterwards(approach, GOOD_REQUESTS[endpoint], golden, 502)
    assert backend.targets()[-1].startswith(call)


async def test_a_missing_authority(approach: Approach, backend: Backend, golden: Golden) -> None:
    with backend.replying({"/authorize": json_reply({"authorities": []})}):
        answer = await approach.ask(GOOD_REQUESTS["/meetings"])
    assert_problem(answer, 403)
    golden("authority-missing.json", answer.body)


@pytest.mark.small
async def test_a_backend_that_is_down(approach: Approach, backend: Backend, golden: Golden) -> None:
    stale_connections = backend.open_connections
    await backend.refuse()
    try:
        for _ in range(stale_connections + 2):
            await assert_usable_afterwards(approach, get("/capabilities"), golden, 502)
        for endpoint in ("/meetings", "/httpbin/block/{seconds}"):
            await assert_usable_afterwards(approach, GOOD_REQUESTS[endpoint], golden, 502)
    finally:
        await backend.listen()
    assert (await approach.ask(get("/capabilities"))).status == 200
