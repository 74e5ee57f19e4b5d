"""Ways in which one raw file of a good run can be changed."""

from bisect import bisect_right
from collections.abc import Callable
from math import log
from typing import Any

from rawrun import (
    BEGIN,
    LATENCY_MS,
    SAMPLED,
    SECONDS,
    RawRun,
    at,
    container,
    cpu,
    host_samples,
    lateness,
    level,
    ramp,
    rows,
)
from test_metrics import matrix

Change = Callable[[RawRun, Any], None]

BUSY_LIMIT = len(SAMPLED) // 10
"""A tenth of the seconds between samples."""


def replaced(series: list[dict[str, Any]], *others: dict[str, Any]) -> None:
    """The others take the place of those of the same name and service."""

    def key(one: dict[str, Any]) -> tuple[str, str | None, str | None]:
        return one["metric"]["__name__"], one["metric"].get("service"), one["metric"].get("le")

    new = {key(one) for one in others}
    series[:] = [one for one in series if key(one) not in new] + list(others)


def quota(run: RawRun, service: str, used: float, throttled: float = 0.0) -> None:
    """A quota of one CPU, of which so much is used, and that share of whose periods is throttled."""
    replaced(
        run.metrics["containers"],
        cpu(service, used),
        container("spec_cpu_quota", level(100_000), service),
        container("spec_cpu_period", level(100_000), service),
        container("cpu_cfs_periods_total", ramp(10), service),
        container("cpu_cfs_throttled_periods_total", ramp(10 * throttled), service),
    )


def full(run: RawRun, name: str, seconds: int) -> None:
    """The CPU is at its limit in so many of the seconds, at the run's end."""
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        beyond = max(second - SAMPLED[-1 - seconds], 0)
        sample["cpus"][name][0] += 90 * beyond
        sample["cpus"][name][3] -= 90 * beyond


def thread_full(run: RawRun, seconds: int) -> None:
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["tool_threads"]["1"] += 0.91 * max(second - SAMPLED[-1 - seconds], 0)


def waits(run: RawRun, mean_ms: float) -> None:
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["tool_waits"]["1"] = [100 * second * mean_ms / 1000, 100 * second]


def rare_waits(run: RawRun, ms: float) -> None:
    """In two of the seconds only."""
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["tool_waits"]["1"] = [100 * min(max(second - 20, 0), 2) * ms / 1000, 100 * second]


def stepped(run: RawRun, seconds: float) -> None:
    for sample in run.samples[20:]:
        sample["monotonic"] -= seconds


def restarted(run: RawRun, when: list[float]) -> None:
    starts = [(at(second), float(sum(second >= one for one in when))) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["approach"], matrix("process_start_time_seconds", starts))


def without_metrics(run: RawRun, seconds: float) -> None:
    """None of the approach's CPU, in the middle."""
    (one,) = (
        each for each in run.metrics["containers"] if each["metric"].get("service") == "app" and "cpu" in each["metric"]
    )
    one["values"] = [sample for sample in one["values"] if not 20 <= sample[0] - BEGIN < 20 + seconds]


def collecting(run: RawRun, share: float) -> None:
    replaced(run.metrics["approach"], matrix("jvm_gc_pause_seconds_sum", ramp(share)))


def collectors(run: RawRun, cpu_share: float) -> None:
    replaced(run.metrics["approach"], matrix("lab_gc_cpu_seconds_total", ramp(0.5 * cpu_share)))


def late(run: RawRun, mean_ms: float) -> None:
    replaced(run.metrics["backend"], *lateness(mean_ms / 1000))


def late_at_p99(run: RawRun, p99_ms: float) -> None:
    buckets = lateness(0.001, slow_share=1)
    for bucket in buckets[:3]:
        bucket["metric"]["le"] = {"0.005": str((p99_ms - 1) / 1000), "0.009": str(p99_ms / 1000)}.get(
            bucket["metric"]["le"], "+Inf"
        )
    buckets[0]["values"] = matrix("", ramp(98))["values"]
    buckets[1]["values"] = matrix("", ramp(99))["values"]
    run.metrics["backend"] = [one for one in run.metrics["backend"] if "le" not in one["metric"]]
    replaced(run.metrics["backend"], *buckets)


