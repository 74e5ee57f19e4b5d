"""/memory tells what the process holds, after a full collection if that is asked for."""

import asyncio
import json
from typing import Any

import pytest

from approach import Approach, eventually
from backend import Backend
from wire import get

WAITING = 40
MEMBERS = [
    "heap_used_bytes",
    "rss_anon_bytes",
    "heap_rss_anon_bytes",
    "threads",
    "thread_stack_bytes",
    "kernel_bytes",
    "requests_in_flight",
    "collection_ms",
]


async def held(approach: Approach, method: str = "GET") -> dict[str, Any]:
    answer = await approach.management("/memory", method)
    assert (answer.status, answer.header("Content-Type")) == (200, "application/json")
    told: dict[str, Any] = json.loads(answer.body)
    return told


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_members_are_the_same_everywhere(approach: Approach, method: str) -> None:
    told = await held(approach, method)
    assert list(told) == MEMBERS
    assert (told["collection_ms"] is None) == (method == "GET")
    for member in ("heap_used_bytes", "rss_anon_bytes", "threads", "thread_stack_bytes"):
        assert told[member] > 0, member
    assert told["kernel_bytes"] is None or told["kernel_bytes"] > 0
    assert 0 <= told["heap_rss_anon_bytes"] < told["rss_anon_bytes"]


async def test_a_collection_leaves_waiting_requests_alone_and_counts_them(approach: Approach, backend: Backend) -> None:
    async def in_flight() -> int:
        count: int = (await held(approach))["requests_in_flight"]
        return count

    async with approach.crowd(WAITING) as crowd:
        with backend.holding("/"):
            waiting = asyncio.create_task(crowd.ask(get("/capabilities")))
            assert await eventually(in_flight, lambda seen: seen == WAITING) == WAITING
            told = await held(approach, "POST")
        assert told["requests_in_flight"] == WAITING
        answers, _ = await waiting
    assert {answer.status for answer in answers} == {200}


async def test_a_collection_leaves_no_garbage(approach: Approach) -> None:
    async with approach.crowd(20) as crowd:
        await crowd.ask_often(get("/movies?directorLastName=Kubrick&delayInMillis=0"), 50)
    before = await held(approach)
    after = await held(approach, "POST")
    again = await held(approach, "POST")
    assert after["heap_used_bytes"] < before["heap_used_bytes"]
    assert again["heap_used_bytes"] == pytest.approx(after["heap_used_bytes"], rel=0.3)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_nothing_else_is_taken(approach: Approach, method: str) -> None:
    answer = await approach.management("/memory", method)
    assert (answer.status, answer.header("Allow")) == (405, "GET,POST")


async def test_what_merely_starts_so_is_not_there(approach: Approach) -> None:
    assert (await approach.management("/memory/heap", "POST")).status == 404
