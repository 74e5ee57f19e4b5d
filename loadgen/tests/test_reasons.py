"""From one raw file that is changed to the one sentence it leads to, on both sides of the limit."""

import re
from pathlib import Path
from typing import Any

import pytest

from changes import (
    BUSY_LIMIT,
    Change,
    beside_prometheus,
    cold,
    collecting,
    collectors,
    cooling,
    ends_silent,
    faster,
    full,
    late,
    late_at_p99,
    quota,
    rare_waits,
    refused_unread,
    replaced,
    restarted,
    short,
    silent,
    stepped,
    thread_full,
    waits,
    without_metrics,
)
from loomlab.judge.judge import judge_run
from rawrun import (
    ANSWERED,
    BACKEND_CPU,
    CONCURRENCY,
    LATENCY_MS,
    SAMPLED,
    RawRun,
    at,
    burst,
    container,
    host_samples,
    level,
    ramp,
    rows,
)
from test_metrics import matrix

CASES: list[tuple[str, str, Change, Any, Any, str]] = [
    # file, level, change, within, beyond, sentence
    ("request", "invalid", lambda run, it: run.request.update(finished=it), True, False, "was interrupted"),
    ("tool", "invalid", lambda run, it: run.tool.update(stopped_by=it), None, "stall", "ab read nothing for 25 s"),
    ("tool", "invalid", lambda run, it: run.tool.update(stopped_by=it), None, "hard cap", "at its hard cap, 40 s"),
    ("ab", "invalid", lambda run, it: run.report.update({"Non-2xx responses": it}), 8, 9, f"9 of {ANSWERED}"),
    ("ab", "invalid", refused_unread, 8, 9, f"9 of {ANSWERED + 9}"),
    ("host", "invalid", beside_prometheus, "0", "1", "Other programs took 21 %"),
    ("ab", "invalid", lambda run, it: setattr(run, "unanswered", it), 8, 9, f"9 of {ANSWERED + 9}"),
    ("ab", "suspect", lambda run, it: run.report.update({"Keep-Alive requests": it}), ANSWERED, ANSWERED - 1, "Only "),
    ("container", "invalid", lambda run, it: run.container.update(RestartCount=it), 0, 2, "restarted 2 times"),
    ("container", "invalid", lambda run, it: run.state.update(OOMKilled=it), False, True, "because memory ran out"),
    ("container", "invalid", lambda run, it: run.state.update(Running=it), True, False, "had ended"),
    (
        "container",
        "invalid",
        lambda run, it: run.state.update(StartedAt=it),
        "2026-11-18T11:06:40Z",
        "2026-11-18T11:06:42Z",
        "started 1.5 s after the run began",
    ),
    ("metrics", "invalid", restarted, [-5, 45], [20], "started again 1 times"),
    (
        "metrics",
        "invalid",
        lambda run, it: replaced(run.metrics["containers"], container("oom_events_total", it)),
        level(3),
        ramp(0.025),
        "the container 1 times",
    ),
    ("metrics", "invalid", without_metrics, 3, 4, "metrics are missing for"),
    ("metrics", "suspect", collecting, 0.2, 0.21, "took 21 % of the run in pauses"),
    ("metrics", "suspect", collectors, 0.2, 0.21, "took 21 % of the approach's CPU time"),
    ("metrics", "suspect", lambda run, it: quota(run, "app", 0.5, it), 0.05, 0.06, "under test was throttled in 6 %"),
    ("host", "invalid", lambda run, it: full(run, "2", it), BUSY_LIMIT, BUSY_LIMIT + 1, "load generator .* all CPUs"),
    ("host", "invalid", thread_full, BUSY_LIMIT, BUSY_LIMIT + 1, "load generator .* busiest thread"),
    ("metrics", "invalid", lambda run, it: quota(run, "loadgen", it), 0.94, 0.96, "load generator .* its CPU quota"),
    ("metrics", "invalid", lambda run, it: quota(run, "loadgen", 0.1, it), 0.05, 0.06, "load generator .* throttled"),
    ("host", "invalid", waits, 45.9, 46.1, "46.1 ms for a CPU on average, 5.01 % of the mean latency of 920 ms"),
    ("host", "invalid", rare_waits, 91.9, 92.1, "92.1 ms for a CPU at p99, 10 % of the p99 latency of 920 ms"),
    ("host", "invalid", lambda run, it: full(run, "1", it), BUSY_LIMIT, BUSY_LIMIT + 1, "backend .* all CPUs"),
    ("metrics", "invalid", lambda run, it: quota(run, "backend", it), 0.94, 0.96, "backend .* its CPU quota"),
    (
        "metrics",
        "invalid",
        lambda run, it: quota(run, "backend", BACKEND_CPU, it),
        0.05,
        0.06,
        "backend .* throttled in 6 %",
    ),
    (
        "metrics",
        "invalid",
        lambda run, it: replaced(run.metrics["backend"], matrix("backend_loop_cpu_seconds_total", ramp(it), loop="1")),
        0.94,
        0.96,
        "its busiest event loop",
    ),
    ("metrics", "invalid", late, 15.3, 15.4, "15.4 ms late on average, over 3 calls up to 5.02 %"),
    ("metrics", "invalid", late_at_p99, 30.6, 30.7, "30.7 ms late at p99, over 3 calls up to 10 %"),
    ("backend", "invalid", lambda run, it: run.delays.update(before=it), "300", "33", "was 33 before and 300 after"),
    ("backend", "invalid", lambda run, it: run.delays.update(after=it), "300", "33", "was 300 before and 33 after"),
    (
        "host",
        "suspect",
        lambda run, it: setattr(run, "samples", host_samples(approach=it)),
        0.549,
        0.56,
        "Other programs took 6 %",
    ),
    (
        "host",
        "invalid",
        lambda run, it: setattr(run, "samples", host_samples(approach=it)),
        0.5,
        0.71,
        "Other programs took 21 %",
    ),
    (
        "host",
        "suspect",
        lambda run, it: setattr(run, "samples", host_samples(stolen=it)),
        0.05,
        0.06,
        "steal.: 6 % of the approach's CPUs",
    ),
    ("host", "invalid", lambda run, it: setattr(run, "samples", host_samples(stolen=it)), 0.05, 0.21, "steal.: 21 %"),
    ("host", "invalid", stepped, 0.5, -0.6, "clock was set by 0.6 s"),
    (
        "host",
        "suspect",
        lambda run, it: run.network.update(TCPSynRetrans=it),
        0,
        3,
        "3 connection attempts had to be repeated",
    ),
    ("host", "suspect", lambda run, it: run.network.update(ActiveOpens=it), 23, 24, "opened 24 for 20 at once"),
    (
        "request",
        "invalid",
        lambda run, it: run.request["load"].update(connections=it),
        20,
        22,
        "0.908 of the 22 connections",
    ),
    (
        "request",
        "invalid",
        lambda run, it: run.request["load"].update(connections=it),
        20,
        19,
        "1.05. of the 19 connections",
    ),
    (
        "ab",
        "suspect",
        lambda run, it: run.rows.append((int(at(10)), it)),
        7_000,
        8_500,
        "1 request took up to 8.5 s, .* about 8 requests are missing",
    ),
    ("ab", "suspect", short, 24, 22, "waves of requests .at least"),
    ("ab", "suspect", faster, 0.09, 0.2, "mean latency fell by"),
    ("metrics", "suspect", cooling, 0.05, 0.15, "CPU per request fell by"),
    ("warmup", "suspect", lambda run, it: (run.warmup or {}).update(compiled=it), True, False, "at its cap|by its cap"),
    (
        "warmup",
        "suspect",
        lambda run, it: (run.warmup or {}).update(failed=it),
        False,
        True,
        "no request of its burst 1 was answered",
    ),
    (
        "warmup",
        "suspect",
        cold,
        [burst(), burst()],
        [],
        "There was no warm-up",
    ),
    (
        "about",
        "suspect",
        lambda run, it: run.about["outbound"].update(max_connections_per_route=it),
        20,
        19,
        "pool of 19 backend connections is smaller than the concurrency of 20",
    ),
    (
        "about",
        "suspect",
        lambda run, it: run.about.update(concurrency="platform-threads", inbound={"max_threads": it}),
        20,
        19,
        "pool of 19 platform threads",
    ),
    (
        "metrics",
        "suspect",
        lambda run, it: replaced(
            run.metrics["backend"], matrix("backend_requests_total", ramp(it * CONCURRENCY / 0.92))
        ),
        3.05,
        3.3,
        "not 3",
    ),
    (
        "metrics",
        "suspect",
        lambda run, it: replaced(run.metrics["backend"], matrix("backend_connections_total", ramp(it))),
        0.6,
        0.7,
        "28 were opened for about",
    ),
]


