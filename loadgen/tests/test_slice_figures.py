"""What is made of the slices of pairs that are loaded in turn."""

import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from loads import load_of
from loomlab.judge.judge import judge_run
from loomlab.judge.request_figures import slice_figures
from loomlab.records.files import write_json
from loomlab.records.load import Closed
from loomlab.records.raw import Slice, SliceLog
from loomlab.records.requestlog import RequestLog
from loomlab.run.process import STEAL
from rawrun import APPROACH_CPU, BACKEND_CPU, RawRun, at, matrix, ramp

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
