"""Raw files that disagree with one another, or with what can be: nothing of them is passed in silence."""

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from changes import answered_by_backend, replaced
from loomlab.answer.finish import finish
from loomlab.basics.errors import ParseError
from loomlab.judge.cpu_time import cpus_full_share
from loomlab.judge.judge import judge_run
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.models import HostSample, Run
from loomlab.tools.hey import REQUEST_COLUMNS
from rawrun import BEGIN, LATENCY_MS, SAMPLED, SECONDS, RawRun, at, container, cpu, host_samples, rows, write
from saying import failed, told, unknown
from test_strangers import made

Change = Callable[[RawRun], Any]


def judged(run: RawRun, folder: Path) -> Run:
    return judge_run(run.write(folder / "1-app"))


def test_a_jump_of_latency_half_way_is_no_steady_load(tmp_path: Path) -> None:
    run = RawRun(rows=rows(lambda second: LATENCY_MS if second < 20 else 2400))
    answered_by_backend(run)

    got = judged(run, tmp_path)

    assert got.verdict == "invalid"
    assert "latency_grew_much" in failed(got.rules)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.report.update({"Complete requests": 2000, "Keep-Alive requests": 2000}),
        lambda run: run.report.update({"Complete requests": 400, "Keep-Alive requests": 400}),
        lambda run: run.report.update({"Complete requests": len(run.rows)}) or run.rows.extend(run.rows[::40]),
        lambda run: run.tool.update(exit_code=22),
        lambda run: run.tool.update(exit_code=-9),
        lambda run: run.rows.__setitem__(0, (0, LATENCY_MS)),
        lambda run: run.rows.append((int(at(SECONDS - 1)), 10**15)),
        lambda run: run.rows.append((int(at(5)), -(10**15))),
    ],
    ids=["more-counted", "fewer-counted", "duplicates", "exit-22", "killed", "1970", "ends-after-the-run", "negative"],
)
def test_a_report_is_not_believed_against_its_rows_its_exit_code_or_the_time(change: Change, tmp_path: Path) -> None:
    run = RawRun()
    change(run)

    got = judged(run, tmp_path)

    assert got.verdict == "invalid"
    assert failed(got.rules) >= {"tool_failed"}


def test_a_tool_that_was_told_to_stop_may_fail(tmp_path: Path) -> None:
    run = RawRun()
    run.tool |= {"exit_code": 1, "stopped_by": "stall"}

    assert told(judged(run, tmp_path).rules, "tool_failed", "25")


def without_samples(run: RawRun, first: int, last: int) -> None:
    run.samples = [one for one, second in zip(run.samples, SAMPLED, strict=True) if not first <= second < last]


def test_a_generator_that_was_full_while_nothing_was_sampled_is_not_passed(tmp_path: Path) -> None:
    """Eighteen seconds, in a kernel without schedstat."""
    run = RawRun()
    for one, second in zip(run.samples, SAMPLED, strict=True):
        one["tool_waits"] = None
        full = min(max(second - 10, 0), 18)
        one["cpus"]["2"][0] += 95 * full
        one["cpus"]["2"][3] -= 95 * full
        one["tool_threads"]["1"] += 0.95 * full
    without_samples(run, 7, 32)

    got = judged(run, tmp_path)

    assert unknown(got.rules) == {"generator_cpus", "generator_thread"}


def test_a_hole_while_the_generator_waited_for_a_cpu_is_not_passed(tmp_path: Path) -> None:
    run = RawRun()
    without_samples(run, 12, 20)

    assert unknown(judged(run, tmp_path).rules) == {"generator_wait_mean", "generator_wait_p99"}


def test_a_hole_at_the_end_of_the_interior_leaves_steal_and_other_programs_unknown(tmp_path: Path) -> None:
    run = RawRun()
    without_samples(run, SECONDS - 5, SECONDS + 2)

    assert unknown(judged(run, tmp_path).rules) >= {"stolen", "much_stolen", "foreign_cpu", "much_foreign_cpu"}


