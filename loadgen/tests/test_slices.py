"""Pairs that are loaded in turn: the order of their slices, what is recorded of each, and what is made of them."""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from loads import load_of, request_of
from loomlab.judge.facts import Facts
from loomlab.judge.slices import slice_figures
from loomlab.records.files import RunFiles
from loomlab.records.load import Closed
from loomlab.records.requestlog import RequestLog
from loomlab.records.slices import Slice, SliceLog
from loomlab.run.console import Progress, Stop
from loomlab.run.management import Process
from loomlab.run.measure import Measurement
from loomlab.run.slices import LEFT_OUT, Gate, Pair, sides_in_turn

SILENT = "import sys; [*sys.stdin]"
ECHO = """
import sys
for line in sys.stdin:
    if line.strip() == "{deaf}":
        sys.exit(3)
    print(line.strip(), flush=True)
"""


@pytest.mark.parametrize("slices", [2, 4, 12])
def test_neither_drift_nor_the_slice_before_favours_a_side(slices: int) -> None:
    every = sides_in_turn(slices)
    counted = [*enumerate(every)][2 * LEFT_OUT :]

    places = [[number for number, side in counted if side == one] for one in (0, 1)]
    assert [len(own) for own in places] == [slices, slices]
    assert sum(places[0]) == sum(places[1])
    followed = [[every[number - 1] == side for number, side in counted if side == one] for one in (0, 1)]
    assert followed[0].count(True) == followed[1].count(True) == slices // 2


def side(folder: Path, name: str, counters: dict[str, float], deaf: str = "", silent: bool = False) -> Any:
    """Stands in for a measurement whose process takes 2 CPU seconds for each of its own slices."""
    files = RunFiles(folder / name)
    files.raw.mkdir(parents=True)
    load = load_of(Closed(30, 1), 1, origin=f"http://{name}:8080")
    request = request_of(load, approach=name, partner="other", slices=4)
    steps: list[str] = []
    command = [sys.executable, "-c", SILENT if silent else ECHO.replace("{deaf}", deaf)]
    tool = SimpleNamespace(command=lambda *_, **__: command, output=lambda raw: raw / "tool.txt")

    def process() -> Process:
        counters[name] += 0.25  # of the reading itself
        return Process(cpu_s=counters[name], jit_cpu_s=0.0, threads=12.0)

    def drain(_: float) -> None:
        counters[name] += 2

    kept: list[Any] = []
    return SimpleNamespace(
        request=request, files=files, run_dir=folder / name, tool=tool, stop=Stop(), progress=Progress(),
        approach=SimpleNamespace(process=process, reset_peaks=lambda: True),
        backend=SimpleNamespace(delay=lambda: "300"), drain=drain, earlier=None,
        begin=lambda: steps.append("begin"), wait_for_samples=lambda: steps.append("wait"),
        end=lambda: steps.append("end"), keep=lambda *told: kept.append(told), steps=steps, kept=kept,
    )  # fmt: skip


def run_pair(folder: Path, deaf: str = "") -> tuple[list[Any], bool]:
    counters = {"a": 100.0, "b": 7.0}
    sides = [side(folder, "a", counters, deaf), side(folder, "b", counters)]
    live = SimpleNamespace(follow=lambda *_: None, phase=lambda _: None)
    return sides, Pair(cast("list[Measurement]", sides), cast("Any", live)).run()


def test_each_side_keeps_its_own_slices_with_what_they_cost_it_and_its_partner(tmp_path: Path) -> None:
    sides, whole = run_pair(tmp_path)

    assert whole
    logs = [SliceLog.model_validate_json(one.files.slices.read_text()) for one in sides]
    for log in logs:
        assert [(one.requests, one.cpu_s, one.partner_cpu_s) for one in log.slices] == [
            (one.requests, 2.25, 0.25) for one in log.slices
        ]
    assert logs[0].partner == "b"
    starts = sorted((one.started, place) for place, log in enumerate(logs) for one in log.slices)
    assert [place for _, place in starts] == sides_in_turn(4)[2 * LEFT_OUT :]
    assert all(one.steps == ["begin", "wait", "end"] for one in sides)
    for one in sides:
        run, host, delay, partner = one.kept[0]
        assert (run.started, run.exit_code, run.stopped_by) == (logs[0].started, 0, None)
        assert len(host.samples) >= 8
        assert (delay, host.peaks_reset) == ("300", True)
        assert partner != one.request.approach


