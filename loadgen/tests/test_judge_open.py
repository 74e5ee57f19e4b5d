"""From the raw files of an open load to run.json; what the tool told is simulated."""

import json
from pathlib import Path
from typing import Any

import pytest

from loomlab.judge import facts
from loomlab.judge.judge import judge_run
from loomlab.records.models import Run
from loomlab.records.requestlog import RequestLog
from loomlab.tools.ab import Ab
from loomlab.tools.tool import ToolReport
from rawrun import BEGIN, LATENCY_MS, SECONDS, container, level, load, metrics, ramp, write
from saying import failed, figures, told
from test_metrics import matrix


def open_run(
    run_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    offered_rps: list[int],
    started_rps: list[int],
    failed: int = 0,
    dropped: int | None = 0,
    grows_by: float = 0.0,
    **request: Any,
) -> Run:
    """Judges a run of equal steps in which so many requests started each second, none late, the first `failed` of which
    failed; latency grows by that share from half to half."""
    step_s = SECONDS // len(offered_rps)
    seconds = [(int(BEGIN) + second, started_rps[second // step_s]) for second in range(SECONDS)]
    answered = [second + number / rate for second, rate in seconds for number in range(rate)]
    log = RequestLog(
        answered[failed:],
        [LATENCY_MS * (1 + grows_by * 2 * (start - BEGIN) / SECONDS) for start in answered[failed:]],
        failed_start_s=answered[:failed],
        failed_latency_ms=[5] * failed,
        failures={"timeout": failed} if failed else {},
        lag_ms=[0] * len(answered[failed:]),
        failed_lag_ms=[0] * failed,
    )

    report = ToolReport(completed=len(log), attempted=len(answered), failed=failed, dropped=dropped, duration_s=SECONDS)
    return judged_log(run_dir, monkeypatch, log, report, rates(offered_rps), **request)


def rates(offered_rps: list[int]) -> dict[str, Any]:
    step_s = SECONDS // len(offered_rps)
    return {"kind": "open-rate", "steps": [{"rate_rps": rate, "duration_s": step_s} for rate in offered_rps]}


def judged_log(
    run_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    log: RequestLog,
    report: ToolReport,
    shape: dict[str, Any],
    **request: Any,
) -> Run:
    """Judges a run of vegeta's of which the tool tells this."""

    class Known(Ab):
        name = "vegeta"
        discards = False

        def report(self, raw: Path) -> ToolReport:  # noqa: ARG002
            return report

        def requests(self, raw: Path, floor_ms: int) -> RequestLog | None:  # noqa: ARG002
            return log

    monkeypatch.setattr(facts, "tool", lambda _: Known())
    asked = json.loads((run_dir / "raw" / "request.json").read_text())
    asked |= {"tool": "vegeta", "load": load("/epoch-millis?delayInMillis=900") | {"shape": shape}} | request
    write(run_dir, "request.json", asked)
    recorded = metrics()
    recorded["backend"][0] = matrix("backend_requests_total", ramp(0))
    write(run_dir, "metrics.json", recorded)
    return judge_run(run_dir)


def test_an_offered_rate_that_is_reached_is_valid(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50])

    assert (run.verdict, run.reasons) == ("valid", [])
    assert (run.rate, run.started_rps, run.throughput_rps, run.dropped) == (50, 50, 50, 0)
    assert run.waves is run.little_ratio is None
    assert run.steps == []


@pytest.mark.parametrize(
    ("by", "verdict", "rules"),
    [(0.05, "valid", set()), (0.2, "suspect", {"latency_grew"}), (0.5, "invalid", {"latency_grew_much"})],
)
def test_a_rate_whose_latency_grows_is_more_than_can_be_carried(
    by: float, verdict: str, rules: set[str], run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], grows_by=by)

    assert run.verdict == verdict
    assert failed(run.rules) == rules


def test_latency_that_grows_beside_an_idle_cpu_is_not_laid_to_the_rate(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], grows_by=0.2)

    assert told(run.rules, "latency_grew", "50")

    limited = json.loads((run_dir / "raw" / "metrics.json").read_text())
    limited["containers"] += [container("spec_cpu_quota", level(50_000)), container("spec_cpu_period", level(100_000))]
    write(run_dir, "metrics.json", limited)
    limited_run = judge_run(run_dir)
    assert told(limited_run.rules, "latency_grew", "50")
    assert limited_run.reasons != run.reasons


def test_an_offered_rate_that_is_missed_is_invalid(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [45], dropped=200)

    assert run.verdict == "invalid"
    assert told(run.rules, "rate_missed", "10 50.0")
    assert told(run.rules, "work_dropped", "200")


def test_steps_that_did_not_hold_leave_the_others_to_be_read(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50, 100], [50, 80], dropped=400)

    assert run.verdict == "suspect"
    assert failed(run.rules) == {"steps_missed"}
    assert told(run.rules, "steps_missed", "100")
    assert [(step.offered_rps, step.held) for step in run.steps] == [(50, True), (100, False)]
    assert run.throughput_rps is run.latency_ms.p50 is run.cpu_ms_per_request is None
    assert run.steps[0].cpu_ms_per_request == pytest.approx(10)
    assert run.rate is None


def test_without_a_step_that_held_the_run_is_invalid(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50, 100], [40, 80])

    assert run.verdict == "invalid"
    assert failed(run.rules) == {"no_step_held"}
    assert told(run.rules, "no_step_held", "50")


def test_failures_are_counted_by_reason_with_the_time_they_took(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], failed=20)

    assert (run.verdict, run.errors, run.failures) == ("valid", 20, {"timeout": 20})
    assert run.failed_latency_ms.p50 == 5


