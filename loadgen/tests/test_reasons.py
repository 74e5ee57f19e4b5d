"""From one raw file that is changed to the one rule it fails, on both sides of the limit: what no run of test_replay
shows, or not so near to its limit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rawrun import RawRun, by_second, container, cpu, host_samples, level, matrix, ramp
from saying import failed, told

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
    ("warmup_failed", "suspect", warmup("failed"), False, True, "1"),
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
