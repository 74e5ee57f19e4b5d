"""What an approach asks its backend, in which order and with which headers."""

import time

import pytest

from approach import Approach
from backend import Backend, http, json_reply, meetings_of
from cases import GOOD_REQUESTS
from wire import get

AT_ONCE = 5
BACKEND_ENDPOINTS = ["/capabilities", "/meetings", "/httpbin/block/{seconds}"]


async def test_capabilities_pass_each_answer_on(approach: Approach, backend: Backend) -> None:
    answer = await approach.ask(get("/capabilities"))
    first, second, third = backend.targets()
    token = second.removeprefix("/authorization/")
    assert (first, second, third) == ("/authentication", f"/authorization/{token}", f"/capabilities/ROLE_{token}")
    assert answer.body.decode() == f"für ROLE_{token}"


async def test_meetings_pass_each_answer_on(approach: Approach, backend: Backend) -> None:
    answer = await approach.ask(get("/meetings", Authorization="Bearer a+b/c=&d?é%41"))
    first, second, third = backend.targets()
    user_id = second.removeprefix("/authorize?id=")
    assert user_id.startswith("user-")
    assert first.replace("%20", "+").startswith("/authenticate?token=Bearer+a%2Bb%2Fc%3D%26d%3F")
    assert first.endswith("%2541")
    assert third == f"/meetings?id={user_id}"
    assert answer.body.decode() == meetings_of(user_id)


@pytest.mark.parametrize("authorities", [[], ["get-meeting"], ["put-meetings", "GET-MEETINGS"]])
async def test_meetings_are_forbidden_without_the_authority(
    approach: Approach, backend: Backend, authorities: list[str]
) -> None:
    with backend.replying({"/authorize": json_reply({"authorities": authorities})}):
        answer = await approach.ask(get("/meetings", Authorization="any"))
    assert answer.status == 403
    assert len(backend.calls) == 2


@pytest.mark.parametrize("seconds", ["0", "0.25", "1"])
async def test_block_passes_the_seconds_on(approach: Approach, backend: Backend, seconds: str) -> None:
    started = time.monotonic()
    answer = await approach.ask(get(f"/httpbin/block/{seconds}"))
    assert time.monotonic() - started >= float(seconds)
    assert backend.targets() == [f"/delay/{seconds}"]
    assert answer.body.decode() == seconds


@pytest.mark.parametrize("endpoint", BACKEND_ENDPOINTS)
async def test_calls_are_plain_http_1_1_gets(approach: Approach, backend: Backend, endpoint: str) -> None:
    allowed = {"host", "accept", "connection", "user-agent"}
    await approach.ask(GOOD_REQUESTS[endpoint])
    for call in backend.calls:
        assert (call.method, call.version) == ("GET", "HTTP/1.1")
        assert call.names <= allowed
        assert [value for name, value in call.headers if name.lower() == "user-agent"] == ["loom-lab"]
        assert {value.lower() for name, value in call.headers if name.lower() == "connection"} <= {"keep-alive"}


async def test_a_cookie_is_not_sent_back(approach: Approach, backend: Backend) -> None:
    with backend.replying({"/authentication": http("token", header="Set-Cookie: a=b; Path=/\r\n")}):
        await approach.ask(get("/capabilities"))
    await approach.ask(get("/capabilities"))
    assert len(backend.calls) == 6
    assert all("cookie" not in call.names for call in backend.calls)


@pytest.mark.parametrize("endpoint", BACKEND_ENDPOINTS)
async def test_connections_are_kept_and_the_last_used_one_comes_first(
    approach: Approach, backend: Backend, endpoint: str
) -> None:
    async with approach.crowd(AT_ONCE) as crowd:
        with backend.holding("/", AT_ONCE):
            await crowd.ask(GOOD_REQUESTS[endpoint])
    backend.forget()
    for _ in range(20):
        assert (await approach.ask(GOOD_REQUESTS[endpoint])).status == 200
    used = len({call.connection for call in backend.calls})
    if approach.takes_the_longest_idle_backend_connection:
        assert used >= AT_ONCE
    else:
        assert used <= (4 if approach.takes_the_next_backend_connection_early else 1)


@pytest.mark.parametrize("endpoint", ["/epoch-millis", "/pinned", "/movies", "POST /movies", "/about"])
async def test_what_needs_no_backend_asks_none(approach: Approach, backend: Backend, endpoint: str) -> None:
    assert (await approach.ask(GOOD_REQUESTS[endpoint])).status == 200
    assert backend.calls == []