def test_the_tail_is_that_of_all_requests_not_of_those_that_were_answered(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 2,000 requests 0.9 % run into the time-out of 30 s, and 0.95 % take 10 s."""
    starts = [int(BEGIN) + number / 50 for number in range(50 * SECONDS)]
    failed_start_s, slow = starts[5::110], set(starts[50::105])
    answered = [start for start in starts if start not in set(failed_start_s)]
    log = RequestLog(
        answered,
        [10_000.0 if start in slow else LATENCY_MS for start in answered],
        failed_start_s=failed_start_s,
        failed_latency_ms=[30_000.0] * len(failed_start_s),
        failures={"time-out": len(failed_start_s)},
        lag_ms=[0] * len(answered),
        failed_lag_ms=[0] * len(failed_start_s),
    )
    report = ToolReport(
        completed=len(log), attempted=len(starts), failed=len(failed_start_s), dropped=0, duration_s=SECONDS
    )
    process = json.loads((run_dir / "raw" / "tool.json").read_text())
    (run_dir / "raw" / "tool.json").write_text(json.dumps(process | {"ended": process["ended"] + 30}))

    run = judged_log(run_dir, monkeypatch, log, report, rates([50]))

    assert (run.latency_ms.p98, run.latency_ms.p99) == (LATENCY_MS, 10_000)


def test_requests_that_were_never_sent_reach_a_percentile(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of those of the window."""
    run = open_run(run_dir, monkeypatch, [50], [45], dropped=200)

    assert run.latency_from_start_ms is not None
    assert run.latency_from_start_ms.p90 == LATENCY_MS
    assert run.latency_from_start_ms.p95 is run.latency_ms.p95 is run.latency_ms.p98 is None
    assert {"920", "185"} <= figures(run.latency_from_start_ms.withheld["p95"])


def test_a_step_that_held_has_its_percentiles_though_a_later_one_dropped_requests(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(run_dir, monkeypatch, [50, 100], [50, 80], dropped=400)

    assert [step.latency_ms.p90 for step in run.steps] == [LATENCY_MS, None]


def test_a_hang_is_an_episode_and_no_stall(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], hangs=[{"at_s": 20, "duration_s": 5}], scenario="slow", cell=2)

    (hang,) = run.episodes
    assert (hang.start - BEGIN, hang.end - BEGIN, hang.before_p50_ms) == (20, 25, LATENCY_MS)
    assert (run.scenario, run.cell) == ("slow", 2)
    assert run.verdict == "valid"


def test_latency_that_grows_because_the_backend_hangs_is_no_queue(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(run_dir, monkeypatch, [50], [50], grows_by=0.5, hangs=[{"at_s": 20, "duration_s": 5}])

    assert run.latency_fall is None
    assert run.reasons == []


def lagging_ladder(
    run_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    lags_ms: list[float],
    dropped: int = 0,
    took_ms: tuple[float, float] = (LATENCY_MS, LATENCY_MS),
) -> Run:
    """A step each of 50, 60, ... requests/s, in whose middle half of the requests start so late; each takes so long."""
    step_s = SECONDS // len(lags_ms)
    starts: list[float] = []
    latency_ms: list[float] = []
    lag_of_each_ms: list[float] = []
    for place, lag_ms in enumerate(lags_ms):
        rate = 50 + 10 * place
        due = [int(BEGIN) + place * step_s + number / rate for number in range(rate * step_s)]
        late_ms = [lag_ms if 3 <= one - due[0] < 6 else 0 for one in due]
        starts += [one + late / 1000 for one, late in zip(due, late_ms, strict=True)]
        lag_of_each_ms += late_ms
        latency_ms += [took_ms[place]] * len(due)
    log = RequestLog(starts, latency_ms, lag_ms=lag_of_each_ms)
    report = ToolReport(completed=len(starts), attempted=len(starts), failed=0, dropped=dropped, duration_s=SECONDS)
    return judged_log(run_dir, monkeypatch, log, report, rates([50 + 10 * place for place in range(len(lags_ms))]))


def test_of_a_ladder_the_step_that_lags_most_is_judged(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lagging_ladder(run_dir, monkeypatch, [0, 40]).verdict == "valid"

    run = lagging_ladder(run_dir, monkeypatch, [0, 300])

    assert run.verdict == "suspect"
    assert told(run.rules, "started_late", "24.6")
    assert "started_late" in failed(lagging_ladder(run_dir, monkeypatch, [40, 30], took_ms=(LATENCY_MS, 100)).rules)
    assert "started_late" in failed(lagging_ladder(run_dir, monkeypatch, [1.9, 3], took_ms=(10, 40)).rules)


def test_of_a_ladder_a_step_that_did_not_hold_does_not_make_the_others_late(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = lagging_ladder(run_dir, monkeypatch, [0, 1500])

    assert run.verdict == "suspect"
    assert failed(run.rules) == {"steps_missed"}
    assert told(run.rules, "steps_missed", "60 1.5")


def test_users_who_come_and_go_are_neither_silent_nor_too_few(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = [int(BEGIN) + 2 + number / 50 for number in range(50 * 30)]
    report = ToolReport(completed=len(starts), attempted=len(starts), failed=0, dropped=0, duration_s=SECONDS)
    users = {"kind": "users", "stages": [{"users": 60, "duration_s": SECONDS}], "think_s": [0, 1]}
    asked = load("/epoch-millis?delayInMillis=900") | {"connections": 60, "shape": users}

    run = judged_log(run_dir, monkeypatch, RequestLog(starts, [LATENCY_MS] * len(starts)), report, users, load=asked)

    assert (run.verdict, run.reasons) == ("valid", [])
    assert run.throughput_rps == pytest.approx(50, rel=0.04)
