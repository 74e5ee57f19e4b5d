"""From raw files to run.json: of which seconds, of whose CPUs and of which requests a figure is; and from one raw file
that is changed to the one rule it fails, on both sides of the limit: what no run of test_replay shows so near to it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from loomlab.run.process import SOFTIRQ, STEAL
from rawrun import (
    CONCURRENCY,
    LATENCY_MS,
    SAMPLED,
    SECONDS,
    RawRun,
    StandIn,
    at,
    by_second,
    container,
    cpu,
    host_samples,
    level,
    log_of,
    matrix,
    ramp,
    rows,
)
from saying import failed, told, unknown


def test_what_comes_late_after_a_hang_is_no_fault_of_the_backend(tmp_path: Path) -> None:
    run = RawRun()
    run.request["hangs"] = [{"at_s": 20, "duration_s": 5}]
    late_s = by_second(lambda second: 50 + 0.4 * second + 100 * max(second - 20, 0))
    run.put("backend", matrix("backend_lateness_seconds_sum", late_s))

    got = run.judged(tmp_path)

    assert got.backend_lateness_mean_ms == pytest.approx(4)
    assert not failed(got.rules) & {"backend_late_mean", "backend_late_p99"}


def test_neither_what_is_before_the_interior_nor_after_the_load_is_an_omission(tmp_path: Path) -> None:
    """Every connection's first answer takes 5 s."""
    run = RawRun(rows=rows(lambda second: 5000 if second < 0.92 else LATENCY_MS))
    run.tool["ended"] = at(SECONDS + 7)

    assert run.judged(tmp_path).reasons == []


def delayed(first: float, last: float) -> list[tuple[int, int]]:
    """Every answer that would come between the two times comes at the latter."""
    answers: list[tuple[int, int]] = []
    for connection in range(CONCURRENCY):
        start = 0.001 * connection
        while (end := start + LATENCY_MS / 1000) < 10:
            end = last if first < end < last else end
            answers.append((int(at(start)), round(1000 * (end - start))))
            start = end
    return answers


def answers(seconds: Iterable[int], each: int) -> list[tuple[int, int]]:
    """Fewer than there are connections, so that there is no interior."""
    return [(int(at(second)), LATENCY_MS) for second in seconds for _ in range(each)]


@pytest.mark.parametrize(
    ("rows", "took_s", "numbers"),
    [
        (delayed(0.5, 6.0), 10, "20 6.00"), (delayed(0.5, 3.5), 10, "20 3.50"), (delayed(4.0, 4.1), 10, None),
        (answers((0, 8), 9), 10, ""),
        # A tool may take some time until it sends its first request.
        (answers(range(4, 10), 3), 6, None),
    ],
)  # fmt: skip
def test_omissions_of_whole_run(rows: list[tuple[int, int]], took_s: int, numbers: str | None, tmp_path: Path) -> None:
    run = RawRun(rows=rows, report={"Time taken for tests": f"{took_s}.000 seconds"})
    run.tool["ended"] = at(10)

    got = run.judged(tmp_path)

    assert got.whole_run or numbers is None
    assert told(got.rules, "omission_possible", numbers or "") is (numbers is not None)


def test_last_answers_that_a_tool_waits_for_are_no_silence_and_cost_nothing(tmp_path: Path, stand_in: StandIn) -> None:
    stand_in(discards=False, tells_unended=True)
    run = RawRun(report={"Time taken for tests": f"{SECONDS + 4}.000 seconds"})
    run.rows += [(int(at(SECONDS - 1)), 2500)]
    run.tool["ended"] = at(SECONDS + 4.2)

    got = run.judged(tmp_path)

    assert (got.reasons, got.tells_unended) == ([], True)
    assert got.throughput_rps == pytest.approx(CONCURRENCY / 0.92, rel=0.02)


def test_a_request_that_failed_after_long_stands_for_those_it_kept_back(tmp_path: Path, stand_in: StandIn) -> None:
    run = RawRun()
    starts_s, latencies_ms = zip(*run.rows, strict=True)
    log = log_of(starts_s, latencies_ms, failed_start_s=[at(10)], failed_latency_ms=[8500])
    stand_in(requests=lambda *_: log, discards=False)

    assert told(run.judged(tmp_path).rules, "omission_possible", "1 8.50")


