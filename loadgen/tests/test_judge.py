"""From raw files to run.json; the files are those of the real ab, on a clock of their own, and simulated metrics."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge import facts
from loomlab.judge.judge import judge_run
from loomlab.records.models import Run
from loomlab.records.requestlog import RequestLog
from loomlab.tools.ab import REQUEST_COLUMNS, Ab
from loomlab.tools.tool import ToolReport
from test_metrics import matrix

BEGIN = 1_795_000_000.5
SECONDS = 40
CONCURRENCY = 20
LATENCY_MS = 920
ROWS = [
    (start, LATENCY_MS)
    for connection in range(CONCURRENCY)
    for wave in range(int(SECONDS / 0.92) - 1)
    for start in [int(BEGIN + connection / CONCURRENCY * 0.92 + wave * 0.92)]
]
REPORT = (
    f"This is ApacheBench\nTime taken for tests:   {SECONDS}.000 seconds\nComplete requests:      {len(ROWS)}\n"
    f"Failed requests:        0\nKeep-Alive requests:    {len(ROWS)}\nTotal transferred:      9 bytes\n"
)
RUNNING = [{"RestartCount": 0, "State": {"Running": True, "OOMKilled": False, "StartedAt": "2026-11-01T00:00:00.1Z"}}]


def ramp(per_second: float) -> list[tuple[float, float]]:
    return [(BEGIN + second, 50 + per_second * second) for second in range(-10, SECONDS + 8)]


def metrics() -> dict[str, Any]:
    def cpu(service: str, per_second: float) -> dict[str, Any]:
        return matrix("container_cpu_usage_seconds_total", ramp(per_second), service=service, cpu="total")

    return {
        "containers": [
            cpu("app", 0.5),
            cpu("backend", 0.1),
            cpu("loadgen", 0.05),
            matrix("container_memory_rss", ramp(0), service="app"),
            matrix("container_threads", ramp(0), service="app"),
        ],
        "approach": [
            matrix("lab_requests_seconds_count", ramp(20), endpoint="/capabilities"),
            matrix("process_start_time_seconds", ramp(0)),
        ],
        "backend": [
            matrix("backend_requests_total", ramp(3 * CONCURRENCY / 0.92)),
            matrix("backend_connections_total", ramp(0)),
            *lateness(mean_s=0.004),
        ],
    }


def lateness(mean_s: float) -> list[dict[str, Any]]:
    """So late on average; one answer in ten 9 ms."""
    return [
        matrix("backend_lateness_seconds_bucket", ramp(90), le="0.005"),
        matrix("backend_lateness_seconds_bucket", ramp(100), le="0.009"),
        matrix("backend_lateness_seconds_bucket", ramp(100), le="+Inf"),
        matrix("backend_lateness_seconds_count", ramp(100)),
        matrix("backend_lateness_seconds_sum", ramp(100 * mean_s)),
        matrix("process_start_time_seconds", ramp(0)),
    ]


def load(target: str = "/capabilities") -> dict[str, Any]:
    return {
        "origin": "http://app:8080", "targets": [{"target": target}], "connections": CONCURRENCY, "timeout_s": 30,
        "shape": {"kind": "closed", "requests": 5000, "duration_s": SECONDS},
    }  # fmt: skip


def write(run_dir: Path, name: str, value: Any) -> None:
    (run_dir / "raw" / name).write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "1-app"
    (folder / "raw").mkdir(parents=True)
    request = {
        "tool": "ab", "approach": "app", "load": load(), "delay": "300", "repeat": 2, "jdk": 25, "gc": "g1",
        "generator_cpus": "1", "backend_cpus": "1", "approach_cpus": "0", "warmup_cap_s": 120,
        "started": BEGIN - 60, "finished": True,
    }  # fmt: skip
    write(folder, "request.json", request)
    tool = {"command": ["ab"], "started": BEGIN, "ended": BEGIN + SECONDS + 0.2, "exit_code": 0}
    write(folder, "tool.json", tool)
    write(folder, "ab.txt", REPORT)
    write(folder, "metrics.json", metrics())
    write(folder, "container.json", RUNNING)
    write(folder, "backend.json", {"before": "300", "after": "300"})
    warmup = {
        "cap_s": 120, "compiled": True, "changing": None, "failed": False, "duration_s": 70, "compiling_s": 40,
        "bursts": [{"phase": "settle", "start": BEGIN - 9, "duration_s": 5, "wait_ms": 900, "requests": 100,
                    "errors": 0, "throughput_rps": 20, "mean_latency_ms": 920}],
    }  # fmt: skip
    write(folder, "warmup.json", warmup)
    network = {"TCPSynRetrans": 0, "ActiveOpens": 100}
    host = {"samples": [], "network_before": network, "network_after": network | {"ActiveOpens": 100 + CONCURRENCY}}
    write(folder, "host.json", host)
    write(folder, "about.json", {"outbound": {"max_connections_per_route": 20}})
    rows = "".join(f"x\t{start}\t0\t{latency}\t{latency}\t{latency}\n" for start, latency in ROWS)
    with gzip.open(folder / "raw" / "ab-requests.tsv.gz", "wt") as log:
        log.write(REQUEST_COLUMNS + "\n" + rows)
    return folder


def test_a_good_run_is_valid_and_its_figures_are_those_of_the_interior(run_dir: Path) -> None:
    run = judge_run(run_dir)

    assert run.interior is not None
    assert (run.verdict, run.reasons) == ("valid", [])
    assert run.requests == len(ROWS)
    assert run.throughput_rps == pytest.approx(CONCURRENCY / 0.92, rel=0.02)
    assert run.latency_ms.p99 == LATENCY_MS
    assert run.cpu_seconds == pytest.approx(0.5 * run.interior.seconds)
    assert run.cpu_ms_per_request == pytest.approx(1000 * 0.5 * run.interior.seconds / run.interior.requests)
    assert run.cpu_ms_per_request is not None
    assert run.backend_cpu_ms_per_request == pytest.approx(run.cpu_ms_per_request / 5)
    assert run.generator_cpu_ms_per_request == pytest.approx(run.cpu_ms_per_request / 10)
    assert run.rss_max_bytes == run.threads_max == 50
    assert run.vsz_max_bytes is run.throttled_ratio is None
    assert run.gc.share == 0
    assert run.connections_opened == CONCURRENCY
    assert run.backend_requests_per_request == pytest.approx(3, rel=0.02)
    assert run.backend_connections_opened == 0
    assert run.response_bytes_per_request == pytest.approx(9 / len(ROWS))
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
    late["backend"] = [*late["backend"][:2], *lateness(mean_s=0.016)]
    write(run_dir, "metrics.json", late)

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert "16.0 ms late on average, in 3 calls up to 5.22 % of the mean latency of 920 ms" in run.reasons[0]


def test_a_backend_with_another_delay_than_asked_for_invalidates(run_dir: Path) -> None:
    write(run_dir, "backend.json", {"before": "300", "after": "33"})

    (reason,) = judge_run(run_dir).reasons
    assert reason.startswith("The backend's delay was 300 before and 33 after the run, not the 300 asked for")


def test_requests_that_carry_their_own_wait_do_not_depend_on_the_backends_delay(run_dir: Path) -> None:
    request = json.loads((run_dir / "raw" / "request.json").read_text())
    write(run_dir, "request.json", request | {"load": load("/httpbin/block/0.9")})
    write(run_dir, "backend.json", {"before": "33", "after": "33"})

    assert not any("delay was" in reason for reason in judge_run(run_dir).reasons)


def test_cpu_that_falls_within_the_measured_part_is_suspect(run_dir: Path) -> None:
    cooling = metrics()
    samples = [(BEGIN + second, 50 + 20 * (1 - 0.99**second)) for second in range(-10, SECONDS + 8)]
    cooling["containers"][0] = matrix("container_cpu_usage_seconds_total", samples, service="app", cpu="total")
    cooling["approach"].append(matrix("lab_jit_cpu_seconds_total", ramp(0.01)))
    write(run_dir, "metrics.json", cooling)

    run = judge_run(run_dir)

    assert run.verdict == "suspect"
    assert "CPU per request fell by 1" in run.reasons[0]
    assert "compilers took 6.05 % of the CPU" in run.reasons[0]


def test_a_warm_up_that_failed_or_was_cut_says_so(run_dir: Path) -> None:
    warmup = json.loads((run_dir / "raw" / "warmup.json").read_text())
    write(run_dir, "warmup.json", warmup | {"failed": True, "changing": "there were too few bursts to tell"})
    assert judge_run(run_dir).reasons == [
        "The warm-up failed: no request of its burst 1 was answered; see the approach's log in raw/."
    ]

    compiling = warmup["bursts"][0] | {"phase": "compile"}
    write(run_dir, "warmup.json", warmup | {"compiled": False, "bursts": [compiling]})
    assert judge_run(run_dir).reasons == [
        "The warm-up was cut short by its cap of 120 s: the compilers were still at work after 40 s; "
        "use WARMUP_CAP=240s."
    ]


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
    assert len(run.reasons) == 1
    assert "not 0" in run.reasons[0]


def test_a_pool_of_platform_threads_smaller_than_the_concurrency_is_suspect(run_dir: Path) -> None:
    write(run_dir, "about.json", {"concurrency": "platform-threads", "inbound": {"max_threads": 4}})

    assert "pool of 4 platform threads" in judge_run(run_dir).reasons[0]


def test_a_tool_without_a_report_counts_what_the_server_answered(run_dir: Path) -> None:
    write(run_dir, "ab.txt", "Benchmarking app\napr_pollset_poll: The timeout specified has expired (70007)\n")
    (run_dir / "raw" / "ab-requests.tsv.gz").unlink()

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert run.requests == pytest.approx(20 * SECONDS, abs=5)
    assert run.errors is run.throughput_rps is run.latency_ms.mean is None
    assert run.cpu_ms_per_request == pytest.approx(25, rel=0.01)
    assert "timeout specified has expired" in run.reasons[0]


def test_closed_connections_are_errors_though_ab_does_not_count_them(run_dir: Path) -> None:
    with gzip.open(run_dir / "raw" / "ab-requests.tsv.gz", "at") as log:
        log.write("x\t1795000005\t0\t9\t9\t0\n" * 20)
    write(run_dir, "ab.txt", REPORT.replace(str(len(ROWS)), str(len(ROWS) + 20)))

    run = judge_run(run_dir)

    assert run.errors == 20
    assert "20 of" in run.reasons[0]


def test_an_unfinished_run_says_so_first(run_dir: Path) -> None:
    request = json.loads((run_dir / "raw" / "request.json").read_text())
    write(run_dir, "request.json", request | {"finished": False})

    assert judge_run(run_dir).reasons == ["The measurement was interrupted before its end."]


def test_a_run_stopped_before_its_measurement_is_invalid_with_empty_figures(run_dir: Path) -> None:
    for name in ("tool.json", "ab.txt", "ab-requests.tsv.gz", "metrics.json"):
        (run_dir / "raw" / name).unlink()

    run = judge_run(run_dir)

    assert run.verdict == "invalid"
    assert run.requests is run.duration_s is run.cpu_seconds is None


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        judge_run(tmp_path)


@pytest.mark.parametrize("text", ["{", '{"tool": 1}'])
def test_a_broken_file_is_told(run_dir: Path, text: str) -> None:
    write(run_dir, "request.json", text)

    with pytest.raises(ParseError, match=r"request\.json"):
        judge_run(run_dir)


def open_run(
    run_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    offered_rps: list[int],
    started_rps: list[int],
    failed: int = 0,
    dropped: int = 0,
    **request: Any,
) -> Run:
    """Judges a run of equal steps in which so many requests started each second, the first `failed` of which failed."""
    step_s = SECONDS // len(offered_rps)
    seconds = [(int(BEGIN) + second, started_rps[second // step_s]) for second in range(SECONDS)]
    answered = [second for second, rate in seconds for _ in range(rate)]
    log = RequestLog(
        answered[failed:],
        [LATENCY_MS] * (len(answered) - failed),
        failed_start_s=answered[:failed],
        failed_latency_ms=[5] * failed,
        failures={"timeout": failed} if failed else {},
    )

    class Known(Ab):
        name = "k6"
        discards = False

        def report(self, raw: Path, stem: str) -> ToolReport:  # noqa: ARG002
            return ToolReport(
                completed=len(log), attempted=len(answered), failed=failed, dropped=dropped, duration_s=SECONDS
            )

        def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:  # noqa: ARG002
            return log

    monkeypatch.setattr(facts, "tool", lambda _: Known())
    shape = {"kind": "open-rate", "steps": [{"rate_rps": rate, "duration_s": step_s} for rate in offered_rps]}
    asked = json.loads((run_dir / "raw" / "request.json").read_text())
    asked |= {"tool": "k6", "load": load("/epoch-millis?delayInMillis=900") | {"shape": shape}} | request
    write(run_dir, "request.json", asked)
    recorded = metrics()
    del recorded["backend"]
    write(run_dir, "metrics.json", recorded)
    write(run_dir, "about.json", {})
    return judge_run(run_dir)


def test_an_offered_rate_that_is_reached_is_valid(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50])

    assert (run.verdict, run.reasons) == ("valid", [])
    assert (run.rate, run.started_rps, run.throughput_rps, run.dropped) == (50, 50, 50, 0)
    assert run.waves is run.little_ratio is None
    assert run.steps == []


def test_an_offered_rate_that_is_missed_is_invalid(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [45], dropped=200)

    assert run.verdict == "invalid"
    assert "10 % fewer than the 50.0 asked for" in run.reasons[0]
    assert "k6 dropped 200 requests" in run.reasons[1]


def test_steps_that_did_not_hold_leave_the_others_to_be_read(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50, 100], [50, 80], dropped=400)

    assert run.verdict == "suspect"
    assert len(run.reasons) == 1
    assert "The steps of 100 requests a second did not hold" in run.reasons[0]
    assert [(step.offered_rps, step.held) for step in run.steps] == [(50, True), (100, False)]
    assert run.throughput_rps is run.latency_ms.p50 is None
    assert run.rate is None


def test_without_a_step_that_held_the_run_is_invalid(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50, 100], [40, 80])

    assert run.verdict == "invalid"
    assert run.reasons == ["Not even the lowest offered rate, 50 requests a second, was reached without errors."]


def test_failures_are_counted_by_reason_with_the_time_they_took(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], failed=20)

    assert (run.verdict, run.errors, run.failures) == ("valid", 20, {"timeout": 20})
    assert run.failed_latency_ms.p50 == 5


def test_a_hang_is_an_episode_and_no_stall(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], hangs=[{"at_s": 20, "duration_s": 5}], scenario="slow", cell=2)

    (hang,) = run.episodes
    assert (hang.start - BEGIN, hang.end - BEGIN, hang.before_p50_ms) == (20, 25, LATENCY_MS)
    assert (run.scenario, run.cell) == ("slow", 2)
    assert run.verdict == "valid"
