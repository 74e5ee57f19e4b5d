"""What requests, and slices, show: figures of the interior, steps, episodes, silences, and whether it got faster."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from loomlab.basics.format import percent
from loomlab.basics.grouping import grouped
from loomlab.basics.trend import trend
from loomlab.basics.waves import RAMP_S
from loomlab.judge import limits
from loomlab.judge.facts import Facts
from loomlab.judge.interior import OF_ONE_LOAD, InteriorFigures, figures_of, latency_of_due, window_figures
from loomlab.judge.series import ratio, together
from loomlab.records.load import Closed, Load, OpenRate, Target
from loomlab.records.measured import MOST_SILENCES, Halves, Slow
from loomlab.records.models import Episode, Hang, Interior, KindFigures, Latency, SliceFigures, Step
from loomlab.records.raw import Slice, SliceLog
from loomlab.records.requestlog import Numbers, RequestLog, by_seconds, latency_figures, silences, silent_end_s

SETTLE_S = 2  # of a step's beginning; starts are known to the second
BACK_LIMIT, BACK_FOR_S = 1.2, 3
MOST_PARTS, FEWEST_PARTS = 8, 4
SHORTEST_PART_S, WAVES_A_PART = 2, 2
CONFIDENCE = 95
MOST_KINDS = 100  # of requests
type Span = tuple[float, float]  # epoch seconds
type Fields = tuple[dict[str, Any], "Counted"]  # of Run, and what other figures are taken on
type CpuSeconds = Callable[[float, float], float | None]  # the approach's CPU time between two times
CALLS = 6  # that the lab makes to processes and backend around a slice, each over a connection of its own
MARGIN_S = 0.5  # around a slice, in which its requests may begin by the tool's clock


class Counted(NamedTuple):
    """What figures per request are of: the interior, slices, else the run; `one_load`: the load is no ladder."""

    spans: tuple[Span, ...]
    requests: float | None
    one_load: bool = True

    @property
    def seconds(self) -> float:
        return sum(end - start for start, end in self.spans)

    def sum(self, grown: Callable[[float, float], float | None]) -> float | None:
        """Of what grew in the spans; None where that of one is not known."""
        return together(grown(*span) for span in self.spans)

    def halves(self) -> tuple["Counted", "Counted"]:
        """By time; of slices, the first half of them and the others."""
        spans = self.spans
        if len(spans) == 1:
            middle = sum(spans[0]) / 2
            spans = ((spans[0][0], middle), (middle, spans[0][1]))
        half = len(spans) // 2
        return self._replace(spans=spans[:half]), self._replace(spans=spans[half:])


def request_figures(facts: Facts, log: RequestLog | None, requests: int | None, duration_s: float) -> Fields:
    """Of a run without a log: of so many requests in that time."""
    counted = Counted(((facts.start, facts.end),), requests)
    if log is None:
        return {"latency_ms": Latency(), "interior": None, "counted_requests": requests}, counted
    driver, load, first, last = facts.driver, facts.request.load, facts.start, facts.start + duration_s
    silent_s = silent_end_s(log, last) if driver.discards else 0
    steps = steps_of(log, load.shape, facts.metrics.cpu_seconds, first) if isinstance(load.shape, OpenRate) else []
    figures = figures_of(log, load, first, last, quotas=driver.quotas, drains=not driver.discards)
    fields: dict[str, Any] = {"latency_ms": Latency(), "interior": None}
    if figures:
        window = figures.window
        fields |= _interior_fields(facts, log, figures, one_load=not steps)
        first, last = window.start, window.start + window.seconds
        counted = Counted(((first, last),), figures.requests, one_load=not steps)
        if window.whole_run:  # begins with its first request, for which a tool may take seconds
            first = max(first, float(log.starts_s.min()))
            last = first + window.seconds
    held, missed = [step for step in steps if step.held], [step for step in steps if not step.held]
    if held:  # that whose starts lagged most for its latency
        answers = (log.between(step.start, step.start + step.seconds).from_due_ms for step in held)
        lags = [(step.start_lag_p99_ms, latency_figures(ms).p99 or 0) for step, ms in zip(held, answers, strict=True)]
        least_ms, share = limits.RESOLVED_LAG_MS, limits.LAG_LIMIT
        lag_ms, p99_ms = max(lags, key=lambda lag: (lag[0] or 0) / max(share * lag[1], least_ms))
        fields |= {"worst_start_lag_p99_ms": lag_ms, "lagged_p99_ms": p99_ms}
    p50_ms = latency_figures(log.from_due_ms).p50
    # ab rounds starts down to whole seconds.
    waited_ms = log.between(math.floor(first), last).latencies_ms
    return fields | {
        "counted_requests": counted.requests,
        "kinds": kinds_of(log.between(first, last), load.targets),
        "missed_steps": tuple(step.offered_rps for step in missed),
        "missed_because": tuple(step.missed or "" for step in missed),
        "held_steps": tuple(step.offered_rps for step in held),
        "steps": steps,
        "episodes": episodes_of(log, facts.request.hangs, facts.start),
        "p50_ms": p50_ms,
        "silences_s": _longest(silences(log, first, last) if len(log) else []),
        "slow": slow_of(waited_ms, p50_ms, facts.floors_ms),
        "silent_end_s": silent_s,
    }, counted


def _longest(silences_s: list[int]) -> list[int]:
    return sorted(silences_s, reverse=True)[:MOST_SILENCES]


def slow_of(waits_ms: Numbers, p50_ms: float | None, floors_ms: Sequence[float]) -> Slow | None:
    """What took several times the p50; None where nothing did. Omitted are, as of HdrHistogram's
    copyCorrectedForCoordinatedOmission, those that would have followed one another meanwhile."""
    slow_ms = waits_ms[waits_ms > limits.SLOW_P50S * max(p50_ms or 0, *floors_ms)]
    if not p50_ms or not len(slow_ms):
        return None
    return Slow(requests=len(slow_ms), longest_ms=slow_ms.max(), omitted=(slow_ms / p50_ms - 1).sum())


def _interior_fields(facts: Facts, log: RequestLog, figures: InteriorFigures, *, one_load: bool) -> dict[str, Any]:
    window, mean_ms, load = figures.window, figures.latency_ms.mean or 0, facts.request.load
    fields = {
        "interior": window,
        "whole_run": window.whole_run,
        "interior_s": None if window.whole_run else window.seconds,
        "evaluated_s": window.seconds,
        "mean_ms": mean_ms,
        "p99_ms": figures.answered_p99_ms,
        "waves": figures.waves,
        "little_ratio": figures.little_ratio,
        "rounding": log.rounded_ms / 2 / (mean_ms or 1),
    }
    if one_load:
        fields |= {name: getattr(figures, name) for name in OF_ONE_LOAD}
        fields |= {"worst_start_lag_p99_ms": figures.start_lag_p99_ms, "lagged_p99_ms": figures.answered_p99_ms}
    if facts.steady:
        recorded = window.model_copy(update={"seconds": figures.recorded_s or window.seconds})
        connections = load.connections if isinstance(load.shape, Closed) else None
        fields |= falls(log, recorded, mean_ms / 1000, connections, facts.metrics.cpu_seconds)
    return fields


def steps_of(log: RequestLog, shape: OpenRate, cpu_seconds: CpuSeconds, started: float) -> list[Step]:
    """One entry per step, from `started` on where no request has a known start; empty for a single rate."""
    if len(shape.steps) < 2:
        return []
    steps = []
    begin = math.floor(log.starts_s.min() if len(log.starts_s) else started)
    for step in shape.steps:
        first, last = begin + SETTLE_S, begin + step.duration_s - 1
        begin += step.duration_s
        figures = window_figures(log, first, last, step.rate_rps)
        inside = log.between(first, last)
        errors = len(inside.failed_start_s) + figures.unplaced
        missed = _missed(inside, step.rate_rps, figures, errors)
        cpu_s = cpu_seconds(first, last)
        steps.append(
            Step(
                offered_rps=step.rate_rps,
                errors=errors,
                cpu_ms_per_request=ratio(cpu_s and 1000 * cpu_s, figures.window.requests),
                start=first,
                seconds=last - first,
                held=missed is None,
                missed=missed,
                **{name: getattr(figures, name) for name in OF_ONE_LOAD},
            )
        )
    return steps


def _missed(log: RequestLog, rate_rps: float, figures: InteriorFigures, errors: int) -> str | None:
    seconds, started_rps, lag_ms = figures.window.seconds, figures.started_rps or 0.0, figures.start_lag_p99_ms or 0
    if abs(started_rps - rate_rps) > max(limits.RATE_LIMIT * rate_rps, 1 / seconds):
        return f"{started_rps:.0f}/s were started"
    if errors > limits.ERROR_LIMIT * max(round(started_rps * seconds), 1):
        return f"{errors} errors"
    if lag_ms > limits.LONGEST_LAG_MS:
        return f"requests started {lag_ms / 1000:.1f} s late"
    growth = falls(log, figures.window, mean_s=0, shortest_part_s=1).get("latency_fall")
    if growth and -growth.fall > max(limits.GROWTH_LIMIT, growth.margin):
        return f"latency grew by {percent(-growth.fall)}"
    return None


def falls(
    log: RequestLog,
    window: Interior,
    mean_s: float,
    connections: int | None = None,
    cpu_seconds: CpuSeconds = lambda *_: None,
    shortest_part_s: float = SHORTEST_PART_S,
) -> dict[str, Halves | None]:
    """Trends of mean latency and CPU per request; none without room for four parts, each of two waves of `mean_s`."""
    shortest_s = max(shortest_part_s, 0 if connections is None else WAVES_A_PART * mean_s)
    count = min(MOST_PARTS, math.floor(window.seconds / shortest_s))
    if count < FEWEST_PARTS or window.whole_run:
        return {}
    edges = [round(window.start + part * window.seconds / count) for part in range(count + 1)]
    part = np.searchsorted(edges, log.start_s, side="right")
    counts, sums_ms = (np.bincount(part, of, count + 2)[1:-1].tolist() for of in (None, log.from_due_ms))
    means_ms = [ratio(sum_ms, requests) for sum_ms, requests in zip(sums_ms, counts, strict=True)]
    costs = []
    for (first, last), requests, mean_ms in zip(pairwise(edges), counts, means_ms, strict=True):
        served = requests if connections is None else ratio(1000 * connections * (last - first), mean_ms)
        costs.append(ratio(cpu_seconds(first, last), served))
    return {"latency_fall": fall(means_ms), "cpu_fall": fall(costs)}


def fall(values: Sequence[float | None]) -> Halves | None:
    """Of evenly spaced values; None with fewer than three, or where one is missing."""
    line = trend(values)
    if line is None:
        return None
    apart = len(values) / 2
    second, margin = math.exp(line.slope * apart), line.margin(CONFIDENCE) * apart
    towards_none = margin if second < 1 else -margin
    known = [value for value in values if value]
    peak = max(known) / median(known) - 1
    return Halves(fall=1 - second, margin=abs(second * math.expm1(towards_none)), peak=peak)


def episodes_of(log: RequestLog, hangs: Sequence[Hang], started: float) -> list[Episode]:
    """Of a run that began at `started`, epoch seconds; requests count by the second they started in."""
    by_second = by_seconds(log.start_s, log.from_due_ms) if hangs else {}
    medians = {second: float(np.median(latencies)) for second, latencies in by_second.items()}
    longest = {second: float(latencies.max()) for second, latencies in by_second.items()}
    return [_episode(medians, longest, started + hang.at_s, hang.duration_s) for hang in hangs]


def _episode(medians: dict[int, float], longest: dict[int, float], begin: float, lasts_s: float) -> Episode:
    end = begin + lasts_s
    calm = [value for second, value in medians.items() if second < math.floor(begin) - 1]
    before = median(calm) if calm else None
    good = {second for second, value in medians.items() if before is not None and value <= BACK_LIMIT * before}
    back = [second for second in good if second >= math.floor(end) and {*range(second, second + BACK_FOR_S)} <= good]
    during = [value for second, value in longest.items() if begin - 1 <= second <= end]
    return Episode(
        start=begin,
        end=end,
        before_p50_ms=before,
        worst_ms=max(during, default=None),
        recovery_s=max(min(back) - end, 0.0) if back else None,
    )


def kinds_of(log: RequestLog, targets: Sequence[Target]) -> list[KindFigures]:
    """In the order of the load; none of one kind, of too many, or where the tool does not tell which was which."""
    by_kind = grouped(enumerate(targets), lambda one: one[1].label)
    if not 2 <= len(by_kind) <= MOST_KINDS or not len(log.target) + len(log.failed_target):
        return []
    found = []
    for label, own in by_kind.items():
        places = [place for place, _ in own]
        part = log.where(np.isin(log.target, places), np.isin(log.failed_target, places))
        latency = latency_of_due(part, part.from_due_ms)
        figures = {"requests": len(part), "errors": len(part.failed_start_s), "latency_ms": latency}
        found.append(KindFigures(request=label, **figures))
    return found


def slice_figures(slices: SliceLog, log: RequestLog, load: Load, floors_ms: Sequence[float]) -> Fields:
    """Means of its slices. CPU is of whole slices, without compilers and idle use; latency and throughput leave out the
    first and the last request of each connection."""
    own, idle_cpus, connections = slices.slices, idle_cpus_of(slices.partners), load.connections
    told, busy, parts, quiet_s, errors = list[SliceFigures](), list[float](), list[RequestLog](), list[int](), 0
    for one, (begin, end) in zip(own, _windows(own, slices.disturbed), strict=True):
        every = log.between(begin, end)
        starts_s, ends_s = every.starts_s, every.starts_s + every.latencies_ms / 1000
        order = np.sort(starts_s)
        first_s, last_s = begin, end
        if len(order) > 2 * connections:  # and once all connections have begun
            last_s = order[-connections]
            first_s = min(max(order[connections], one.started + RAMP_S), last_s)
        busy_s = (np.clip(ends_s, first_s, last_s) - np.clip(starts_s, first_s, last_s)).sum()
        busy.append(ratio(float(busy_s), connections * float(last_s - first_s)) or 0.0)
        parts.append(every.between(first_s, last_s))
        mean_ms = latency_figures(parts[-1].from_due_ms).mean
        errors += len(every.failed_start_s)
        quiet_s += silences(every, one.started, one.ended)
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
    kept_s = np.concatenate([part.starts_s for part in parts])
    pooled = log.where(np.isin(log.start_s, kept_s), np.isin(log.failed_start_s, kept_s))
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
        "kinds": kinds_of(pooled, load.targets),
        "interior": Interior(start=own[0].started, seconds=seconds, requests=requests, whole_run=False),
        "interior_s": seconds,
        "evaluated_s": seconds,
        "mean_ms": latency.mean or 0,
        "p50_ms": p50_ms,
        "p99_ms": latency_figures(latencies_ms).p99,
        "waves": seconds / latency.mean * 1000 if latency.mean else None,
        "little_ratio": fmean(busy),
        "throughput_rps": ratio(together(one.throughput_rps for one in told), len(told)),
        "cpu_ms_per_request": ratio(together(costs), len(told)),
        "allocated_bytes_per_request": ratio(together(one.allocated_bytes for one in own), requests),
        "cpu_fall": fall(costs),
        "latency_fall": fall(means_ms),
        "counted_requests": requests,
        "silences_s": _longest(quiet_s),
        "slow": slow_of(waits_ms, p50_ms, floors_ms),
        "partner_cpus": idle_cpus_of(own),
        "threads_started": median(threads) if threads else None,
        "ratio_shift": ratio_shift(slices),
        "lab_connections": limits.OWN_CONNECTIONS + CALLS * (len(own) + len(slices.partners) + slices.again),
    }, Counted(tuple((one.started, one.ended) for one in own), requests)


def _windows(own: list[Slice], others: list[Slice]) -> list[tuple[float, float]]:
    """When the requests of each may begin: up to half way to the next one of that side, be it one of the others."""
    every = sorted([*own, *others], key=lambda one: one.started)
    gaps_s = [(later.started - one.ended) / 2 for one, later in pairwise(every)]
    ends = [MARGIN_S, *gaps_s, MARGIN_S]
    return [
        (one.started - min(before, MARGIN_S), one.ended + min(after, MARGIN_S))
        for one, before, after in zip(every, ends, ends[1:], strict=False)
        if one in own
    ]


def idle_cpus_of(slices: list[Slice]) -> float | None:
    """CPU seconds a second that the partner of these took while it idled."""
    return ratio(together(one.idle_cpu_s for one in slices), sum(one.ended - one.started for one in slices))


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
