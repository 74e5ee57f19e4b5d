"""From one raw file that is changed to the one rule it fails, on both sides of the limit: what no run of test_replay
shows, or not so near to its limit."""

import itertools
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rawrun import LATENCY_MS, RawRun, at, by_second, container, cpu, host_samples, level, matrix, ramp, rows
from saying import failed, figures, told

type Change = Callable[[RawRun, Any], None]


def stepped(run: RawRun, seconds: float) -> None:
    """The clock is set, and ten seconds later set back."""
    for sample in run.samples[20:30]:
        sample["monotonic"] -= seconds


def silent(run: RawRun, seconds: float) -> None:
    """All that is in flight at the 20th second is answered so much later, at once."""
    run.rows = rows(
        lambda second: max(LATENCY_MS, 1000 * (20 + seconds - second) if second < 20 <= second + 0.92 else 0)
    )
    answered_by_backend(run)


def cooling(run: RawRun, by: float) -> None:
    """The approach's CPU falls by that share of a CPU from the beginning to the end, linearly."""
    run.put("containers", cpu("app", by_second(lambda second: 60 + 0.5 * second - by * second**2 / 80)))
    run.samples = host_samples(approach=0.3)


def overused(run: RawRun, used: tuple[float, float]) -> None:
    """So many CPUs, of one and a quota."""
    cpus, quota_cpus = used
    of_quota = container("spec_cpu_quota", level(100_000 * quota_cpus)), container("spec_cpu_period", level(100_000))
    run.put("containers", cpu("app", ramp(cpus)), *of_quota)
    run.samples = host_samples(approach=min(cpus, 1))


def beside_prometheus(run: RawRun, its_cpus: str) -> None:
    """A fifth of the approach's CPU is used by another, and Prometheus uses as much, on these CPUs."""
    run.samples = host_samples(approach=0.71)
    run.put("containers", cpu("prometheus", ramp(0.21)), cpu("cadvisor", ramp(0)))
    run.request["monitoring_cpus"] = its_cpus


def refused_unread(run: RawRun, requests: int) -> None:
    """So many answers other than 2xx, which came at once, as if nothing had been waited for."""
    run.unanswered = requests
    run.report["Non-2xx responses"] = requests


def answered_by_backend(run: RawRun) -> None:
    """Three calls for each request, when it ended."""
    ends = sorted(start + 0.5 + took / 1000 for start, took in run.rows)
    calls = by_second(lambda second: 50 + 3 * bisect_right(ends, at(second)))
    run.put("backend", matrix("backend_requests_total", calls))


