"""What the slices of a run show that was loaded in turn with its partner."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

import numpy as np

from loomlab.judge import limits
from loomlab.judge.interior import latency_of_due
from loomlab.judge.request_figures import Counted, fall
from loomlab.judge.series import ratio
from loomlab.records.models import Interior, SliceFigures
from loomlab.records.requestlog import Numbers, RequestLog, latency_figures, silences
from loomlab.records.slices import Slice, SliceLog

CALLS = 6  # that the lab makes to processes and backend around a slice, each over a connection of its own
MARGIN_S = 0.5  # around a slice, in which its requests may begin by the tool's clock


def slice_figures(
    slices: SliceLog, log: RequestLog, connections: int, floors_ms: Sequence[float]
) -> tuple[dict[str, Any], Counted]:
    """Fields of Run, and what other figures are taken on: means of those of its slices. CPU is of whole slices, from
    idle to idle, less what compilers took and what the process takes when it idles; latency and throughput leave out
    the first and the last request of each connection."""
    own, idle_cpus = slices.slices, idle_cpus_of(slices.partners)
    told, busy, parts, errors = list[SliceFigures](), list[float](), list[RequestLog](), 0
    for one, (begin, end) in zip(own, _windows(own), strict=True):
        every = log.between(begin, end)
        starts_s, ends_s = every.starts_s, every.starts_s + every.latencies_ms / 1000
        order = np.sort(starts_s)
        first_s, last_s = (order[connections], order[-connections]) if len(order) > 2 * connections else (begin, end)
        busy_s = (np.clip(ends_s, first_s, last_s) - np.clip(starts_s, first_s, last_s)).sum()
        busy.append(ratio(float(busy_s), connections * float(last_s - first_s)) or 0.0)
        parts.append(every.between(first_s, last_s))
        mean_ms = latency_figures(parts[-1].from_due_ms).mean
        errors += len(every.failed_start_s)
        told.append(
            SliceFigures(
                started=one.started,
                seconds=one.ended - one.started,
                requests=len(every),
                cpu_ms_per_request=ratio(cost_s(one, idle_cpus), len(every) / 1000),
                mean_latency_ms=mean_ms,
                throughput_rps=ratio(1000 * connections, mean_ms),
            )
        )
    lost = [abs(one.requests - shown.requests) for one, shown in zip(own, told, strict=True)]
    latencies_ms = np.concatenate([part.from_due_ms for part in parts])
    waits_ms = np.concatenate([part.latencies_ms for part in parts])
    seconds, requests = sum(one.seconds for one in told), sum(one.requests for one in told)
    pooled = log.where(_any_of(log.start_s, parts, "start_s"), _any_of(log.failed_start_s, parts, "failed_start_s"))
    latency, p50_ms = latency_of_due(pooled, pooled.from_due_ms), latency_figures(latencies_ms).p50
    costs, means_ms = ([getattr(one, name) for one in told] for name in ("cpu_ms_per_request", "mean_latency_ms"))
    threads = [one.threads_started for one in own if one.threads_started is not None]
    why = "the clock was set, or the load generator died; see raw/loomlab.log, and measure again"
    failed = {"tool_failure": f"{sum(lost)} requests of the slices are missing: {why}."}
    return {
        **(failed if sum(lost) > errors else {}),
        "requests": requests + errors,
        "errors": errors,
        "slices": told,
        "latency_ms": latency,
        "interior": Interior(start=own[0].started, seconds=seconds, requests=requests, whole_run=False),
        "interior_s": seconds,
        "evaluated_s": seconds,
        "mean_ms": latency.mean or 0,
        "p50_ms": p50_ms,
        "p99_ms": latency_figures(latencies_ms).p99,
        "waves": seconds / latency.mean * 1000 if latency.mean else None,
        "little_ratio": fmean(busy),
        "throughput_rps": _mean([one.throughput_rps for one in told]),
        "cpu_ms_per_request": _mean(costs),
        "allocated_bytes_per_request": ratio(_sum([one.allocated_bytes for one in own]), requests),
        "cpu_fall": fall(costs),
        "latency_fall": fall(means_ms),
        "counted_requests": requests,
        "silences_s": tuple(length for one in own for length in silences(log, one.started, one.ended)),
        "slow_ms": tuple(waits_ms[waits_ms > limits.SLOW_P50S * max(p50_ms or 0, *floors_ms)].tolist()),
        "partner_cpus": idle_cpus_of(own),
        "threads_started": median(threads) if threads else None,
        "ratio_shift": ratio_shift(slices),
        "lab_connections": limits.OWN_CONNECTIONS + CALLS * (len(own) + len(slices.partners)),
    }, Counted(tuple((one.started, one.ended) for one in own), requests)


def _windows(slices: list[Slice]) -> list[tuple[float, float]]:
    """When the requests of each may begin: up to half way to the next one of that side."""
    gaps_s = [(later.started - one.ended) / 2 for one, later in pairwise(slices)]
    ends = [MARGIN_S, *gaps_s, MARGIN_S]
    return [
        (one.started - min(before, MARGIN_S), one.ended + min(after, MARGIN_S))
        for one, before, after in zip(slices, ends, ends[1:], strict=False)
    ]


def _any_of(starts_s: Numbers, parts: list[RequestLog], name: str) -> Any:
    """Which of all are in one of the parts."""
    return np.isin(starts_s, np.concatenate([getattr(part, name) for part in parts]))


def idle_cpus_of(slices: list[Slice]) -> float | None:
    """CPU seconds a second that the partner of these took while it idled."""
    return ratio(_sum([one.idle_cpu_s for one in slices]), sum(one.ended - one.started for one in slices))


def cost_s(one: Slice, idle_cpus: float | None) -> float | None:
    """CPU time of its requests: without compilers, and what the process takes without requests."""
    if one.cpu_s is None or idle_cpus is None:
        return None
    return one.cpu_s - (one.jit_cpu_s or 0.0) - idle_cpus * (one.ended - one.started)


def ratio_shift(slices: SliceLog) -> float | None:
    """By how much the log of the ratio of CPU per request to the partner's grew from the slices' first half on."""
    sides = ((slices.slices, idle_cpus_of(slices.partners)), (slices.partners, idle_cpus_of(slices.slices)))
    costs = [[ratio(cost_s(one, idle), one.requests) or 0.0 for one in own] for own, idle in sides]
    half = len(slices.slices) // 2
    if not half or len(slices.slices) != len(slices.partners) or min(map(min, costs)) <= 0:
        return None
    logs = np.log(costs[0]) - np.log(costs[1])
    return float(logs[half:].mean() - logs[:half].mean())


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _mean(values: list[float | None]) -> float | None:
    """None where one is missing."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
