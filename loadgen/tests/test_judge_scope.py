"""From raw files to run.json: of which seconds, of whose CPUs and of which requests a figure is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from changes import beside_prometheus, cooling, late_at_p99, replaced
from loomlab.judge import facts
from loomlab.judge.judge import judge_run
from loomlab.records.requestlog import RequestLog
from loomlab.tools.ab import Ab
from rawrun import CONCURRENCY, LATENCY_MS, SAMPLED, SECONDS, RawRun, Samples, at, container, jiffies, load, ramp, rows
from saying import failed, told, unknown
from test_metrics import matrix


def judged(run: RawRun, folder: Path) -> Any:
    return judge_run(run.write(folder / "1-app"))


class Draining(Ab):
    """A tool that waits for its last answers."""

    discards = False


def extra(samples: Samples, first: float, last: float, per_second: float) -> Samples:
    """The counter, which grows by that much more between two seconds of the run."""
    return [(time, value + per_second * min(max(time - at(first), 0), last - first)) for time, value in samples]


@pytest.mark.parametrize(("first", "last", "counts"), [(-2, 1, False), (10, 13, True), (39.5, 42, False)])
def test_only_what_is_late_on_the_interior_counts(first: float, last: float, counts: bool, tmp_path: Path) -> None:
    """Three seconds in which the backend is 500 ms late: the connect wave, the middle, the end."""
    run = RawRun()
    for one in run.metrics["backend"]:
        name, bound = one["metric"]["__name__"], one["metric"].get("le")
        more = {"backend_lateness_seconds_sum": 50, "backend_lateness_seconds_count": 100}.get(name)
        if more or bound == "+Inf":
            values = [(time, float(value)) for time, value in one["values"]]
            one["values"] = [(time, str(value)) for time, value in extra(values, first, last, more or 100)]

    got = judged(run, tmp_path)

    assert (got.backend_lateness_mean_ms > 20) is counts
    assert (got.backend_lateness_p99_ms > 8.6 + 0.1) is counts
    assert (got.verdict == "invalid") is counts


def test_lateness_at_p99_is_held_against_p99_not_against_the_slowest_answer(tmp_path: Path) -> None:
    run = RawRun()
    late_at_p99(run, 40)
    run.rows.append((int(at(10)), 2700))

    got = judged(run, tmp_path)

    assert got.latency_ms.max == 2700
    assert told(got.rules, "backend_late_p99", "40.0")


@pytest.mark.parametrize(("first", "verdict"), [(0, "valid"), (10, "invalid")])
def test_only_waits_for_a_cpu_on_the_interior_count(first: int, verdict: str, tmp_path: Path) -> None:
    run = RawRun()
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        waited_s, turns = sample["tool_waits"]["1"]
        sample["tool_waits"]["1"] = [waited_s + (500 if second > first else 0), turns]

    assert judged(run, tmp_path).verdict == verdict


def test_a_silence_before_the_interior_is_no_omission(tmp_path: Path) -> None:
    """Every connection's first answer takes 5 s."""
    run = RawRun(rows=rows(lambda second: 5000 if second < 0.92 else LATENCY_MS))

    assert judged(run, tmp_path).reasons == []


def held(first: float, last: float) -> list[tuple[int, int]]:
    """Every answer that would come in that time comes at its end; the load ends ten seconds after its start."""
    found = []
    for connection in range(CONCURRENCY):
        start = 0.001 * connection
        while (end := start + LATENCY_MS / 1000) < 10:
            end = last if first < end < last else end
            found.append((int(at(start)), round(1000 * (end - start))))
            start = end
    return found


def ended_after_ten_seconds(rows: list[tuple[int, int]]) -> RawRun:
    run = RawRun(rows=rows)
    run.tool["ended"] = at(10)
    run.report["Time taken for tests"] = "10.000 seconds"
    return run


@pytest.mark.parametrize(
    ("first", "last", "numbers"),
    [
        (0.5, 6.0, "20 6.0"),
        (0.5, 3.5, "20 3.5"),
        (4.0, 4.1, None),
    ],
)
def test_long_waits_count_from_the_first_second_on_where_the_whole_run_is_evaluated(
    first: float, last: float, numbers: str | None, tmp_path: Path
) -> None:
    got = judged(ended_after_ten_seconds(held(first, last)), tmp_path)

    assert ("omission_possible" in failed(got.rules)) is (numbers is not None)
    assert numbers is None or told(got.rules, "omission_possible", numbers)