def test_a_hole_that_can_hide_nothing_is_none(tmp_path: Path) -> None:
    run = RawRun()
    without_samples(run, 18, 20)

    assert judged(run, tmp_path).reasons == []


def test_steal_that_is_hardly_seen_in_an_idle_cpu_is_much_of_what_was_used(tmp_path: Path) -> None:
    """4.9 % of the time, where 16 % are used."""
    run = RawRun(samples=host_samples(approach=0.16, stolen=0.049))
    replaced(
        run.metrics["containers"],
        cpu("app", 0.16),
    )

    got = judged(run, tmp_path)

    assert got.verdict == "suspect"
    assert told(got.rules, "stolen", "23.4 5")


def test_steal_of_cpus_that_were_not_sampled_is_not_known(tmp_path: Path) -> None:
    run = RawRun()
    run.request["approach_cpus"] = "7"

    assert unknown(judged(run, tmp_path).rules) >= {"stolen", "much_stolen", "more_cpu_than_given"}


@pytest.mark.parametrize("value", ["NaN", "+Inf"])
def test_what_is_no_number_is_missing(value: str, tmp_path: Path) -> None:
    run = RawRun()
    for one in run.metrics["containers"][0]["values"]:
        if 10 <= one[0] - BEGIN < 20:
            one[1] = value

    got = judged(run, tmp_path)

    assert told(got.rules, "metrics_missing", "10")
    assert math.isfinite(got.foreign_cpu_share or 0)


def busy_ones(connections: int, dead: int, latency_ms: int) -> RawRun:
    """In step, `dead` of them without an answer."""
    every = range(round(SECONDS * 1000 / latency_ms))
    starts = [int(at(wave * latency_ms / 1000)) for wave in every if (wave + 1) * latency_ms < 1000 * SECONDS]
    run = RawRun(rows=[(start, latency_ms) for start in starts for _ in range(connections - dead)])
    run.request["load"]["connections"] = connections
    run.about["outbound"]["max_connections_per_route"] = connections
    run.network["ActiveOpens"] = connections
    answered_by_backend(run)
    return run


@pytest.mark.parametrize("latency_ms", [905, 920, 1300])
@pytest.mark.parametrize("dead", [0, 24])
def test_dead_connections_are_told_whatever_the_length_of_a_wave(latency_ms: int, dead: int, tmp_path: Path) -> None:
    got = judged(busy_ones(1000, dead, latency_ms), tmp_path)

    assert ("connections_idle" in failed(got.rules)) is bool(dead)


