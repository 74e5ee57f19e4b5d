"""Whatever the backend does, the client gets one problem after one attempt, and the next request is served."""

import asyncio
import time

import pytest

from approach import Approach, Settings, eventually
from backend import Backend, json_reply
from cases import BACKEND_CALLS, GOOD_REQUESTS, PROMPT_TROUBLES, SILENT_TROUBLES, UNUSABLE_REPLIES, Trouble
from conftest import Golden
from problems import assert_problem
from wire import Answer, get


async def assert_usable_afterwards(approach: Approach, raw: bytes, golden: Golden, status: int) -> Answer:
    async with await approach.connect() as connection:
        answer = await connection.ask(raw)
        assert_problem(answer, status)
        golden(f"backend-{status}.json", answer.body)
        assert answer.connection != "close"
        assert (await connection.ask(get("/epoch-millis?delayInMillis=0"))).status == 200
    return answer


@pytest.mark.parametrize(("endpoint", "call"), BACKEND_CALLS)
@pytest.mark.parametrize("trouble", PROMPT_TROUBLES, ids=lambda each: each.name)
async def test_a_backend_that(
    approach: Approach, backend: Backend, golden: Golden, trouble: Trouble, endpoint: str, call: str
) -> None:
    with backend.replying({call: trouble.reply}):
        await assert_usable_afterwards(approach, GOOD_REQUESTS[endpoint], golden, trouble.status)
    assert [target.startswith(call) for target in backend.targets()].count(True) == 1
    assert backend.targets()[-1].startswith(call)
    assert (await approach.ask(GOOD_REQUESTS[endpoint])).status == 200


@pytest.mark.parametrize("trouble", SILENT_TROUBLES, ids=lambda each: each.name)
async def test_a_backend_that_falls_silent_is_given_up_in_time_and_its_connection_closed(
    approach: Approach, backend: Backend, golden: Golden, settings: Settings, trouble: Trouble
) -> None:
    endpoints = ["/capabilities", "/meetings", "/httpbin/block/{seconds}"]
    timeout_seconds = settings["RESPONSE_TIMEOUT_MS"] / 1000
    started = time.monotonic()
    with backend.replying({"/": trouble.reply}):
        await asyncio.gather(
            *(assert_usable_afterwards(approach, GOOD_REQUESTS[each], golden, trouble.status) for each in endpoints)
        )
    assert timeout_seconds <= time.monotonic() - started < 2 * timeout_seconds
    assert sorted(target.partition("/")[2][:6] for target in backend.targets()) == ["authen", "authen", "delay/"]
    silent = {call.connection for call in backend.calls}
    assert (await approach.ask(get("/capabilities"))).status == 200

    async def any_is_open() -> bool:
        return backend.has_open(silent)

    assert not await eventually(any_is_open, lambda seen: not seen)


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
