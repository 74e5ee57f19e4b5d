"""Requests in the form of the published clients are answered; delays are shorter, bodies are the lab's own."""

import pytest

from approach import Approach
from conftest import Golden
from published import PUBLISHED
from wire import get

PROBED = ["loom-vs-webflux", "loom-webflux-benchmarks-earlier-time"]


@pytest.mark.parametrize("client", PUBLISHED)
async def test_what_a_published_client_sends_is_answered(approach: Approach, golden: Golden, client: str) -> None:
    published = PUBLISHED[client]

    if b" HTTP/1.0\r\n" in published.raw and await approach.refuses_http10(published.raw):
        return
    answer = await approach.ask(published.raw)

    assert answer.status == 200, f"{published.experiment} ({published.source}) is refused: {answer.body!r}."
    if published.raw.startswith(b"POST"):
        golden(f"published-{client}.json", answer.body)


@pytest.mark.parametrize("client", PROBED)
async def test_a_probe_with_head_is_refused_and_leaves_the_connection_usable(approach: Approach, client: str) -> None:
    async with await approach.connect() as connection:
        assert (await connection.ask(PUBLISHED[client].raw.replace(b"GET", b"HEAD", 1))).status == 405
        assert (await connection.ask(get("/capabilities"))).status == 200