DAMAGED: list[tuple[str, Callable[[Any], Any]]] = [
    ("tool.json", lambda told: told | {"started": "NaN"}),
    ("tool.json", lambda told: told | {"ended": math.inf}),
    ("tool.json", lambda told: told | {"started": 1e308}),
    ("tool.json", lambda told: told | {"started": 0}),
    ("tool.json", lambda told: told | {"ended": 1e11}),
    ("request.json", lambda told: told | {"started": 1e308}),
    ("request.json", lambda told: told | {"started": -1}),
    ("metrics.json", lambda told: told | {"containers": [{"metric": 5, "values": []}]}),
    ("metrics.json", lambda told: told | {"containers": [{"metric": {"le": "x"}, "values": []}]}),
    ("metrics.json", lambda told: told | {"approach": [{"metric": {}, "values": [[math.nan, "1"]]}]}),
    ("metrics.json", lambda told: told | {"backend": [5]}),
    ("metrics.json", lambda _: [1]),
    ("metrics.json", lambda _: "x"),
    ("host.json", lambda told: told | {"samples": [told["samples"][0] | {"time": math.nan}]}),
    ("host.json", lambda told: told | {"samples": [told["samples"][0] | {"cpus": {"0": [1, 2]}}]}),
    ("warmup.json", lambda told: told | {"cap_s": math.inf}),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_record_is_told_with_its_name_and_costs_its_run_alone(
    name: str, damage: Callable[[Any], Any], tmp_path: Path
) -> None:
    folder = made(tmp_path, runs=2)
    run_dir = folder / "runs" / "1-tomcat-virtual"
    write(run_dir, name, damage(json.loads((run_dir / "raw" / name).read_text())))

    with pytest.raises(ParseError, match=name):
        judge_run(run_dir)
    with pytest.warns(UserWarning, match="1-tomcat-virtual cannot be judged"):
        summary = finish(folder)

    assert [run.run for run in summary.runs] == ["2-tomcat-virtual"]


def hey_run(folder: Path, cut: int, timed_out: int = 0) -> Run:
    """Three connections; of so many answers the body was cut, which hey does not tell, and of others it never ended."""
    starts = [(wave, second) for wave in range(42) for second in [0.93 * wave] for _ in range(3)]
    took_s = [30.001 if number < timed_out else 0.92 for number in range(len(starts))]
    dials = [0.001 if number < 3 + cut else 0.0 for number in range(len(starts))]
    lines = [
        f"{took:.6f},{dial:.6f},0.000000,0.000010,0.900000,0.000020,200,{second:.6f}\n"
        for took, dial, (_, second) in zip(took_s, dials, starts, strict=True)
    ]
    run = RawRun()
    run.request["tool"] = "hey"
    run.request["load"] |= {"connections": 3}
    run.network["ActiveOpens"] = 3 + cut
    run.rows = [(int(at(second)), 920) for _, second in starts]
    answered_by_backend(run)
    run_dir = run.write(folder / "1-app")
    raw = run_dir / "raw"
    count = len(lines)
    (raw / "hey.txt").write_text(
        f"  Requests:\t{count}\n  Total:\t{SECONDS - 1}.000000 secs\n  [200]\t{count} responses\n"
    )
    (raw / "hey-requests.csv.gz").write_bytes(gzip.compress((REQUEST_COLUMNS + "\n" + "".join(lines)).encode()))
    started = {"requests": count, "connections": 3, "timeout_s": 30, "started": at(0)}
    write(run_dir, "hey-load.json", started)
    return judge_run(run_dir)


def test_bodies_that_hey_may_have_seen_cut_are_not_passed(tmp_path: Path) -> None:
    assert hey_run(tmp_path / "whole", cut=1).reasons == []

    got = hey_run(tmp_path / "cut", cut=3)

    assert unknown(got.rules) == {"too_many_errors"}
    assert got.verdict == "suspect"


def test_a_body_that_never_ended_is_a_time_out_to_the_verdict_whatever_hey_says(tmp_path: Path) -> None:
    got = hey_run(tmp_path, cut=0, timed_out=2)

    assert (got.errors, got.failures) == (2, {"time-out": 2})
    assert told(got.rules, "too_many_errors", "1.59 2 126")


def test_memory_that_is_no_number_is_not_known(tmp_path: Path) -> None:
    run = RawRun()
    answer = {"asked": at(50), "answered": at(51), "answer": {"heap": math.nan}}
    run.memory = {"before": answer, "loaded": answer, "waiting": answer, "idle": answer}

    assert judged(run, tmp_path).live_bytes_per_request.heap is None


def test_the_dead_are_counted_by_whole_waves(tmp_path: Path) -> None:
    """Of twenty, none: a wave more or less in the window is none of them."""
    for latency_ms in (700, 980, 1005, 2100):
        assert "connections_idle" not in failed(judged(busy_ones(20, 0, latency_ms), tmp_path).rules)


@pytest.mark.parametrize("seconds", ["27.000", "999999999.000"])
def test_a_tool_takes_as_long_as_its_process_and_its_requests(seconds: str, tmp_path: Path) -> None:
    run = RawRun()
    run.report["Time taken for tests"] = f"{seconds} seconds"

    got = judged(run, tmp_path)

    assert (got.verdict, failed(got.rules) >= {"tool_failed"}) == ("invalid", True)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.request.update(backend_cpus="0-9999999999"),
        lambda run: run.request.update(approach_cpus="x"),
        lambda run: run.request.update(hangs=[{"at_s": 1e308, "duration_s": 1}]),
        lambda run: run.samples[0]["cpus"].update({"0": [10**400] * 8}),
        lambda run: run.request["load"].update(connections=0),
        lambda run: run.request["load"].update(connections=-3),
        lambda run: run.request["load"].update(timeout_s=10**18),
        lambda run: run.request["load"]["shape"].update(duration_s=-4),
        lambda run: run.request["load"]["shape"].update(requests=0),
        lambda run: run.request["load"].update(shape=offered(1e15, 10)),
        lambda run: run.request["load"].update(shape=offered(-5, 10)),
        lambda run: run.request["load"].update(shape=offered(5, 10**10)),
        lambda run: run.request["load"].update(shape={"kind": "open-rate", "steps": []}),
        lambda run: run.request["load"].update(shape={"kind": "users", "stages": []}),
        lambda run: run.request["load"].update(
            shape={"kind": "users", "stages": [{"users": -1, "duration_s": 9}], "think_s": [0, 0]}
        ),
    ],
    ids=[
        "many-cpus", "no-cpu", "late-hang", "jiffies", "no-connections", "fewer-connections", "endless-time-out",
        "negative-duration", "no-requests", "endless-rate", "negative-rate", "endless-step", "no-steps", "no-stages",
        "negative-users",
    ],
)  # fmt: skip
def test_a_record_of_what_cannot_be_is_refused_at_once(change: Change, tmp_path: Path) -> None:
    run = RawRun()
    change(run)

    with pytest.raises(ParseError):
        judged(run, tmp_path)