def test_a_generator_that_dies_ends_the_slices_of_both_and_is_told(tmp_path: Path) -> None:
    sides, _ = run_pair(tmp_path, deaf="11")

    assert [(one.kept[0][0].stopped_by, one.kept[0][0].exit_code) for one in sides] == [("slice", 3), ("slice", 0)]


def test_a_slice_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    gate = Gate(side(tmp_path, "a", {"a": 0.0}, silent=True))

    began = time.monotonic()
    assert not gate.send(11, 0.5, Stop(), lambda: None)
    assert time.monotonic() - began < 5
    assert gate.end() == 0


def log_of(*slices: tuple[float, float]) -> RequestLog:
    """Ten connections, three requests each, in slices that begin at these times, of these latencies."""
    starts, latencies = [], []
    for begin, latency_s in slices:
        for wave in range(3):
            first_s = 0.5 if wave == 0 else latency_s
            starts += [begin + (wave and 0.5 + (wave - 1) * latency_s)] * 10
            latencies += [1000 * first_s] * 10
    return RequestLog(np.array(starts), np.array(latencies))


def facts_of(slices: list[Slice]) -> Facts:
    request = request_of(load_of(Closed(30, 1), 10), partner="other", slices=len(slices))
    log = SliceLog(partner="other", started=0, ended=0, slices=slices, partners=slices[::-1])
    return cast("Facts", SimpleNamespace(request=request, floors_ms=[0.0], slices=log))


def cost(begin: float, latency_s: float, cpu_s: float, partner_cpu_s: float = 0.0, threads: float = 0.0) -> Slice:
    ended = begin + 0.5 + 2 * latency_s
    return Slice(
        started=begin, ended=ended, requests=30, cpu_s=cpu_s, jit_cpu_s=0, partner_cpu_s=partner_cpu_s,
        threads_started=threads,
    )  # fmt: skip


def test_the_run_has_the_means_of_its_slices_without_the_first_wave_in_its_latencies() -> None:
    slices = [cost(100, 1.0, 3.0, 0.025, 4), cost(200, 2.0, 6.0, 0.09, 0), cost(300, 1.0, 3.0, 0.025, 10)]
    fields, counted = slice_figures(facts_of(slices), log_of((100, 1.0), (200, 2.0), (300, 1.0)), slices)

    assert fields["cpu_ms_per_request"] == pytest.approx((100 + 200 + 100) / 3)
    assert fields["throughput_rps"] == pytest.approx((10 + 5 + 10) / 3)
    assert fields["latency_ms"].min == pytest.approx(1000)
    assert fields["latency_ms"].mean == pytest.approx(4000 / 3)
    assert [one.requests for one in fields["slices"]] == [30, 30, 30]
    assert fields["counted_requests"] == counted.requests == 90
    assert fields["interior"].seconds == pytest.approx(2.5 + 4.5 + 2.5)
    assert fields["little_ratio"] == pytest.approx(1)
    assert fields["partner_cpus"] == pytest.approx((0.01 + 0.02 + 0.01) / 3)
    assert fields["threads_started"] == 4
    assert counted.span == (100, 302.5)


def test_connections_that_idle_within_a_slice_break_littles_law() -> None:
    slices = [cost(100, 1.0, 3.0)]
    half = log_of((100, 1.0))
    few = half.where(half.start_s < 100.6, half.failed_start_s > 0)

    assert slice_figures(facts_of(slices), few, slices)[0]["little_ratio"] < 0.9


def test_what_one_slice_lacks_the_run_does_not_have() -> None:
    slices = [cost(100, 1.0, 3.0), cost(200, 1.0, 3.0).model_copy(update={"cpu_s": None, "partner_cpu_s": None})]
    fields, _ = slice_figures(facts_of(slices), log_of((100, 1.0), (200, 1.0)), slices)

    assert fields["cpu_ms_per_request"] is fields["partner_cpus"] is fields["cpu_fall"] is None


def test_the_record_of_slices_is_read_as_it_was_written(tmp_path: Path) -> None:
    run_pair(tmp_path)

    raw = json.loads((tmp_path / "a" / "raw" / "slices.json").read_text())
    assert {"partner", "started", "ended", "slices", "partners"} == set(raw)