def test_a_silence_counts_where_the_whole_run_is_evaluated(tmp_path: Path) -> None:
    """Not all connections are answered, and no single request took long."""
    rows = [(int(at(second)), LATENCY_MS) for second in (0, 8) for _ in range(CONCURRENCY // 2 - 1)]

    got = judged(ended_after_ten_seconds(rows), tmp_path)

    assert "omission_possible" in failed(got.rules)


def test_the_time_until_a_tool_sends_its_first_request_is_no_silence(tmp_path: Path) -> None:
    rows = [(int(at(second)), LATENCY_MS) for second in range(4, 10) for _ in range(CONCURRENCY // 2 - 7)]
    run = ended_after_ten_seconds(rows)
    run.report["Time taken for tests"] = "6.000 seconds"

    got = judged(run, tmp_path)

    assert "short_interior" in failed(got.rules)
    assert "omission_possible" not in failed(got.rules)


def test_what_a_tool_does_after_its_load_is_no_silence(tmp_path: Path) -> None:
    run = RawRun()
    run.tool["ended"] = at(SECONDS + 7)

    assert judged(run, tmp_path).reasons == []


def test_the_last_answers_that_a_tool_waits_for_are_no_silence_and_cost_no_throughput(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "tool", lambda _: Draining())
    run = RawRun()
    last = (int(at(SECONDS - 1)), 2500)
    run.rows += [last]
    run.report["Time taken for tests"] = f"{SECONDS + 4}.000 seconds"
    run.tool["ended"] = at(SECONDS + 4.2)

    got = judged(run, tmp_path)

    assert got.reasons == []
    assert got.throughput_rps == pytest.approx(CONCURRENCY / 0.92, rel=0.02)


def test_a_request_that_failed_after_long_stands_for_those_it_kept_from_being_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(Draining):
        def requests(self, raw: Path, floor_ms: int) -> RequestLog | None:
            log = super().requests(raw, floor_ms)
            assert log is not None
            return RequestLog(log.start_s, log.latency_ms, failed_start_s=[at(10)], failed_latency_ms=[8500])

    monkeypatch.setattr(facts, "tool", lambda _: Failing())

    assert told(judged(RawRun(), tmp_path).rules, "omission_possible", "1 8.5")


@pytest.mark.parametrize("tells", [False, True])
def test_connections_without_a_request_hide_one_where_the_tool_leaves_out_what_never_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    class Told(Ab):
        tells_unended = tells

    monkeypatch.setattr(facts, "tool", lambda _: Told())
    run = RawRun()
    run.rows = [row for number, row in enumerate(run.rows) if number % 50]

    assert ("connections_idle" in failed(judged(run, tmp_path).rules)) is not tells


def steal(run: RawRun, name: str) -> None:
    """Of that CPU a good fifth, which was idle."""
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["cpus"][name][7] += 21 * (second - SAMPLED.start)
        sample["cpus"][name][3] -= 21 * (second - SAMPLED.start)


@pytest.mark.parametrize(("cpu", "whose"), [("0", "approach"), ("1", "backend"), ("2", "load generator")])
def test_stolen_time_is_told_by_whose_it_was(cpu: str, whose: str, tmp_path: Path) -> None:
    run = RawRun()
    steal(run, cpu)

    got = judged(run, tmp_path)

    assert got.verdict == ("invalid" if whose == "approach" else "suspect")
    assert told(got.rules, "much_stolen" if whose == "approach" else "stolen", "21")
    assert whose in got.reasons[0]


def test_interrupts_are_not_foreign_where_the_kernel_counts_them_apart(tmp_path: Path) -> None:
    """The container used half of the CPU, interrupts a fifth."""
    run = RawRun()
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["cpus"]["0"][6] += 20 * (second - SAMPLED.start)
        sample["cpus"]["0"][3] -= 20 * (second - SAMPLED.start)

    got = judged(run, tmp_path)

    assert got.reasons == []
    assert got.foreign_cpu_share == pytest.approx(0, abs=0.01)


def test_a_container_beside_the_approach_that_was_not_measured_took_an_unknown_share(tmp_path: Path) -> None:
    run = RawRun()
    beside_prometheus(run, "0")
    run.metrics["containers"] = [
        one for one in run.metrics["containers"] if one["metric"].get("service") != "prometheus"
    ]

    got = judged(run, tmp_path)

    assert got.verdict == "suspect"
    assert got.foreign_cpu_share is None
    assert unknown(got.rules) == {"foreign_cpu", "much_foreign_cpu"}


def test_a_clock_that_is_set_and_set_back_was_set(tmp_path: Path) -> None:
    run = RawRun()
    for sample in run.samples[10:20]:
        sample["monotonic"] -= 0.6

    got = judged(run, tmp_path)

    assert got.verdict == "invalid"
    assert told(got.rules, "clock_stepped", "0.6")


@pytest.mark.parametrize(("falls_by", "verdict"), [(0.07, "valid"), (0.08, "suspect")])
def test_the_compilers_part_is_that_of_cpu_per_request(falls_by: float, verdict: str, tmp_path: Path) -> None:
    """CPU falls from 0.5 to 0.35, 0.425 on average; the compilers' part by that share of it from half to half."""
    run = RawRun()
    cooling(run, 0.15)
    interior = judged(run, tmp_path).interior
    loss = 2 * falls_by * 0.425 / interior.seconds
    spent = [(at(second), 100 + 0.2 * second - loss * second**2 / 2) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["approach"], matrix("lab_jit_cpu_seconds_total", spent))

    assert judged(run, tmp_path).verdict == verdict


@pytest.mark.parametrize(("cores", "verdict"), [(0.045, "valid"), (0.055, "suspect")])
def test_compilers_that_are_a_small_part_of_many_cpus_were_at_work_all_the_same(
    cores: float, verdict: str, tmp_path: Path
) -> None:
    """CPU falls from 6 CPUs to 4.5, and the compilers take so much less in the second half: a hundredth."""
    run = RawRun()
    interior = judged(run, tmp_path).interior
    spent = [(at(second), 90 + 6 * second - 1.5 * second**2 / 80) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["containers"], container("cpu_usage_seconds_total", spent, cpu="total"))
    run.request["approach_cpus"] = "3-10"
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        sample["cpus"] |= {str(cpu): jiffies(0.66, second) for cpu in range(3, 11)}
    loss = 2 * cores / interior.seconds
    compiled = [(at(second), 100 + 0.2 * second - loss * second**2 / 2) for second in range(-10, SECONDS + 8)]
    replaced(run.metrics["approach"], matrix("lab_jit_cpu_seconds_total", compiled))

    got = judged(run, tmp_path)

    assert got.cpu_fall.fall == pytest.approx(0.13, abs=0.02)
    assert got.verdict == verdict


def calls_at_once(run: RawRun, pool: int) -> None:
    """Each request makes two calls and then five at once."""
    run.request["load"] = load("/capabilities?calls=5&parallel=true")
    replaced(run.metrics["backend"], matrix("backend_requests_total", ramp(7 * CONCURRENCY / 0.92)))
    run.about["outbound"]["max_connections_per_route"] = pool


@pytest.mark.parametrize(("pool", "verdict"), [(5 * CONCURRENCY, "valid"), (5 * CONCURRENCY - 1, "suspect")])
def test_a_request_that_makes_calls_at_once_needs_as_many_connections(pool: int, verdict: str, tmp_path: Path) -> None:
    run = RawRun()
    calls_at_once(run, pool)

    got = judged(run, tmp_path)

    assert got.verdict == verdict
    assert told(got.rules, "small_pool", "5") is (verdict == "suspect")


Edit = Callable[[RawRun], Any]


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (lambda run: run.request.update(finished=False), "unfinished"),
        (lambda run: run.tool.update(stopped_by="interrupt", killed=True), "tool_failed"),
    ],
)
def test_a_run_that_was_cut_off_is_invalid_whatever_its_figures(edit: Edit, rule: str, tmp_path: Path) -> None:
    run = RawRun()
    edit(run)

    got = judged(run, tmp_path)

    assert got.verdict == "invalid"
    assert rule in failed(got.rules)
    assert (got.finished is None) is (rule == "unfinished")