def offered(rate_rps: float, duration_s: int) -> dict[str, Any]:
    return {"kind": "open-rate", "steps": [{"rate_rps": rate_rps, "duration_s": duration_s}]}


def test_cpu_time_beyond_all_bounds_was_not_measured(tmp_path: Path) -> None:
    run = RawRun()
    replaced(run.metrics["containers"], container("cpu_usage_seconds_total", flapping(), cpu="total"))

    assert "nan" not in " ".join(judged(run, tmp_path).reasons)


def flapping() -> list[tuple[float, float]]:
    return [(at(second), 1e308 * (second % 2)) for second in range(-10, SECONDS + 8)]


@pytest.mark.parametrize(
    "target", ["/httpbin/block/nan", "/epoch-millis?delayInMillis=" + "9" * 400, "/meetings?calls=1e400"]
)
def test_a_wait_that_nobody_asks_for_is_none(target: str) -> None:
    assert endpoint_of(target, delay_of("900")).floor_ms <= 2700


@pytest.mark.parametrize(("used", "full"), [(0.0, False), (1.0, True)])
def test_counters_that_stand_still_do_not_show_an_idle_cpu(used: float, full: bool) -> None:
    """For 20 of 40 s; it was as busy then as after, or the lab does not know."""
    samples = host_samples(generator=used)
    for sample in samples[20:40]:
        sample["cpus"] = samples[19]["cpus"]

    share = cpus_full_share([HostSample.model_validate(sample) for sample in samples], {"2"})

    assert share == (1.0 if full else 0.0)


@pytest.mark.parametrize(
    ("used", "outcome"),
    [("cpus", ("generator_cpus", "failed")), ("tool_threads", ("generator_thread", "could not be checked"))],
)
def test_a_generator_that_was_full_while_its_counters_stood_still_is_not_passed(
    used: str, outcome: tuple[str, str], tmp_path: Path
) -> None:
    """Those of the other CPUs went on."""
    run = RawRun()
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        beyond = min(max(second - 10, 0), 20)
        if used == "cpus":
            sample["cpus"]["2"][0] += 95 * beyond
            sample["cpus"]["2"][3] -= 95 * beyond
        else:
            sample["tool_threads"]["1"] += 0.95 * beyond
    stood = run.samples[SAMPLED.index(10)]
    for sample in run.samples[SAMPLED.index(11) : SAMPLED.index(30)]:
        sample["cpus"]["2"], sample["tool_threads"] = stood["cpus"]["2"], stood["tool_threads"]

    assert outcome in {(rule.rule, rule.outcome) for rule in judged(run, tmp_path).rules}
