"""From raw files to run.json."""

import itertools
import json
import shutil
from pathlib import Path

import pytest

from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge import facts
from loomlab.judge.judge import judge_run
from loomlab.tools.ab import Ab
from rawrun import (
    ANSWERED,
    CONCURRENCY,
    LATENCY_MS,
    SECONDS,
    RawRun,
    at,
    host_samples,
    lateness,
    load,
    metrics,
    ramp,
    rows,
    write,
)
from saying import failed, told, unknown
from test_metrics import matrix


def test_a_good_run_is_valid_and_its_figures_are_those_of_the_interior(run_dir: Path) -> None:
    run = judge_run(run_dir)

    assert run.interior is not None
    assert (run.verdict, run.reasons) == ("valid", [])
    assert run.requests == ANSWERED
    assert run.throughput_rps == pytest.approx(CONCURRENCY / 0.92)
    assert run.latency_ms.p98 == LATENCY_MS
    assert run.cpu_seconds == pytest.approx(0.5 * run.interior.seconds)
    assert run.cpu_ms_per_request == pytest.approx(500 / (run.throughput_rps or 0))
    assert run.cpu_ms_per_request is not None
    assert run.backend_cpu_ms_per_request == pytest.approx(run.cpu_ms_per_request / 5)
    assert run.generator_cpu_ms_per_request == pytest.approx(run.cpu_ms_per_request / 10)
    assert run.rss_max_bytes == run.threads_max == 50
    assert run.vsz_max_bytes is run.throttled_ratio is None
    assert run.gc.share == 0
    assert run.connections_opened == CONCURRENCY
    assert run.backend_requests_per_request == pytest.approx(3, rel=0.02)
    assert run.backend_connections_opened == 0
    assert run.response_bytes_per_request == pytest.approx(9 / ANSWERED)
    assert run.backend_lateness_mean_ms == pytest.approx(4)
    assert run.backend_lateness_p99_ms == pytest.approx(8.6)
    assert run.cpu_fall is not None
    assert run.cpu_fall.fall == pytest.approx(0, abs=1e-6)
    assert run.latency_fall is not None
    assert run.latency_fall.fall == pytest.approx(0, abs=1e-6)
    assert run.warmup is not None
    assert (run.warmup.bursts, run.warmup.compiling_s, run.warmup.capped) == (1, 40, False)
    assert run.http_client is None
    assert run.jit_cpu_seconds is run.virtual_threads_pinned is None
    written = json.loads((run_dir / "run.json").read_text())
    assert written["schema"] == "loom-lab/run/v1"
    assert written["rate"] is None
    assert (written["concurrency"], written["endpoint"], written["delay"]) == (CONCURRENCY, "/capabilities", "300")
    assert (written["scenario"], written["steps"], written["episodes"], written["failures"]) == (None, [], [], {})


def test_a_backend_whose_lateness_is_a_twentieth_of_the_latency_invalidates(run_dir: Path) -> None:
    late = metrics()
    late["backend"] = [*late["backend"][:4], *lateness(mean_s=0.016)]
    write(run_dir, "metrics.json", late)

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert told(run.rules, "backend_late_mean", "16.0 3 5.22 920")


def test_mean_lateness_is_held_against_the_mean(tmp_path: Path) -> None:
    """3 % of the answers take twice as long, which p99 shows and the mean does not: 3 × 16.8 ms are 5.3 % of 948 ms."""
    every_33rd = itertools.cycle([2 * LATENCY_MS] + 32 * [LATENCY_MS])
    run = RawRun(rows=rows(lambda _: next(every_33rd)))
    run.metrics["backend"] = [one for one in run.metrics["backend"] if "lateness" not in one["metric"]["__name__"]]
    run.metrics["backend"] += lateness(mean_s=0.0168)

    judged = judge_run(run.write(tmp_path))

    assert judged.latency_ms.p98 == 2 * LATENCY_MS
    assert told(judged.rules, "backend_late_mean", "16.8"), judged.reasons


def test_a_tool_whose_connections_have_quotas_is_judged_while_all_are_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Quotas(Ab):
        quotas = True

    monkeypatch.setattr(facts, "tool", lambda _: Quotas())
    run = RawRun()
    run.rows = [row for number, row in enumerate(run.rows) if number % 2 or row[0] < at(25)]

    interior = judge_run(run.write(tmp_path)).interior

    assert interior is not None
    assert interior.start + interior.seconds <= at(27)


def test_a_silence_while_the_backend_hangs_is_no_omission(tmp_path: Path) -> None:
    took = {True: 6.0 + LATENCY_MS / 1000, False: LATENCY_MS / 1000}
    run = RawRun(rows=rows(lambda second: 1000 * took[19 < second < 20]))
    run.request["hangs"] = [{"at_s": 20, "duration_s": 6}]

    assert "omission_possible" not in failed(judge_run(run.write(tmp_path)).rules)


