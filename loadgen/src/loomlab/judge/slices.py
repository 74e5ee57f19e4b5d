"""What the slices of a run show that was loaded in turn with its partner."""

from statistics import fmean, median
from typing import Any

import numpy as np

from loomlab.judge import limits
from loomlab.judge.facts import Facts
from loomlab.judge.interior import latency_of_due
from loomlab.judge.request_figures import Counted, fall
from loomlab.judge.series import ratio
from loomlab.records.models import Interior, SliceFigures
from loomlab.records.requestlog import RequestLog, latency_figures, silences
from loomlab.records.slices import Slice


def slice_figures(facts: Facts, log: RequestLog, slices: list[Slice]) -> tuple[dict[str, Any], Counted]:
    """Fields of Run, and what other figures are taken on. CPU is of whole slices, from idle to idle; latency is of the
    requests that came after the first of each connection. A figure of the run is the mean of those of its slices."""
    connections = facts.request.load.connections
    told, kept, kept_failed, busy = list[SliceFigures](), [], [], list[float]()
    for one in slices:
        starts_s = np.sort(log.starts_s[(log.starts_s >= one.started) & (log.starts_s <= one.ended)])
        first_s, last_s = (starts_s[min(connections, len(starts_s) - 1)], starts_s[-1]) if len(starts_s) else (0.0, 0.0)
        later = log.between(first_s, one.ended)
        ends_s = np.minimum(later.starts_s + later.latencies_ms / 1000, last_s)
        busy.append(ratio(float((ends_s - later.starts_s).sum()), connections * float(last_s - first_s)) or 0.0)
        mean_ms = latency_figures(later.from_due_ms).mean
        answered = int(log.within(one.started, one.ended).sum())
        told.append(
            SliceFigures(
                started=one.started,
                seconds=one.ended - one.started,
                requests=answered,
                cpu_ms_per_request=ratio(one.cpu_s and 1000 * one.cpu_s, answered),
                mean_latency_ms=mean_ms,
                throughput_rps=ratio(1000 * connections, mean_ms),
            )
        )
        kept.append((log.start_s >= first_s) & (log.start_s <= one.ended))
        kept_failed.append((log.failed_start_s >= first_s) & (log.failed_start_s <= one.ended))
    pooled = log.where(np.logical_or.reduce(kept), np.logical_or.reduce(kept_failed))
    seconds, requests = sum(one.seconds for one in told), sum(one.requests for one in told)
    latency, p50_ms = latency_of_due(pooled, pooled.from_due_ms, log.untimed), latency_figures(pooled.from_due_ms).p50
    waits_ms = pooled.latencies_ms
    costs, means_ms = ([getattr(one, name) for one in told] for name in ("cpu_ms_per_request", "mean_latency_ms"))
    idle = [ratio(one.partner_cpu_s, one.ended - one.started) for one in slices]
    started = [one.threads_started for one in slices if one.threads_started is not None]
    return {
        "slices": told,
        "latency_ms": latency,
        "interior": Interior(start=slices[0].started, seconds=seconds, requests=requests, whole_run=False),
        "interior_s": seconds,
        "evaluated_s": seconds,
        "mean_ms": latency.mean or 0,
        "p50_ms": p50_ms,
        "p99_ms": latency_figures(pooled.from_due_ms).p99,
        "waves": seconds / latency.mean * 1000 if latency.mean else None,
        "little_ratio": fmean(busy),
        "throughput_rps": _mean([one.throughput_rps for one in told]),
        "cpu_ms_per_request": _mean(costs),
        "cpu_fall": fall(costs),
        "latency_fall": fall(means_ms),
        "counted_requests": requests,
        "silences_s": tuple(length for one in slices for length in silences(log, one.started, one.ended)),
        "slow_ms": tuple(waits_ms[waits_ms > limits.SLOW_P50S * max(p50_ms or 0, *facts.floors_ms)].tolist()),
        "partner_cpus": _mean(idle),
        "threads_started": median(started) if started else None,
        "ratio_shift": _ratio_shift(slices, facts.slices.partners if facts.slices else []),
    }, Counted(tuple((one.started, one.ended) for one in slices), requests)


def _ratio_shift(slices: list[Slice], partners: list[Slice]) -> float | None:
    """By which share the ratio of CPU per request to the partner's changed from the first half of the slices on."""
    costs = [[ratio(one.cpu_s, one.requests) or 0.0 for one in own] for own in (slices, partners)]
    if len(slices) < 2 or len(slices) != len(partners) or min(map(min, costs)) <= 0:
        return None
    half = len(slices) // 2
    logs = np.log(costs[0]) - np.log(costs[1])
    return float(np.expm1(abs(logs[half:].mean() - logs[:half].mean())))


def _mean(values: list[float | None]) -> float | None:
    """None where one is missing."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