def test_a_tool_whose_connections_have_quotas_is_judged_while_all_are_busy(tmp_path: Path, stand_in: StandIn) -> None:
    stand_in(quotas=True)
    run = RawRun()
    run.rows = [row for number, row in enumerate(run.rows) if number % 2 or row[0] < at(25)]

    interior = run.judged(tmp_path).interior

    assert interior is not None
    assert interior.start + interior.seconds <= at(27)


@pytest.mark.parametrize(
    ("cpu", "whose", "rule"),
    [("0", "approach", "much_stolen"), ("1", "backend", "stolen"), ("2", "load generator", "stolen")],
)
def test_stolen_time_is_told_by_whose_it_was(cpu: str, whose: str, rule: str, tmp_path: Path) -> None:
    run = RawRun()
    run.spend(cpu, STEAL, lambda second: 21 * (second - SAMPLED.start))

    got = run.judged(tmp_path)

    assert got.verdict == ("invalid" if rule == "much_stolen" else "suspect")
    assert told(got.rules, rule, "21")
    assert whose in got.reasons[0]
    assert got.idle_share == pytest.approx(0.29 if whose == "approach" else 0.5, abs=0.01)


def test_steal_of_cpus_that_were_not_sampled_is_not_known(tmp_path: Path) -> None:
    run = RawRun()
    run.request["approach_cpus"] = "7"
    assert unknown(run.judged(tmp_path).rules) >= {"stolen", "much_stolen", "more_cpu_than_given"}


@pytest.mark.parametrize(("busy", "foreign"), [(0.5, 0), (0.4, 0.1)])
def test_interrupts_that_the_kernel_charges_to_whoever_runs(busy: float, foreign: float, tmp_path: Path) -> None:
    """The container used half of the CPU, interrupts a fifth."""
    run = RawRun(samples=host_samples(approach=busy))
    run.spend("0", SOFTIRQ, lambda second: 20 * (second - SAMPLED.start))

    got = run.judged(tmp_path)

    assert got.foreign_cpu_share == pytest.approx(foreign, abs=0.01)
    assert (got.reasons == []) is (foreign == 0)


@pytest.mark.parametrize("shared", [{"monitoring_cpus": "0"}, {"generator_cpus": "0,2"}])
def test_cpus_that_a_container_shares_in_part_or_unmeasured(shared: dict[str, str], tmp_path: Path) -> None:
    run = RawRun()
    run.request |= shared

    got = run.judged(tmp_path)

    assert (got.verdict, got.foreign_cpu_share) == ("suspect", None)
    assert unknown(got.rules) == {"foreign_cpu", "much_foreign_cpu"}


type Change = Callable[[RawRun, Any], None]


def stepped(run: RawRun, seconds: float) -> None:
    """The clock is set, and ten seconds later set back."""
    for sample in run.samples[20:30]:
        sample["monotonic"] -= seconds


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


CASES: list[tuple[str, str, Change, Any, Any, str]] = [
    # rule, level, change, within, beyond, numbers of its sentence
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
    ("clock_stepped", "invalid", lambda run, off_s: run.metrics.update(clock_off_s=off_s), 0.5, 0.6, "0.6 0.5"),
    ("more_cpu_than_given", "suspect", overused, (1.04, 2), (1.3, 2), "1.30 1 5"),
    ("more_cpu_than_given", "suspect", overused, (0.52, 0.5), (0.54, 0.5), "0.54 0.5 5"),
    ("half_cold", "suspect", warmup("failed"), False, True, "1"),
]


@pytest.mark.parametrize(("rule", "level", "change", "within", "beyond", "numbers"), CASES)
def test_a_changed_file_leads_to_its_rule(
    rule: str, level: str, change: Change, within: object, beyond: object, numbers: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    run = good.judged(tmp_path)
    assert (run.verdict, run.reasons) == ("valid", [])

    run = bad.judged(tmp_path)
    assert run.verdict == level
    assert failed(run.rules) == {rule}, run.reasons
    assert told(run.rules, rule, numbers), run.reasons
