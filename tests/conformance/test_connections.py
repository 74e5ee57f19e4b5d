"""Connections are kept and closed as the client asks, in HTTP/1.1 and in HTTP/1.0."""

import pytest

from approach import Approach
from cases import GOOD_REQUESTS, MAY_CLOSE, ONE_REFUSAL_OF_EACH_KIND, Refusal
from wire import get

PROMPT_SECONDS = 15
KEPT_SECONDS = 0.2


def older(raw: bytes, header: bytes = b"") -> bytes:
    """The same request over HTTP/1.0."""
    return raw.replace(b" HTTP/1.1\r\n", b" HTTP/1.0\r\n" + header, 1)


@pytest.mark.parametrize("endpoint", GOOD_REQUESTS)
async def test_one_connection_serves_any_number_of_requests(approach: Approach, endpoint: str) -> None:
    async with await approach.connect() as connection:
        answers = [await connection.ask(GOOD_REQUESTS[endpoint]) for _ in range(110)]
        assert {(answer.status, answer.connection == "close") for answer in answers} == {(200, False)}


@pytest.mark.parametrize("endpoint", GOOD_REQUESTS)
async def test_two_requests_at_once_are_answered_in_their_order_and_the_connection_goes_on(
    approach: Approach, endpoint: str
) -> None:
    async with await approach.connect() as connection:
        refused = get("/nothing")
        answers = [await connection.ask(raw) for raw in (GOOD_REQUESTS[endpoint] + refused, b"", refused)]
        assert [answer.status for answer in answers] == [200, 404, 404]


@pytest.mark.parametrize("endpoint", GOOD_REQUESTS)
async def test_closes_when_asked_to(approach: Approach, endpoint: str) -> None:
    async with await approach.connect() as connection:
        raw = GOOD_REQUESTS[endpoint].replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        answer = await connection.ask(raw)
        if approach.ignores_connection_close:
            assert (answer.status, answer.connection == "close") == (200, False)
            assert not await connection.is_closed_within(KEPT_SECONDS)
        else:
            assert (answer.status, answer.connection) == (200, "close")
            assert await connection.is_closed_within(PROMPT_SECONDS)


@pytest.mark.parametrize("endpoint", GOOD_REQUESTS)
async def test_http_1_0_closes(approach: Approach, endpoint: str) -> None:
    raw = older(GOOD_REQUESTS[endpoint])
    if await approach.refuses_http10(raw):
        return
    async with await approach.connect() as connection:
        answer = await connection.ask(raw)
        assert answer.status == 200
        assert await connection.is_closed_within(PROMPT_SECONDS)


@pytest.mark.parametrize("endpoint", GOOD_REQUESTS)
async def test_http_1_0_keeps_alive_when_asked_to(approach: Approach, endpoint: str) -> None:
    raw = older(GOOD_REQUESTS[endpoint], b"Connection: Keep-Alive\r\n")
    if await approach.refuses_http10(raw):
        return
    async with await approach.connect() as connection:
        for _ in range(5):
            answer = await connection.ask(raw)
            assert (answer.status, answer.connection) == (200, "keep-alive")
            assert set(answer.names) == {"connection", "content-length", "content-type", "date"}
        assert not await connection.is_closed_within(KEPT_SECONDS)


@pytest.mark.parametrize(
    "refusal", [each for each in ONE_REFUSAL_OF_EACH_KIND if each.status != 413], ids=lambda each: each.kind
)
async def test_http_1_0_is_kept_alive_after_a_refusal(approach: Approach, refusal: Refusal) -> None:
    raw = older(refusal.raw, b"Connection: keep-alive\r\n")
    if await approach.refuses_http10(raw):
        return
    async with await approach.connect() as connection:
        for _ in range(2):
            answer = await connection.ask(raw)
            assert answer.status == refusal.status
            if refusal.status in MAY_CLOSE and answer.connection != "keep-alive":
                assert await connection.is_closed_within(PROMPT_SECONDS)
                return
            assert answer.connection == "keep-alive"
