"""From raw files to run.json."""

import itertools
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge.judge import judge_run
from loomlab.records.raw import LiveBytes
from rawrun import CONCURRENCY, LATENCY_MS, SECONDS, RawRun, StandIn, at, level, load, log_of, matrix, ramp, rows, write
from saying import failed, told, unknown

ANSWERED = len(rows())


def test_a_good_run_is_valid_and_its_figures_are_those_of_the_interior(tmp_path: Path) -> None:
    figures = {"process_memory_vss_bytes": level(5e9), "jvm_threads_virtual_pinned_seconds_count": ramp(3)}
    figures |= {"lab_allocated_bytes_total": ramp(500_000)}
    raw = RawRun()
    raw.put("approach", *(matrix(name, samples) for name, samples in figures.items()))

    run = raw.judged(tmp_path)

    assert run.interior and run.throughput_rps and run.cpu_ms_per_request and run.warmup
    assert run.cpu_fall and run.latency_fall
    assert (run.verdict, run.reasons) == ("valid", [])
    assert run.requests == ANSWERED
    assert run.throughput_rps == pytest.approx(CONCURRENCY / 0.92)
    assert (run.latency_ms.p98, run.rounding) == (LATENCY_MS, 0.5 / LATENCY_MS)
    assert run.cpu_seconds == pytest.approx(0.5 * run.interior.seconds)
    assert run.cpu_ms_per_request == pytest.approx(500 / run.throughput_rps)
    assert run.backend_cpu_ms_per_request == pytest.approx(run.cpu_ms_per_request / 5)
    assert run.generator_cpu_ms_per_request == pytest.approx(run.cpu_ms_per_request / 10)
    assert run.rss_max_bytes == run.threads_max == 50
    assert run.vsz_max_bytes == 5e9
    assert run.virtual_threads_pinned == pytest.approx(3 * SECONDS, abs=1)
    assert run.allocated_bytes_per_request == pytest.approx(500_000 / run.throughput_rps)
    assert run.throttled_ratio is run.jit_cpu_seconds is None
    assert run.gc.share == 0
    assert run.connections_opened == CONCURRENCY
    assert run.backend_requests_per_request == pytest.approx(3, rel=0.02)
    assert run.backend_connections_opened == 0
    assert run.response_bytes_per_request == pytest.approx(9 / ANSWERED)
    assert run.backend_lateness_mean_ms == pytest.approx(4)
    assert run.backend_lateness_p99_ms == pytest.approx(8.6)
    assert (run.cpu_fall.fall, run.latency_fall.fall) == pytest.approx((0, 0), abs=1e-6)
    assert (run.warmup.bursts, run.warmup.compiling_s, run.warmup.capped) == (1, 40, False)
    assert (run.boot_id, run.http_client) == ("1b4e28ba", None)
    assert (run.live_bytes_per_request, run.notes) == (LiveBytes(), [])
    written = json.loads((tmp_path / "1-app" / "run.json").read_text())
    assert (written["schema"], written["rate"]) == ("loom-lab/run/v1", None)
    assert (written["concurrency"], written["endpoint"], written["delay"]) == (CONCURRENCY, "/capabilities", "300")
    assert (written["scenario"], written["steps"], written["episodes"], written["failures"]) == (None, [], [], {})


def test_judging_a_copy_at_another_time_and_place_writes_the_same_bytes(run_dir: Path, tmp_path: Path) -> None:
    judge_run(run_dir)
    copy = Path(shutil.copytree(run_dir, tmp_path / "elsewhere" / run_dir.name, copy_function=shutil.copyfile))

    judge_run(copy)

    assert (copy / "run.json").read_bytes() == (run_dir / "run.json").read_bytes()
    assert {path.name for path in run_dir.iterdir()} == {
        "raw",
        "run.json",
        "SHA256SUMS",
    }  # nothing that is not vouched for


@pytest.mark.parametrize(("reset", "mark"), [(True, 700), (False, None)])
def test_a_high_water_mark_began_with_the_run(reset: bool, mark: float | None, tmp_path: Path) -> None:
    run = RawRun(peaks_reset=reset)  # the mark is read in seven scrapes after the end
    run.request["gc"] = "zgc"
    run.put("approach", matrix("process_memory_hwm_bytes", [*level(1)[:-7], *level(700)[-7:]]))

    judged = run.judged(tmp_path)

    assert (judged.rss_hwm_bytes, judged.rss_max_bytes) == (mark, None)


@pytest.mark.parametrize(
    ("missing", "failing", "not_known"),
    [
        (["app"], {"metrics_missing"}, set()),
        (["app", "backend"], {"monitoring_gone"}, {"backend_throttled"}),
        (["backend"], set(), {"backend_throttled"}),
        (["loadgen"], set(), {"generator_throttled"}),
    ],
)
def test_samples_are_missing(missing: list[str], failing: set[str], not_known: set[str], tmp_path: Path) -> None:
    """A container that was not measured may have had a quota."""
    run = RawRun()
    containers = run.metrics["containers"]
    run.metrics["containers"] = [one for one in containers if one["metric"]["service"] not in missing]

    rules = run.judged(tmp_path).rules

    assert failed(rules) & {"metrics_missing", "monitoring_gone"} == failing
    assert {one for one in unknown(rules) if "_throttled" in one} == not_known


def test_an_endpoint_that_waits_in_the_server_does_not_depend_on_the_backends_delay(tmp_path: Path) -> None:
    run = RawRun(delays={"before": "33", "after": "33"})
    run.request |= {"load": load("/epoch-millis?delayInMillis=900"), "http_client": "jdk"}

    judged = run.judged(tmp_path)

    assert (judged.verdict, judged.http_client) == ("suspect", "jdk")
    assert failed(judged.rules) == {"other_backend_requests"}