def dead(run: RawRun, connections: int) -> None:
    """So many of 40 connections get no answer at all; ab leaves them out."""
    run.rows = rows(connections=40)
    run.rows = [row for number, row in enumerate(run.rows) if number * 40 // len(run.rows) >= connections]
    run.request["load"]["connections"] = run.network["ActiveOpens"] = 40
    run.about["outbound"]["max_connections_per_route"] = 40
    run.put("backend", matrix("backend_requests_total", ramp(3 * (40 - connections) / 0.92)))


def put(part: str) -> Callable[[str], Change]:
    """Changes of one entry of a raw file."""
    return lambda key: lambda run, it: getattr(run, part).update({key: it})


tool, report, state, warmup, about = (put(name) for name in ("tool", "report", "state", "warmup", "about"))


def hosts(cpu: str) -> Change:
    return lambda run, it: setattr(run, "samples", host_samples(**{cpu: it}))


def swapping(run: RawRun, share: float) -> None:
    """For ten seconds that share of its memory is in swap."""
    swap = matrix("process_memory_swap_bytes", by_second(lambda second: share * 1e9 * (15 < second < 25)))
    run.put("approach", swap)


def lasting(run: RawRun, latency_ms: float) -> None:
    run.rows = rows(lambda _: latency_ms)


CASES: list[tuple[str, str, Change, Any, Any, str]] = [
    # rule (and what comes with it), level, change, within, beyond, numbers of its sentence
    ("tool_failed", "invalid", tool("stopped_by"), None, "stall", "25"),
    ("tool_failed", "invalid", tool("stopped_by"), None, "hard cap", "40"),
    ("tool_failed", "invalid", tool("exit_code"), 0, 22, "22"),
    ("too_many_errors", "invalid", report("Non-2xx responses"), 8, 9, "1.06 9 850 1"),
    ("too_many_errors", "invalid", refused_unread, 8, 9, "1.05 9 859 1"),
    ("too_many_errors", "invalid", lambda run, it: setattr(run, "unanswered", it), 8, 9, "1.05 9 859 1"),
    ("other_approach", "invalid", about("approach"), "app", "another", ""),
    ("other_approach", "invalid", about("approach"), "app", {"none": 10**400}, ""),
    ("container_failed", "invalid", state("StartedAt"), "2026-11-18T11:06:40Z", "2026-11-18T11:06:42Z", "1.5"),
    ("swapped", "suspect", swapping, 0.01, 0.011, "1.1 1"),
    ("foreign_cpu", "suspect", hosts("approach"), 0.549, 0.56, "6 5"),
    ("much_foreign_cpu", "invalid", hosts("approach"), 0.5, 0.71, "21 20"),
    ("much_foreign_cpu", "invalid", beside_prometheus, "0", "1", "21 20"),
    ("stolen", "suspect", hosts("stolen"), 0.025, 0.03, "5.66 5"),
    ("clock_stepped", "invalid", stepped, 0.5, -0.6, "0.6 0.5"),
    ("throughput_impossible", "suspect", lasting, 900, 890, "22.5 20 900 22.2 0.5"),
    ("omission_possible", "suspect", lambda run, it: run.rows.append((int(at(10)), it)), 7_000, 8_500, "1 8.5 8 1.32"),
    ("omission_possible uneven", "suspect", silent, 0.5, 5, "20 5.9 1"),
    ("connections_idle", "suspect", dead, 0, 2, "40"),
    ("still_falling", "suspect", cooling, 0.05, 0.15, "14.7 0.474 10"),
    ("cpu_grew", "suspect", lambda run, it: cooling(run, -it), 0.3, 0.4, "29.1 25"),
    ("more_cpu_than_given", "suspect", overused, (1.04, 2), (1.3, 2), "1.30 1 5"),
    ("more_cpu_than_given", "suspect", overused, (0.52, 0.5), (0.54, 0.5), "0.54 0.5 5"),
    ("warmup_failed", "suspect", warmup("failed"), False, True, "1"),
]


@pytest.mark.parametrize(("rules", "level", "change", "within", "beyond", "numbers"), CASES)
def test_a_changed_file_leads_to_its_rule(
    rules: str, level: str, change: Change, within: object, beyond: object, numbers: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    run = good.judged(tmp_path)
    assert (run.verdict, run.reasons) == ("valid", [])

    run = bad.judged(tmp_path)
    assert run.verdict == level
    assert failed(run.rules) == set(rules.split()), run.reasons
    assert told(run.rules, rules.split(maxsplit=1)[0], numbers), run.reasons


def test_a_percentile_that_answers_of_another_status_may_reach_is_not_given(tmp_path: Path) -> None:
    """4.5 % of the answers take twice as long; which eight of some 850 were not 2xx ab does not tell."""
    slow = itertools.cycle([2 * LATENCY_MS] + 21 * [LATENCY_MS])
    run = RawRun(rows=rows(lambda _: next(slow)))
    sound = run.judged(tmp_path).latency_ms
    run.report = {"Non-2xx responses": 8}

    latency = run.judged(tmp_path).latency_ms

    assert sound.p95 == LATENCY_MS
    assert (latency.p95, latency.p90) == (None, LATENCY_MS)
    assert {"920", "1,840"} <= figures(latency.withheld["p95"])


GROWN = {"latency_grew", "latency_grew_much", "uneven"}


@pytest.mark.parametrize(
    ("before_ms", "after_ms", "first_s", "last_s", "rules"),
    [
        (LATENCY_MS, 2400, 20, 40, {"latency_grew_much"}), (1100, 2600, 31, 40, GROWN),
        (LATENCY_MS, 2700, 12, 25, GROWN), (LATENCY_MS, 2700, 33, 40, GROWN),
    ],
)  # fmt: skip
def test_a_jump(before_ms: int, after_ms: int, first_s: int, last_s: int, rules: set[str], tmp_path: Path) -> None:
    run = RawRun(rows=rows(lambda second: after_ms if first_s <= second < last_s else before_ms))
    answered_by_backend(run)
    assert failed(run.judged(tmp_path).rules) & rules