def silent(run: RawRun, seconds: float) -> None:
    """All that is in flight at the 20th second is answered so much later, at once."""
    run.rows = rows(
        lambda second: max(LATENCY_MS, 1000 * (20 + seconds - second) if second < 20 <= second + 0.92 else 0)
    )


def ends_silent(run: RawRun, seconds: float) -> None:
    run.rows = [row for row in run.rows if row[0] + 1 + LATENCY_MS / 1000 < at(SECONDS - seconds)]


def cooling(run: RawRun, by: float) -> None:
    """The approach's CPU falls by that share of a CPU from the beginning to the end, linearly."""
    spent = [(at(second), 60 + 0.5 * second - by * second**2 / 80) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["containers"], container("cpu_usage_seconds_total", spent, cpu="total"))
    run.samples = host_samples(approach=0.3)


def beside_prometheus(run: RawRun, its_cpus: str) -> None:
    """A fifth of the approach's CPU is used by another, and Prometheus uses as much, on these CPUs."""
    run.samples = host_samples(approach=0.71)
    run.metrics["containers"] += [cpu("prometheus", 0.21), cpu("cadvisor", 0.0)]
    run.request["monitoring_cpus"] = its_cpus


def refused_unread(run: RawRun, requests: int) -> None:
    """So many answers other than 2xx, which came at once, as if nothing had been waited for."""
    run.unanswered = requests
    run.report["Non-2xx responses"] = requests


def cold(run: RawRun, bursts: list[dict[str, Any]]) -> None:
    run.warmup = (run.warmup or {}) | {"bursts": bursts, "compiled": bool(bursts)}


def short(run: RawRun, seconds: int) -> None:
    """The run ended after so many seconds."""
    run.rows = [(start, took) for start, took in run.rows if start + took / 1000 < at(seconds)]
    run.report["Time taken for tests"] = f"{seconds}.000 seconds"
    run.tool["ended"] = at(seconds + 0.2)


def slower(run: RawRun, by: float) -> None:
    """Latency grows by that share from the first half to the second; CPU per request stays as it is."""
    run.rows = rows(lambda second: LATENCY_MS * (1 + by * (second - 20) / 20) / (1 - by))
    answered_by_backend(run)
    spent = [(at(second), 60 + 10 / by * log(1 + by * (second - 20) / 20)) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["containers"], container("cpu_usage_seconds_total", spent, cpu="total"))


def answered_by_backend(run: RawRun) -> None:
    """Three calls for each request, when it ended."""
    ends = sorted(start + 0.5 + took / 1000 for start, took in run.rows)
    calls = [(at(second), 50.0 + 3 * bisect_right(ends, at(second))) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["backend"], matrix("backend_requests_total", calls))


def heating(run: RawRun, by: float) -> None:
    """The approach's CPU grows by that share of a CPU from the beginning to the end, linearly."""
    cooling(run, -by)
    run.samples = host_samples(approach=0.6)


def overused(run: RawRun, cpus: float) -> None:
    replaced(run.metrics["containers"], cpu("app", cpus))
    run.samples = host_samples(approach=1)


def frozen(run: RawRun, seconds: int) -> None:
    """The approach's CPU counter stands still for so long, and is right again."""
    stood = [(time, 50 + 0.5 * (19 if 19 <= time - BEGIN < 19 + seconds else time - BEGIN)) for time, _ in ramp(0)]
    replaced(run.metrics["containers"], container("cpu_usage_seconds_total", stood, cpu="total"))


def faster(run: RawRun, by: float) -> None:
    """Latency falls by that share from the first half to the second."""
    run.rows = rows(lambda second: LATENCY_MS * (1 - by * (second - 20) / 20))
