"""Ways in which one raw file of a good run can be changed."""

from bisect import bisect_right
from collections.abc import Callable
from math import log
from typing import Any

from loomlab.judge.cpu_time import USER
from rawrun import (
    BEGIN,
    LATENCY_MS,
    SAMPLED,
    SECONDS,
    RawRun,
    at,
    by_second,
    container,
    cpu,
    host_samples,
    lateness,
    level,
    matrix,
    ramp,
    rows,
)

type Change = Callable[[RawRun, Any], None]

BUSY_LIMIT = len(SAMPLED) // 10
"""A tenth of the seconds between samples."""


def quota(run: RawRun, service: str, used: float, throttled: float = 0.0) -> None:
    """A quota of one CPU, of which so much is used, and that share of whose periods is throttled."""
    run.put(
        "containers",
        cpu(service, ramp(used)),
        container("spec_cpu_quota", level(100_000), service),
        container("spec_cpu_period", level(100_000), service),
        container("cpu_cfs_periods_total", ramp(10), service),
        container("cpu_cfs_throttled_periods_total", ramp(10 * throttled), service),
    )


def full(run: RawRun, name: str, seconds: int) -> None:
    """The CPU is at its limit in so many of the seconds, at the run's end."""
    run.spend(name, USER, lambda second: 90 * max(second - SAMPLED[-1 - seconds], 0))


def thread_full(run: RawRun, seconds: int) -> None:
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["tool_threads"]["1"] += 0.91 * max(second - SAMPLED[-1 - seconds], 0)


def waits(run: RawRun, mean_ms: float) -> None:
    run.wait(lambda second: second * mean_ms / 10)


def rare_waits(run: RawRun, ms: float) -> None:
    """In two of the seconds only."""
    run.wait(lambda second: min(max(second - 20, 0), 2) * ms / 10)


def stepped(run: RawRun, seconds: float) -> None:
    """The clock is set, and ten seconds later set back."""
    for sample in run.samples[20:30]:
        sample["monotonic"] -= seconds


def restarted(run: RawRun, when: list[float]) -> None:
    starts = by_second(lambda second: sum(second >= one for one in when))
    run.put("approach", matrix("process_start_time_seconds", starts))


def without_metrics(run: RawRun, seconds: float) -> None:
    """None of the approach's CPU, in the middle."""
    run.put("containers", cpu("app", [one for one in ramp(0.5) if not 20 <= one[0] - BEGIN < 20 + seconds]))


def frozen(run: RawRun, seconds: int) -> None:
    """The approach's CPU counter stands still for so long, and is right again."""
    stood = by_second(lambda second: 50 + 0.5 * (19 if 19 <= second < 19 + seconds else second))
    run.put("containers", cpu("app", stood))


def late_at_p99(run: RawRun, p99_ms: float) -> None:
    """98 of 100 answers were late by up to a millisecond less, 99 by no more than that."""
    run.metrics["backend"] = [one for one in run.metrics["backend"] if "le" not in one["metric"]]
    bounds = {str((p99_ms - 1) / 1000): 98, str(p99_ms / 1000): 99, "+Inf": 100}
    buckets = [matrix("backend_lateness_seconds_bucket", ramp(count), le=bound) for bound, count in bounds.items()]
    run.put("backend", *buckets, *lateness(0.001)[3:])


def silent(run: RawRun, seconds: float) -> None:
    """All that is in flight at the 20th second is answered so much later, at once."""
    run.rows = rows(
        lambda second: max(LATENCY_MS, 1000 * (20 + seconds - second) if second < 20 <= second + 0.92 else 0)
    )
    answered_by_backend(run)


def ends_silent(run: RawRun, seconds: float) -> None:
    run.rows = [row for row in run.rows if row[0] + 1 + LATENCY_MS / 1000 < at(SECONDS - seconds)]
    answered_by_backend(run)


def short(run: RawRun, seconds: int) -> None:
    """The run ended after so many seconds."""
    run.rows = [(start, took) for start, took in run.rows if start + took / 1000 < at(seconds)]
    run.report["Time taken for tests"] = f"{seconds}.000 seconds"
    run.tool["ended"] = at(seconds + 0.2)


def cooling(run: RawRun, by: float) -> None:
    """The approach's CPU falls by that share of a CPU from the beginning to the end, linearly."""
    run.put("containers", cpu("app", by_second(lambda second: 60 + 0.5 * second - by * second**2 / 80)))
    run.samples = host_samples(approach=0.3)


def overused(run: RawRun, cpus: float) -> None:
    run.put("containers", cpu("app", ramp(cpus)))
    run.samples = host_samples(approach=1)


def beside_prometheus(run: RawRun, its_cpus: str) -> None:
    """A fifth of the approach's CPU is used by another, and Prometheus uses as much, on these CPUs."""
    run.samples = host_samples(approach=0.71)
    run.put("containers", cpu("prometheus", ramp(0.21)), cpu("cadvisor", ramp(0)))
    run.request["monitoring_cpus"] = its_cpus


def refused_unread(run: RawRun, requests: int) -> None:
    """So many answers other than 2xx, which came at once, as if nothing had been waited for."""
    run.unanswered = requests
    run.report["Non-2xx responses"] = requests


def slower(run: RawRun, by: float) -> None:
    """Latency grows by that share from the first half to the second; CPU per request stays as it is."""
    run.rows = rows(lambda second: LATENCY_MS * (1 + by * (second - 20) / 20) / (1 - by))
    answered_by_backend(run)
    run.put("containers", cpu("app", by_second(lambda second: 60 + 10 / by * log(1 + by * (second - 20) / 20))))


def faster(run: RawRun, by: float) -> None:
    """Latency falls by that share from the first half to the second."""
    run.rows = rows(lambda second: LATENCY_MS * (1 - by * (second - 20) / 20))


def answered_by_backend(run: RawRun) -> None:
    """Three calls for each request, when it ended."""
    ends = sorted(start + 0.5 + took / 1000 for start, took in run.rows)
    run.put(
        "backend", matrix("backend_requests_total", by_second(lambda second: 50 + 3 * bisect_right(ends, at(second))))
    )


def connected(run: RawRun, connections: int) -> None:
    """The load and what it needs is of so many."""
    run.request["load"]["connections"] = connections
    run.about["outbound"]["max_connections_per_route"] = connections
    run.network["ActiveOpens"] = connections


def dead(run: RawRun, connections: int) -> None:
    """So many of 40 connections get no answer at all; ab leaves them out."""
    run.rows = rows(connections=40)
    run.rows = [row for number, row in enumerate(run.rows) if number * 40 // len(run.rows) >= connections]
    connected(run, 40)
    run.put("backend", matrix("backend_requests_total", ramp(3 * (40 - connections) / 0.92)))