def test_what_comes_late_after_a_hang_is_no_fault_of_the_backend(tmp_path: Path) -> None:
    run = RawRun()
    run.request["hangs"] = [{"at_s": 20, "duration_s": 5}]
    late_s = [(at(second), 0.4 * second + 100 * max(second - 20, 0)) for second in range(-10, SECONDS + 8)]
    backend = run.metrics["backend"]
    backend[:] = [one for one in backend if one["metric"]["__name__"] != "backend_lateness_seconds_sum"]
    backend.append(matrix("backend_lateness_seconds_sum", late_s))

    judged = judge_run(run.write(tmp_path))

    assert judged.backend_lateness_mean_ms == pytest.approx(4)
    assert not failed(judged.rules) & {"backend_late_mean", "backend_late_p99"}


@pytest.mark.parametrize(("reset", "marks"), [(True, (700, 31)), (False, (None, None))])
def test_high_water_marks_count_only_if_they_began_anew_with_the_run(
    reset: bool, marks: tuple[float | None, float | None], tmp_path: Path
) -> None:
    run = RawRun(peaks_reset=reset)
    for name, value in (("process_memory_hwm_bytes", 700), ("jvm_threads_peak_threads", 31)):
        samples = [(at(second), value if second > SECONDS - 5 else 1.0) for second in range(-10, SECONDS + 8)]
        run.metrics["approach"].append(matrix(name, samples))

    judged = judge_run(run.write(tmp_path))

    assert (judged.rss_hwm_bytes, judged.platform_threads_peak) == marks


def test_a_run_has_the_start_of_the_host_that_it_was_made_in(run_dir: Path) -> None:
    path = run_dir / "raw" / "host.json"
    write(run_dir, "host.json", json.loads(path.read_text()) | {"boot_id": "1b4e28ba"})

    assert judge_run(run_dir).boot_id == "1b4e28ba"


@pytest.mark.parametrize(
    ("missing", "rule"), [({"app"}, "metrics_missing"), ({"app", "backend"}, "monitoring_gone"), ({"backend"}, None)]
)
def test_monitoring_is_gone_where_the_backends_samples_are_missing_as_well(
    missing: set[str], rule: str | None, tmp_path: Path
) -> None:
    run = RawRun()
    containers = run.metrics["containers"]
    run.metrics["containers"] = [one for one in containers if one["metric"]["service"] not in missing]

    assert failed(judge_run(run.write(tmp_path)).rules) & {"metrics_missing", "monitoring_gone"} == {rule} - {None}


def test_a_backend_with_another_delay_than_asked_for_invalidates(run_dir: Path) -> None:
    write(run_dir, "backend.json", {"before": "300", "after": "33"})

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert told(run.rules, "backend_delay_other", "300 33")


def test_requests_that_carry_their_own_wait_do_not_depend_on_the_backends_delay(run_dir: Path) -> None:
    request = json.loads((run_dir / "raw" / "request.json").read_text())
    write(run_dir, "request.json", request | {"load": load("/httpbin/block/0.9")})
    write(run_dir, "backend.json", {"before": "33", "after": "33"})

    assert "backend_delay_other" not in failed(judge_run(run_dir).rules)


def test_cpu_that_falls_within_the_measured_part_is_suspect(run_dir: Path) -> None:
    cooling = metrics()
    samples = [(at(second), 50 + 20 * (1 - 0.99**second)) for second in range(-10, SECONDS + 8)]
    cooling["containers"][0] = matrix("container_cpu_usage_seconds_total", samples, service="app", cpu="total")
    compiled = [(at(second), 5 + 1.5 * (1 - 0.95**second)) for second in range(-10, SECONDS + 8)]
    cooling["approach"].append(matrix("lab_jit_cpu_seconds_total", compiled))
    write(run_dir, "metrics.json", cooling)
    host = json.loads((run_dir / "raw" / "host.json").read_text())
    write(run_dir, "host.json", host | {"samples": host_samples(approach=0.1)})

    run = judge_run(run_dir)

    assert run.verdict == "suspect"
    assert failed(run.rules) == {"still_falling"}

    cooling["approach"][-1] = matrix("lab_jit_cpu_seconds_total", ramp(0.01))
    write(run_dir, "metrics.json", cooling)
    assert judge_run(run_dir).verdict == "valid"