TOLD_WITH_OTHERS: list[tuple[str, Change, Any, Any, str]] = [
    # What the load lacks, the backend has answered, by its own count.
    ("invalid", ends_silent, 0, 7, "No answer came in the last 6 s of the run (the limit is"),
    ("suspect", silent, 0.5, 5, "closed-model tool sends nothing meanwhile"),
]


@pytest.mark.parametrize(("file", "level", "change", "within", "beyond", "said"), CASES)
def test_a_changed_file_leads_to_its_sentence(
    file: str, level: str, change: Change, within: object, beyond: object, said: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    run = judge_run(good.write(tmp_path / "1-good"))
    assert (run.verdict, run.reasons) == ("valid", []), file

    run = judge_run(bad.write(tmp_path / "2-bad"))
    assert run.verdict == level
    assert any(re.search(said, reason) for reason in run.reasons), run.reasons
    assert sum(rule.outcome == "failed" for rule in run.rules) == 1, run.reasons


@pytest.mark.parametrize(("level", "change", "within", "beyond", "said"), TOLD_WITH_OTHERS)
def test_a_silence_is_told_beside_what_it_does_to_other_figures(
    level: str, change: Change, within: object, beyond: object, said: str, tmp_path: Path
) -> None:
    good, bad = RawRun(), RawRun()
    change(good, within)
    change(bad, beyond)

    assert not any(said[:14] in reason for reason in judge_run(good.write(tmp_path / "1-good")).reasons)

    run = judge_run(bad.write(tmp_path / "2-bad"))
    assert run.verdict == level
    assert any(said in reason for reason in run.reasons), run.reasons


def dead(run: RawRun, connections: int) -> None:
    """So many of 40 connections get no answer at all; ab leaves them out."""
    run.rows = rows(connections=40)
    run.rows = [row for number, row in enumerate(run.rows) if number * 40 // len(run.rows) >= connections]
    run.request["load"]["connections"] = 40
    run.about["outbound"]["max_connections_per_route"] = 40
    run.network["ActiveOpens"] = 40
    alive = 40 - connections
    replaced(run.metrics["backend"], matrix("backend_requests_total", ramp(3 * alive / 0.92)))


def test_connections_that_never_get_an_answer_are_suspect(tmp_path: Path) -> None:
    good, bad = RawRun(), RawRun()
    dead(good, 0)
    dead(bad, 2)

    assert judge_run(good.write(tmp_path / "1-good")).reasons == []
    (reason,) = judge_run(bad.write(tmp_path / "2-bad")).reasons
    assert "of the 40 connections had no request that was answered" in reason


def test_many_short_stalls_count_together(tmp_path: Path) -> None:
    """Six stalls of 2.9 s in 40, of each of which less than two seconds are surely silent."""
    run = RawRun()
    stalls = range(4, 34, 5)

    def took_ms(second: float) -> float:
        ends = next((stall + 2.9 for stall in stalls if stall - LATENCY_MS / 1000 <= second < stall), None)
        return LATENCY_MS if ends is None else 1000 * (ends - second)

    run.rows = rows(took_ms)

    assert any("took up to 3.8 s" in reason for reason in judge_run(run.write(tmp_path)).reasons)


@pytest.mark.parametrize("missing", ["backend", "loadgen"])
def test_without_a_containers_samples_it_is_not_known_to_have_no_quota(missing: str, tmp_path: Path) -> None:
    run = RawRun()
    run.metrics["containers"] = [one for one in run.metrics["containers"] if one["metric"].get("service") != missing]

    judged = judge_run(run.write(tmp_path))

    assert judged.verdict == "suspect"
    assert "what CPU the containers beside the approach used" in judged.reasons[0]


def test_what_others_took_of_cpus_that_are_partly_shared_is_not_known(tmp_path: Path) -> None:
    run = RawRun()
    run.request["generator_cpus"] = "0,2"

    assert "how much of the approach's CPUs other programs took" in judge_run(run.write(tmp_path)).reasons[0]


def test_where_interrupts_are_charged_to_whoever_runs_they_are_counted(tmp_path: Path) -> None:
    """The container used half of the CPU; /proc/stat has 40 % as busy and 20 % as interrupts."""
    run = RawRun(samples=host_samples(approach=0.4))
    for second, sample in zip(SAMPLED, run.samples, strict=True):
        interrupts = 20 * (second - SAMPLED.start)
        sample["cpus"]["0"][6] += interrupts
        sample["cpus"]["0"][3] -= interrupts

    assert judge_run(run.write(tmp_path)).foreign_cpu_share == pytest.approx(0.1, abs=0.01)