def test_of_a_tool_without_a_report_nothing_is_counted(run_dir: Path) -> None:
    (run_dir / "raw" / "ab.txt").write_text("Benchmarking app\napr_poll: The timeout specified has expired (70007)\n")
    (run_dir / "raw" / "ab-requests.tsv.gz").unlink()

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert run.requests is run.errors is run.throughput_rps is run.latency_ms.mean is None
    assert "tool_failed" in failed(run.rules)
    assert "timeout specified has expired" in run.reasons[0]


def test_an_answer_that_was_neither_read_nor_a_success_is_one_error(tmp_path: Path) -> None:
    short = "   (Connect: 0, Receive: 0, Length: 800, Exceptions: 0)\nNon-2xx responses"
    run = RawRun(rows=[], unanswered=800, report={short: 800}).judged(tmp_path)

    assert run.errors == run.requests == 800

    found_closed = RawRun(unanswered=20).judged(tmp_path)  # ab does not count them

    assert (found_closed.errors, found_closed.response_bytes_per_request) == pytest.approx((20, 9 / ANSWERED))


def test_failures_that_a_report_leaves_out_and_answers_that_may_be_cut_count(tmp_path: Path, stand_in: StandIn) -> None:
    """Nine of some 820, of which the tool tells when or not; where nine may have failed, it is not known. One in thirty
    takes twice as long, which no failure is taken for."""
    slow = itertools.cycle([2 * LATENCY_MS] + 29 * [LATENCY_MS])
    run = RawRun(rows=rows(lambda _: next(slow)))
    log = log_of(*zip(*run.rows, strict=True))
    untimed = replace(log, failures={"time-out": 9})
    timed = replace(untimed, failed_start_s=np.full(9, at(20)), failed_latency_ms=np.full(9, 900.0))

    for failing in (timed, untimed):
        stand_in(requests=lambda *_, log=failing: log)
        judged = run.judged(tmp_path)
        assert told(judged.rules, "too_many_errors", "9")
        assert judged.latency_ms.p95 == LATENCY_MS

    stand_in(requests=lambda *_: replace(log, doubtful=9))
    assert unknown(run.judged(tmp_path).rules) == {"too_many_errors"}


def test_a_tool_that_was_told_to_stop_may_fail(tmp_path: Path) -> None:
    run = RawRun()
    run.request["finished"] = False
    run.tool |= {"exit_code": 1, "stopped_by": "interrupt"}

    assert failed(run.judged(tmp_path).rules) == {"unfinished"}


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        ("container.json", "container_failed"), ("host.json", "generator_cpus"),
        ("backend.json", "backend_delay_other"), ("warmup.json", "half_cold"), ("about.json", "small_pool"),
    ],
)  # fmt: skip
def test_what_a_missing_file_would_have_told_is_not_known(run_dir: Path, file: str, rule: str) -> None:
    (run_dir / "raw" / file).unlink()

    run = judge_run(run_dir)

    assert run.verdict == "suspect"
    assert rule in unknown(run.rules)


@pytest.mark.parametrize(("name", "value"), [("StartedAt", "yesterday"), ("Running", None)])
def test_without_a_state_it_is_not_known_whether_the_container_failed(name: str, value: Any, tmp_path: Path) -> None:
    run = RawRun()
    run.state[name] = value
    assert unknown(run.judged(tmp_path).rules) == {"container_failed"}


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        judge_run(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.report.update({"Complete requests": 2000}),
        lambda run: run.report.update({"Complete requests": len(run.rows)}) or run.rows.extend(run.rows[::40]),
        lambda run: run.tool.update(exit_code=-9),
    ],
    ids=["more-counted", "duplicates", "killed"],
)
def test_a_report_is_not_believed_against_the_rest(change: Callable[[RawRun], Any], tmp_path: Path) -> None:
    run = RawRun()
    change(run)

    got = run.judged(tmp_path)

    assert got.verdict == "invalid"
    assert "tool_failed" in failed(got.rules)


DAMAGED: list[tuple[str, Callable[[Any], Any]]] = [
    ("request.json", lambda _: "{"), ("request.json", lambda told: told | {"started": 1e18}),
    ("tool.json", lambda told: told | {"started": math.nan}), ("tool.json", lambda told: told | {"ended": 1e15}),
    ("host.json", lambda told: told | {"network_after": {"ActiveOpens": 10**400}}),
    ("metrics.json", lambda told: told | {"containers": [{"metric": 5, "values": []}]}),
    ("metrics.json", lambda told: [told]),
    ("metrics.json", lambda told: told | {"backend": [{"metric": {"le": "x"}, "values": []}]}),
    ("about.json", lambda _: '{"a": "\\ud800"}'), ("about.json", lambda _: '{"a": NaN}'),
    ("about.json", lambda _: "[" * 100_000),
]  # fmt: skip


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_record_is_named(name: str, damage: Callable[[Any], Any], run_dir: Path) -> None:
    write(run_dir, name, damage(json.loads((run_dir / "raw" / name).read_text())))
    with pytest.raises(ParseError, match=name):
        judge_run(run_dir)


def test_a_figure_that_no_run_has_is_named(run_dir: Path) -> None:
    about = json.loads((run_dir / "raw" / "about.json").read_text())
    write(run_dir, "about.json", about | {"outbound": {"max_connections_per_route": 10**30}})
    with pytest.raises(ParseError, match=r"backend_pool 10+"):
        judge_run(run_dir)
