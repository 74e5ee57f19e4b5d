"""Port 8081 tells health and metrics, and nothing else."""

import asyncio
import json
from itertools import pairwise

import pytest

from approach import Approach, Scrape, eventually
from backend import Backend
from cases import GOOD_REQUESTS, LONG_BODY, MOVIE
from wire import get, post_json

BIG_BODY = b"[" + MOVIE + b" " * (1 << 19) + b"]"
METRICS = {
    "jvm_buffer_memory_used_bytes",
    "jvm_classes_loaded_classes",
    "jvm_gc_live_data_size_bytes",
    "jvm_gc_memory_allocated_bytes_total",
    "jvm_memory_committed_bytes",
    "jvm_memory_max_bytes",
    "jvm_memory_used_bytes",
    "jvm_threads_live_threads",
    "jvm_threads_peak_threads",
    "jvm_threads_virtual_pinned_seconds_count",
    "lab_allocated_bytes_total",
    "lab_approach_info",
    "lab_gc_cpu_seconds_total",
    "lab_inflight_requests",
    "lab_jit_cpu_seconds_total",
    "lab_open_connections",
    "lab_requests_seconds_bucket",
    "lab_requests_seconds_count",
    "lab_requests_seconds_sum",
    "process_cpu_time_ns_total",
    "process_cpu_usage",
    "process_files_open_files",
    "process_memory_hwm_bytes",
    "process_memory_rss_bytes",
    "process_memory_vss_bytes",
    "process_uptime_seconds",
    "system_cpu_count",
}


@pytest.mark.parametrize("probe", ["liveness", "readiness"])
async def test_health_is_up(approach: Approach, probe: str) -> None:
    answer = await approach.management(f"/actuator/health/{probe}")
    assert answer.status == 200
    assert json.loads(answer.body)["status"] == "UP"


async def test_metrics_are_there_and_name_the_approach(approach: Approach) -> None:
    await approach.ask(get("/capabilities"))
    scrape = await approach.scrape()
    assert scrape.names >= METRICS
    assert all(s.labels.get("approach") == approach.name for s in scrape.samples())


async def test_pauses_of_the_collector_are_told_after_the_first(approach: Approach) -> None:
    async def look() -> Scrape:
        await approach.ask(post_json("/movies?delayInMillis=0", LONG_BODY))
        return await approach.scrape()

    pauses = {f"jvm_gc_pause_seconds_{part}" for part in ("count", "sum", "max")}
    assert (await eventually(look, lambda scrape: scrape.names >= pauses)).names >= pauses


@pytest.mark.parametrize("endpoint", [each for each in GOOD_REQUESTS if each != "/about"])
async def test_requests_are_counted_by_endpoint_and_status(approach: Approach, endpoint: str) -> None:
    async def count() -> float:
        scrape = await approach.scrape()
        if "lab_requests_seconds_count" not in scrape.names:
            return 0
        return scrape.value("lab_requests_seconds_count", endpoint=endpoint, status="200")

    first = await count()
    await approach.ask(GOOD_REQUESTS[endpoint])
    before = await eventually(count, lambda seen: seen > first)
    async with approach.crowd(10) as crowd:
        await crowd.ask_often(GOOD_REQUESTS[endpoint], 5)
    assert await eventually(count, lambda seen: seen == before + 50) == before + 50


async def test_failures_are_counted_apart(approach: Approach) -> None:
    await approach.ask(get("/epoch-millis?delayInMillis=soon"))
    await approach.ask(get("/meetings"))

    async def statuses() -> set[tuple[str, str]]:
        series = (await approach.scrape()).series("lab_requests_seconds_count")
        return {(labels["endpoint"], labels["status"]) for labels in series}

    failed = {("/epoch-millis", "400"), ("/meetings", "401")}
    assert await eventually(statuses, lambda seen: seen >= failed) >= failed


async def test_buckets_reach_from_1_ms_to_60_s_in_steps_of_at_most_5_percent_to_10_s(approach: Approach) -> None:
    await approach.ask(get("/capabilities"))
    scrape = await approach.scrape()
    limits = sorted({float(labels["le"]) for labels in scrape.series("lab_requests_seconds_bucket")})
    assert (limits[0], *limits[-2:]) == (0.001, 60, float("inf"))
    assert max(above / below for below, above in pairwise(limits) if above <= 10) <= 1.05 + 1e-9


async def test_allocation_is_counted_wherever_requests_run(approach: Approach) -> None:
    """A body is an array at least: what is posted is allocated on the thread that serves the request."""
    posts = 20
    async with approach.crowd(1) as crowd:
        before = (await approach.scrape()).value("lab_allocated_bytes_total")
        answers = await crowd.ask_often(post_json("/movies?delayInMillis=0", BIG_BODY), posts)
        after = (await approach.scrape()).value("lab_allocated_bytes_total")
    assert {answer.status for answer in answers} == {200}
    assert after - before >= posts * len(BIG_BODY)


async def test_requests_under_way_and_open_connections_are_told(approach: Approach, backend: Backend) -> None:
    async def look() -> tuple[float, float]:
        scrape = await approach.scrape()
        return scrape.value("lab_inflight_requests"), scrape.value("lab_open_connections")

    async with approach.crowd(40) as crowd:
        with backend.holding("/"):
            waiting = asyncio.create_task(crowd.ask(get("/capabilities")))
            assert await eventually(look, lambda seen: seen == (40, 40)) == (40, 40)
        await waiting
        assert await eventually(look, lambda seen: seen == (0, 40)) == (0, 40)
    assert await eventually(look, lambda seen: seen == (0, 0)) == (0, 0)


@pytest.mark.parametrize(
    "path",
    [
        "/actuator/env",
        "/actuator/beans",
        "/actuator/heapdump",
        "/actuator/shutdown",
        "/actuator/metrics",
        "/capabilities",
        "/",
    ],
)
async def test_nothing_else_is_exposed(approach: Approach, path: str) -> None:
    assert (await approach.management(path)).status == 404