def test_a_warm_up_that_failed_or_was_cut_says_so(run_dir: Path) -> None:
    warmup = json.loads((run_dir / "raw" / "warmup.json").read_text())
    write(run_dir, "warmup.json", warmup | {"failed": True, "changing": "there were too few bursts to tell"})
    assert told(judge_run(run_dir).rules, "warmup_failed", "1")

    compiling = warmup["bursts"][0] | {"phase": "compile", "requests": 10_000}
    settling = compiling | {"phase": "settle"}
    write(run_dir, "warmup.json", warmup | {"compiled": False, "bursts": [compiling, compiling]})
    assert told(judge_run(run_dir).rules, "half_cold", "120 40 240")

    write(run_dir, "warmup.json", warmup | {"compiled": False, "bursts": [compiling, settling]})
    assert told(judge_run(run_dir).rules, "half_cold", "120 10,000 20,000 40 240")


def test_rss_is_unknown_where_the_heap_is_shared_memory(run_dir: Path) -> None:
    request = json.loads((run_dir / "raw" / "request.json").read_text())
    write(run_dir, "request.json", request | {"gc": "zgc"})

    assert judge_run(run_dir).rss_max_bytes is None


def test_judging_a_copy_at_another_time_and_place_writes_the_same_bytes(run_dir: Path, tmp_path: Path) -> None:
    judge_run(run_dir)
    copy = Path(shutil.copytree(run_dir, tmp_path / "elsewhere" / run_dir.name, copy_function=shutil.copyfile))

    judge_run(copy)

    assert (copy / "run.json").read_bytes() == (run_dir / "run.json").read_bytes()


def test_an_endpoint_that_waits_in_the_server_does_not_blame_the_backend(run_dir: Path) -> None:
    request = json.loads((run_dir / "raw" / "request.json").read_text())
    write(run_dir, "request.json", request | {"load": load("/epoch-millis?delayInMillis=900"), "http_client": "jdk"})

    run = judge_run(run_dir)

    assert run.http_client == "jdk"
    assert run.verdict == "suspect"
    assert failed(run.rules) == {"other_backend_requests"}
    assert told(run.rules, "other_backend_requests", "0")


def test_a_pool_of_platform_threads_smaller_than_the_concurrency_is_suspect(run_dir: Path) -> None:
    write(run_dir, "about.json", {"concurrency": "platform-threads", "inbound": {"max_threads": 4}, "outbound": {}})

    assert told(judge_run(run_dir).rules, "few_threads", "4")


def test_a_tool_without_a_report_counts_what_the_server_answered(run_dir: Path) -> None:
    write(run_dir, "ab.txt", "Benchmarking app\napr_pollset_poll: The timeout specified has expired (70007)\n")
    (run_dir / "raw" / "ab-requests.tsv.gz").unlink()

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert run.requests == pytest.approx(20 * SECONDS, abs=5)
    assert run.errors is run.throughput_rps is run.latency_ms.mean is None
    assert run.cpu_ms_per_request == pytest.approx(25, rel=0.01)
    assert "tool_failed" in failed(run.rules)
    assert "timeout specified has expired" in run.reasons[0]


def test_closed_connections_are_errors_though_ab_does_not_count_them(tmp_path: Path) -> None:
    run = judge_run(RawRun(unanswered=20).write(tmp_path))

    assert run.errors == 20
    assert run.response_bytes_per_request == pytest.approx(9 / ANSWERED)
    assert told(run.rules, "too_many_errors", "20")


def test_an_unfinished_run_says_so_first(run_dir: Path) -> None:
    request = json.loads((run_dir / "raw" / "request.json").read_text())
    write(run_dir, "request.json", request | {"finished": False})

    assert failed(judge_run(run_dir).rules) == {"unfinished"}


def test_a_run_stopped_before_its_measurement_is_invalid_with_empty_figures(run_dir: Path) -> None:
    for name in ("tool.json", "ab.txt", "ab-requests.tsv.gz", "metrics.json"):
        (run_dir / "raw" / name).unlink()

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert run.requests is run.duration_s is run.cpu_seconds is None


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        ("container.json", "container_failed"),
        ("host.json", "generator_cpus"),
        ("backend.json", "backend_delay_other"),
        ("warmup.json", "half_cold"),
        ("about.json", "small_pool"),
    ],
)
def test_what_a_missing_file_would_have_told_is_not_known(run_dir: Path, file: str, rule: str) -> None:
    (run_dir / "raw" / file).unlink()

    run = judge_run(run_dir)

    assert run.verdict == "suspect"
    assert rule in unknown(run.rules)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        judge_run(tmp_path)


@pytest.mark.parametrize("text", ["{", '{"tool": 1}'])
def test_a_broken_file_is_told(run_dir: Path, text: str) -> None:
    write(run_dir, "request.json", text)

    with pytest.raises(ParseError, match=r"request\.json"):
        judge_run(run_dir)
