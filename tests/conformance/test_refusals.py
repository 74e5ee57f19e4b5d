"""A bad request gets its status and its problem, and costs nobody the connection."""

import pytest

from approach import Approach
from backend import Backend
from cases import GOOD_REQUESTS, MAY_CLOSE, REFUSALS, Refusal
from conftest import GOLDEN, Golden
from problems import assert_problem
from wire import get

LENGTH_OF_405 = str((GOLDEN / "method-wrong.json").stat().st_size)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.name)
async def test_is_refused_and_the_connection_stays_usable(
    approach: Approach, backend: Backend, golden: Golden, refusal: Refusal
) -> None:
    async with await approach.connect() as connection:
        answer = await connection.ask(refusal.raw)
        assert_problem(answer, refusal.status, refusal.allow)
        golden(f"{refusal.kind}.json", answer.body)
        assert backend.calls == []
        if refusal.status in MAY_CLOSE and answer.connection == "close":
            assert await connection.is_closed_within(15)
        else:
            assert answer.connection != "close"
            assert (await connection.ask(get("/capabilities"))).status == 200
    assert (await approach.ask(get("/capabilities"))).status == 200


@pytest.mark.parametrize("endpoint", [each for each in GOOD_REQUESTS if not each.startswith("POST ")])
async def test_head_is_a_wrong_method_and_its_answer_has_no_body(approach: Approach, endpoint: str) -> None:
    async with await approach.connect() as connection:
        answer = await connection.ask(GOOD_REQUESTS[endpoint].replace(b"GET", b"HEAD", 1))
        assert (answer.status, answer.header("Content-Type")) == (405, "application/problem+json")
        assert (answer.header("Allow") or "").replace(" ", "") == ("GET,POST" if endpoint == "/movies" else "GET")
        assert answer.header("Content-Length") == LENGTH_OF_405
        assert (await connection.ask(GOOD_REQUESTS[endpoint])).status == 200
