"""Pairs that are loaded in turn: the order of their slices, what is recorded of each, and what is made of them."""

import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from loads import load_of, request_of
from loomlab.basics.waves import LEFT_OUT, SLICE_WAVES
from loomlab.judge.judge import judge_run
from loomlab.judge.request_figures import slice_figures
from loomlab.records.files import RunFiles, write_json
from loomlab.records.load import Closed
from loomlab.records.raw import Slice, SliceLog
from loomlab.records.requestlog import RequestLog
from loomlab.run.console import Progress, Stop
from loomlab.run.management import Process
from loomlab.run.measure import Measurement
from loomlab.run.process import STEAL
from loomlab.run.slices import DISTURBED_AGAIN, LEFT_OUT_AGAIN, Gate, Pair, sides_in_turn
from rawrun import APPROACH_CPU, BACKEND_CPU, RawRun, at, matrix, ramp

SILENT = "import sys; [*sys.stdin]"
ECHO = """
import sys
for line in sys.stdin:
    if line.strip() == "{deaf}":
        sys.exit(3)
    print(line.strip(), flush=True)
"""


def test_a_slice_a_side_is_left_out_before_those_that_count() -> None:
    assert sides_in_turn(4) == [0, 1, 0, 1, 1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("slices", [2, 4, 12])
def test_neither_drift_nor_the_slice_before_favours_a_side(slices: int) -> None:
    every = sides_in_turn(slices)
    counted = [*enumerate(every)][2 * LEFT_OUT :]

    places = [[number for number, side in counted if side == one] for one in (0, 1)]
    assert [len(own) for own in places] == [slices, slices]
    assert sum(places[0]) == sum(places[1])
    if slices % 4 == 0:
        assert sum(place**2 for place in places[0]) == sum(place**2 for place in places[1])
    followed = [[every[number - 1] == side for number, side in counted if side == one] for one in (0, 1)]
    assert followed[0].count(True) == followed[1].count(True)


def side(folder: Path, name: str, counters: dict[str, float], deaf: str = "", silent: bool = False) -> Any:
    """Stands in for a measurement whose process takes 4 CPU seconds for each of its own slices, and 2 until it rests;
    an eighth of all is its compilers'."""
    files = RunFiles(folder / name)
    files.raw.mkdir(parents=True)
    load = load_of(Closed(30, 1), 1, origin=f"http://{name}:8080")
    request = request_of(load, approach=name, tool="users", partner="ab".replace(name, ""), slices=4)
    steps: list[str] = []
    command = [sys.executable, "-c", SILENT if silent else ECHO.replace("{deaf}", deaf), name]
    tool = SimpleNamespace(command=lambda *_, **__: command, output=lambda raw: raw / "tool.txt")

    def process() -> Process:
        counters[name] += 0.25  # of the reading itself
        spent = counters[name]
        return Process(cpu_s=spent, jit_cpu_s=spent / 8, allocated_bytes=1000 * spent, threads=spent)

    def drain(_: float) -> None:
        counters[name] += 2
        steps.append("slice")

    def reset_peaks() -> bool:
        steps.append("reset")
        return True

    kept: list[Any] = []
    return SimpleNamespace(
        request=request, files=files, run_dir=folder / name, tool=tool, stop=Stop(), progress=Progress(),
        approach=SimpleNamespace(process=process, reset_peaks=reset_peaks),
        backend=SimpleNamespace(delay=lambda: "300"), drain=drain, earlier=None,
        warmup=SimpleNamespace(bursts=[]),
        begin=lambda: steps.append("begin"), wait_for_samples=lambda: steps.append("wait"),
        end=lambda: steps.append("end"), keep=lambda *told: kept.append(told), steps=steps, kept=kept,
    )  # fmt: skip


def run_pair(folder: Path, patch: pytest.MonkeyPatch, deaf: str = "") -> tuple[list[Any], bool]:
    counters, send = {"a": 100.0, "b": 7.0}, Gate.send

    def serving(gate: Gate, *told: Any) -> bool:
        counters[gate.command[-1]] += 4
        return send(gate, *told)

    patch.setattr(Gate, "send", serving)
    sides = [side(folder, "a", counters, deaf), side(folder, "b", counters)]
    live = SimpleNamespace(follow=lambda *_: None, phase=lambda _: None)
    return sides, Pair(cast("list[Measurement]", sides), cast("Any", live)).run()


def test_each_side_keeps_its_own_slices_with_their_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides, whole = run_pair(tmp_path, monkeypatch)

    assert whole
    logs = [SliceLog.model_validate_json(one.files.slices.read_text()) for one in sides]
    for log in logs:
        told = [
            (one.cpu_s, one.jit_cpu_s, one.idle_cpu_s, one.allocated_bytes, one.threads_started) for one in log.slices
        ]
        assert told == [(6.25, 0.78125, 0.21875, 6250, 6.25)] * 4
        assert all(one.requests > SLICE_WAVES for one in log.slices)
        assert len(log.left_out) == LEFT_OUT + LEFT_OUT_AGAIN  # they are too short
    assert logs[0].partner == "b"
    assert (logs[0].partners, logs[1].partners) == (logs[1].slices, logs[0].slices)
    starts = sorted((one.started, place) for place, log in enumerate(logs) for one in log.slices)
    assert [place for _, place in starts] == sides_in_turn(4)[2 * LEFT_OUT :]
    steps = ["begin", "wait", *["slice"] * (LEFT_OUT + LEFT_OUT_AGAIN), "reset", *["slice"] * 4, "end"]
    assert [one.steps for one in sides] == [steps] * 2
    for one in sides:
        run, host, delay, partner = one.kept[0]
        assert (run.started, run.exit_code, run.stopped_by) == (logs[0].started, 0, None)
        assert run.ended == max(slice_.ended for log in logs for slice_ in log.slices)
        assert len(host.samples) >= 8
        assert (delay, host.peaks_reset) == ("300", True)
        assert partner != one.request.approach


@pytest.mark.parametrize(("disturbed", "again"), [(2, [2, 0]), (99, [DISTURBED_AGAIN] * 2)], ids=["two", "all"])
def test_a_slice_that_the_hypervisor_disturbed_is_made_again(
    disturbed: int, again: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stolen = iter([0.06] * disturbed)
    found = lambda *_: SimpleNamespace(stolen_of_needed=next(stolen, 0.05))  # noqa: E731
    monkeypatch.setattr("loomlab.run.slices.shares_of", found)
    sides, whole = run_pair(tmp_path, monkeypatch)

    assert whole
    logs = [SliceLog.model_validate_json(one.files.slices.read_text()) for one in sides]
    assert [len(log.disturbed) for log in logs] == again
    assert [(len(log.slices), log.again) for log in logs] == [(4, sum(again))] * 2
    for log in logs:
        assert not {one.started for one in log.disturbed} & {one.started for one in log.slices}


def test_of_slices_that_were_all_disturbed_the_least_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stolen = iter([0.3, 0.06, 0.1, 0.2, 0.4])  # of the first slice, which is made four times more
    found = lambda *_: SimpleNamespace(stolen_of_needed=next(stolen, 0.0))  # noqa: E731
    monkeypatch.setattr("loomlab.run.slices.shares_of", found)
    sides, _ = run_pair(tmp_path, monkeypatch)

    log = SliceLog.model_validate_json(sides[0].files.slices.read_text())
    made = sorted(one.started for one in [*log.slices, *log.disturbed])
    assert [made.index(one.started) for one in log.slices] == [1, 5, 6, 7]
    assert (len(log.disturbed), log.again) == (DISTURBED_AGAIN, DISTURBED_AGAIN)


@pytest.mark.parametrize(("slice_s", "until_partner", "generator_cpus", "is_again"), [
    (25, 1, "1", True), (25, 2, "1", False), (31, 1, "1", False), (25, 1, "0-1", False),
])  # fmt: skip
def test_none_is_made_again_if_the_partner_would_lose_threads_or_the_cpus_are_another_hosts(
    slice_s: float, until_partner: int, generator_cpus: str, is_again: bool,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("loomlab.run.slices.shares_of", lambda *_: SimpleNamespace(stolen_of_needed=0.06))
    pair = Pair([side(tmp_path, name, {}) for name in "ab"], cast("Any", None))
    cpus = {"approach_cpus": "0", "generator_cpus": generator_cpus}
    cast("Any", pair.sides[1]).request = pair.sides[1].request.model_copy(update=cpus)
    now = time.time()
    spans = [(now - 2 * slice_s, now - slice_s), (now - slice_s, now)]
    pair._slices = [[slice_of(begin, 1.0, 5.0).model_copy(update={"ended": end})] for begin, end in spans]
    assert pair._is_disturbed(1, until_partner) == is_again


def test_of_two_slices_in_a_row_the_first_keeps_the_partner_waiting_for_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(Pair, "_is_disturbed", lambda *of: told.append(of[2]))
    run_pair(tmp_path, monkeypatch)
    assert told == [1, 2, 1, 1, 1, 2, 1, 1]


def test_a_generator_that_dies_ends_slices_of_both_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides, _ = run_pair(tmp_path, monkeypatch, deaf="11")
    assert [(one.kept[0][0].stopped_by, one.kept[0][0].exit_code) for one in sides] == [("slice", 3), ("slice", 0)]


def test_a_slice_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    gate = Gate(side(tmp_path, "a", {"a": 0.0}, silent=True))

    began = time.monotonic()
    assert not gate.send(11, 0.5, Stop(), lambda: None)
    assert time.monotonic() - began < 5
    assert gate.end() == 0


WAVES = 5


def log_of(*slices: tuple[float, float]) -> RequestLog:
    """Ten connections in slices that begin then: five waves, the first of 0.5 s, the others of that latency."""
    starts, latencies = [], []
    for begin, latency_s in slices:
        for wave in range(WAVES):
            starts += [begin + (wave and 0.5 + (wave - 1) * latency_s)] * 10
            latencies += [500.0 if wave == 0 else 1000 * latency_s] * 10
    return RequestLog(np.array(starts), np.array(latencies))


def slice_of(begin: float, latency_s: float, cpu_s: float | None, **changes: float | None) -> Slice:
    """Ten requests a wave; compilers and an idle partner took nothing, unless changed."""
    plain = {"jit_cpu_s": 0.0, "idle_cpu_s": 0.0, "allocated_bytes": 5000.0, "threads_started": 0.0} | changes
    ended = begin + 0.5 + (WAVES - 1) * latency_s
    return Slice(started=begin, ended=ended, requests=10 * WAVES, cpu_s=cpu_s, **plain)


def figures(
    own: list[Slice], partners: list[Slice] | None = None, log: RequestLog | None = None, **more: Any
) -> dict[str, Any]:
    """Of these slices; the partner's are alike."""
    pair = SliceLog(partner="other", started=0, ended=0, slices=own, partners=partners or own, **more)
    known = log or log_of(*((one.started, (one.ended - one.started - 0.5) / (WAVES - 1)) for one in own))
    return slice_figures(pair, known, load_of(Closed(10, 1), 10), [0.0])[0]


def test_the_run_has_the_means_of_its_slices_without_first_and_last_waves_in_its_latencies() -> None:
    fields = figures([slice_of(100, 1.0, 5.0, threads_started=4), slice_of(200, 2.0, 10.0), slice_of(300, 1.0, 5.0)])

    assert fields["cpu_ms_per_request"] == pytest.approx((100 + 200 + 100) / 3)
    assert fields["throughput_rps"] == pytest.approx((10 + 5 + 10) / 3)
    assert (fields["latency_ms"].min, fields["latency_ms"].max) == (1000, 2000)
    assert fields["latency_ms"].mean == pytest.approx(4000 / 3)
    assert [one.requests for one in fields["slices"]] == [50, 50, 50]
    assert (fields["requests"], fields["errors"], fields["counted_requests"]) == (150, 0, 150)
    assert fields["interior"].seconds == pytest.approx(4.5 + 8.5 + 4.5)
    assert fields["little_ratio"] == pytest.approx(1)
    assert fields["allocated_bytes_per_request"] == 100
    assert fields["threads_started"] == 0
    assert fields["lab_connections"] == 3 + 6 * 6
    assert "tool_failure" not in fields


def test_a_slice_that_was_made_again_is_in_no_figure() -> None:
    own, disturbed = [slice_of(100.1, 1.0, 5.0), slice_of(200, 1.0, 5.0)], slice_of(95.5, 1.0, 50.0)
    every = log_of((95.5, 1.0), (100.1, 1.0), (200, 1.0))

    fields = figures(own, log=every, disturbed=[disturbed], again=1)

    assert [one.requests for one in fields["slices"]] == [50, 50]
    assert fields["cpu_ms_per_request"] == pytest.approx(100)
    assert fields["lab_connections"] == 3 + 6 * 5
    assert "tool_failure" not in fields


def test_a_wave_that_runs_dry_is_in_no_latency() -> None:
    whole, place = log_of((100, 1.0)), np.arange(50) % 10
    last = whole.start_s == 103.5
    log = RequestLog(whole.start_s + last * 0.01 * place, np.where(last, 300.0, whole.latency_ms))

    fields = figures([slice_of(100, 1.0, 5.0)], log=log)
    assert (fields["latency_ms"].min, fields["throughput_rps"]) == (1000, pytest.approx(10))


def test_a_run_of_a_pair_is_judged_on_its_own_slices(tmp_path: Path) -> None:
    raw = RawRun()
    raw.put("approach", matrix("jvm_gc_pause_seconds_sum", ramp(0.1)))
    raw.spend("0", STEAL, lambda second: 50 * min(max(second - 30, 0), 4))  # in the second slice of its own
    own = [slice_of(at(4), 1.0, 5.0), slice_of(at(30), 1.0, 5.0)]
    others = [slice_of(at(10), 2.0, 5.0), slice_of(at(20), 2.0, 5.0)]
    log = SliceLog(partner="other", started=at(4), ended=at(35), slices=own, partners=others)
    log.disturbed = [slice_of(at(begin), 1.0, 50.0) for begin in (-2, 25, 41)]  # one of them among those that count
    folder = raw.write(tmp_path / "1-app")
    write_json(folder / "raw" / "slices.json", log)

    run = judge_run(folder)
    served = sum(one.requests for one in run.slices)
    assert run.cpu_ms_per_request == pytest.approx(fmean(5000 / one.requests for one in run.slices))
    assert run.cpu_seconds == pytest.approx(APPROACH_CPU * 9)
    assert run.backend_cpu_ms_per_request == pytest.approx(BACKEND_CPU * 9000 / served)
    assert (run.steal_shares or {})["approach"] == pytest.approx(200 / 900, abs=0.03)
    assert run.gc.share == run.gc_share == pytest.approx((run.gc.pause_seconds or 0) / 13.5)


def test_neither_compilers_nor_what_the_process_takes_when_it_idles_is_the_requests_cost() -> None:
    own = [slice_of(100, 1.0, 5.0, jit_cpu_s=0.5), slice_of(200, 1.0, 5.0)]
    partners = [slice_of(110, 1.0, 3.0, idle_cpu_s=0.045), slice_of(190, 1.0, 3.0, idle_cpu_s=0.045)]

    fields = figures(own, partners)
    assert fields["cpu_ms_per_request"] == pytest.approx((4.455 + 4.955) / 2 / 50 * 1000)
    assert fields["partner_cpus"] == 0
    assert figures(partners, own)["partner_cpus"] == pytest.approx(0.01)


@pytest.mark.parametrize(("costs", "others", "grew"), [
    ((5, 5, 6, 6), (5, 5, 5, 5), 1.2), ((5, 6, 6, 7), (10, 12, 12, 14), 1.0), ((6, 6, 5, 5), (6, 6, 6, 6), 5 / 6),
])  # fmt: skip
def test_the_ratio_to_the_partner_is_watched(costs: tuple[float, ...], others: tuple[float, ...], grew: float) -> None:
    own, partners = (
        [slice_of(100 * place, 1.0, cpu_s) for place, cpu_s in enumerate(side, 1)] for side in (costs, others)
    )

    assert math.exp(figures(own, partners)["ratio_shift"]) == pytest.approx(grew)


def test_connections_that_idle_within_a_slice_break_littles_law() -> None:
    whole = log_of((100, 1.0))
    stops = whole.where((whole.start_s != 101.5) | (np.arange(len(whole)) % 2 == 0), whole.failed_start_s > 0)
    assert figures([slice_of(100, 1.0, 5.0)], log=stops)["little_ratio"] < 0.9


def test_requests_that_a_slice_lacks_are_told_and_failed_ones_are_errors() -> None:
    whole = log_of((100, 1.0))
    lacking = whole.where(np.arange(len(whole)) > 2, whole.failed_start_s > 0)
    failing = replace(lacking, failed_start_s=np.array([100.0] * 3), failed_latency_ms=np.array([1.0] * 3))

    assert "tool_failure" in figures([slice_of(100, 1.0, 5.0)], log=lacking)
    fields = figures([slice_of(100, 1.0, 5.0)], log=failing)
    assert "tool_failure" not in fields
    assert (fields["requests"], fields["errors"]) == (50, 3)


def test_what_one_slice_lacks_the_run_does_not_have() -> None:
    fields = figures([slice_of(100, 1.0, 5.0), slice_of(200, 1.0, None, allocated_bytes=None)])
    assert fields["cpu_ms_per_request"] is fields["allocated_bytes_per_request"] is fields["cpu_fall"] is None
    assert fields["ratio_shift"] is None
