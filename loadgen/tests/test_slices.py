"""Pairs that are loaded in turn: the order of their slices, and what is recorded of each."""

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from loads import load_of, request_of
from loomlab.basics.waves import LEFT_OUT, SLICE_WAVES
from loomlab.records.files import RunFiles
from loomlab.records.load import Closed
from loomlab.records.models import Foreign, HostSample
from loomlab.records.raw import SliceLog
from loomlab.run.console import Progress, Stop
from loomlab.run.management import Process
from loomlab.run.measure import Measurement
from loomlab.run.process import EVERY_S
from loomlab.run.slices import DISTURBED_AGAIN, LEFT_OUT_AGAIN, Gate, Pair, sides_in_turn

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


def side(
    folder: Path, name: str, counters: dict[str, float], deaf: str = "", silent: bool = False, **changes: Any
) -> Any:
    """Stands in for a measurement whose process takes 4 CPU seconds for each of its own slices, and 2 until it rests;
    an eighth of all is its compilers'."""
    files = RunFiles(folder / name)
    files.raw.mkdir(parents=True)
    load = load_of(Closed(30, 1), 2, origin=f"http://{name}:8080")
    plain: dict[str, Any] = {"load": load, "partner": "ab".replace(name, ""), "slices": 4}
    request = request_of(approach=name, tool="users", **plain | changes)
    steps: list[str] = []
    command = [sys.executable, "-c", SILENT if silent else ECHO.replace("{deaf}", deaf), name]
    tool = SimpleNamespace(command=lambda *_, **__: command, output=lambda raw: raw / "tool.txt")

    def process() -> Process:
        if counters.get("untold", 0) > 0:
            counters["untold"] -= 1
            return Process()
        counters[name] += 0.25  # of the reading itself
        spent = counters[name]
        return Process(cpu_s=spent, jit_cpu_s=spent / 8, allocated_bytes=1000 * spent, threads=spent)

    def drain(_: float) -> None:
        counters[name] += 2
        steps.append("slice")

    def reset_peaks() -> bool:
        steps.append("reset")
        return name == "a"

    kept: list[Any] = []
    return SimpleNamespace(
        request=request, files=files, run_dir=folder / name, tool=tool, stop=Stop(), progress=Progress(),
        approach=SimpleNamespace(process=process, reset_peaks=reset_peaks),
        backend=SimpleNamespace(delay=lambda: f"30{name}"), drain=drain, earlier=None,
        warmup=SimpleNamespace(bursts=[]),
        begin=lambda: steps.append("begin"), wait_for_samples=lambda: steps.append("wait"),
        end=lambda: steps.append("end"), keep=lambda *told: kept.append(told), steps=steps, kept=kept,
    )  # fmt: skip


def run_pair(
    folder: Path, patch: pytest.MonkeyPatch, deaf: str = "", untold: int = 0, interrupt: bool = False
) -> tuple[list[Any], bool]:
    """`untold`: so many readings of processes fail after the first slice; or that is interrupted."""
    counters, send = {"a": 100.0, "b": 7.0}, Gate.send

    def serving(gate: Gate, requests: int, longest_s: float, stop: Stop, tick: Callable[[], None]) -> bool:
        counters[gate.command[-1]] += 4
        counters.setdefault("untold", untold)
        stop.requested = interrupt
        return send(gate, requests, longest_s, stop, tick) and not interrupt

    patch.setattr(Gate, "send", serving)
    sides = [side(folder, "a", counters, deaf), side(folder, "b", counters)]
    return ran(sides)


def ran(sides: list[Any]) -> tuple[list[Any], bool]:
    live = SimpleNamespace(follow=lambda *_: None, phase=lambda _: None)
    return sides, Pair(cast("list[Measurement]", sides), cast("Any", live)).run()


def logs_of(sides: list[Any]) -> list[SliceLog]:
    return [SliceLog.model_validate_json(one.files.slices.read_text()) for one in sides]


def test_each_side_keeps_its_own_slices_with_their_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = iter([{"ActiveOpens": 1}, {"ActiveOpens": 2}])
    monkeypatch.setattr("loomlab.run.slices.network_counters", lambda: next(opened))
    sides, whole = run_pair(tmp_path, monkeypatch)

    assert whole
    logs = logs_of(sides)
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
        assert (host.network_before, host.network_after) == ({"ActiveOpens": 1}, {"ActiveOpens": 2})
        assert (delay, host.peaks_reset) == (f"30{one.request.approach}", one.request.approach == "a")
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
    logs = logs_of(sides)
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
    pair._slices = [[cast("Any", SimpleNamespace(started=begin, ended=end))] for begin, end in spans]
    assert pair._is_disturbed(1, until_partner) == is_again


def test_of_two_slices_in_a_row_the_first_keeps_the_partner_waiting_for_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(Pair, "_is_disturbed", lambda *of: told.append(of[2]))
    run_pair(tmp_path, monkeypatch)
    assert told == [1, 2, 1, 1, 1, 2, 1, 1]


@dataclass
class Clock:
    """Of a pair whose slices take a ramp's second and so long for each wave; CPU 1 loses 6% of what it does for as
    long as the hypervisor takes it."""

    waves_s: dict[str, list[float]]
    stolen: bool = False
    now: float = 1024.0
    steal: float = 0.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def send(self, gate: Gate, requests: int, longest_s: float, _: Stop, tick: Callable[[], None]) -> bool:
        waves_s = self.waves_s[gate.command[-1]]
        lasts_s = 1 + requests / 2 * (waves_s.pop(0) if len(waves_s) > 1 else waves_s[0])
        until = self.now + lasts_s
        while self.now < until:
            tick()
            self.now += 0.125
            self.steal += 0.75 * self.stolen
        return lasts_s <= longest_s

    def sample(self, pid: int) -> HostSample:
        spent = int(100 * (self.now - 1024))
        quiet, taken = [0, 0, 0, spent, 0, 0, 0, 0], [spent, 0, 0, 0, 0, 0, 0, int(self.steal)]
        return HostSample(time=self.now, cpus={"0": quiet, "1": taken, "2": quiet}, tool_threads={f"{pid}": 0})


def run_on(clock: Clock, folder: Path, patch: pytest.MonkeyPatch, **changes: Any) -> tuple[list[Any], bool]:
    """Slices are to last 4 s. Of b a warm-up with waves of 0.25 s has settled, after some of 0.125 s."""
    patch.setattr("loomlab.run.slices.time", clock)
    patch.setattr("loomlab.run.slices.sample", clock.sample)
    patch.setattr(Gate, "send", lambda *told: clock.send(*told))  # noqa: PLW0108 - a method of the gate
    changes |= {"load": load_of(Closed(30, 8), 2), "slices": 2, "approach_cpus": "1", "backend_cpus": "2"}
    sides = [side(folder, name, {"a": 0.0, "b": 0.0}, **changes) for name in "ab"]
    bursts = [("ramp", 125), ("settle", 250)]
    sides[1].warmup.bursts = [SimpleNamespace(phase=phase, mean_latency_ms=mean_ms) for phase, mean_ms in bursts]
    return ran(sides)


@pytest.mark.parametrize(("foreign", "first"), [(False, 16), (True, 22)])
def test_a_slice_has_as_many_waves_as_last_as_long_as_it_should(
    foreign: bool, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loomlab.run.slices.LONGEST_SLICE_S", 4)
    clock = Clock({"a": [0.125, 0.125, 0.25], "b": [0.25]})
    sides, whole = run_on(clock, tmp_path, monkeypatch, foreign=Foreign(port=1, ready="/ready") if foreign else None)

    assert whole
    a, b = logs_of(sides)
    assert [one.requests for one in a.left_out] == [2 * SLICE_WAVES, 2 * 32]  # the first was too short
    assert [one.requests for one in b.left_out] == [2 * first]
    assert [[one.requests for one in log.slices] for log in (a, b)] == [[2 * 32, 2 * 16], [2 * 16, 2 * 16]]
    run, host, *_ = sides[0].kept[0]
    assert (run.started, run.ended) == (a.slices[0].started, a.slices[-1].ended)
    assert (host.samples[0].time, host.samples[-1].time) == (run.started, run.ended)
    gaps_s = np.diff([one.time for one in host.samples])
    assert max(gaps_s) == EVERY_S
    assert len(gaps_s) == 9 + 5 + 5 + 5 + 3
    assert len({pid for one in host.samples for pid in one.tool_threads} - {str(os.getpid())}) == 2


def test_an_interrupted_pair_is_told_and_ends_its_generators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides, whole = run_pair(tmp_path, monkeypatch, interrupt=True)
    assert not whole
    assert [one.kept[0][0].stopped_by for one in sides] == ["interrupt"] * 2
    assert [one.kept[0][0].exit_code for one in sides] == [-signal.SIGINT, 0]


@pytest.mark.parametrize(("untold", "stopped_by"), [(1, None), (9, "slice")])
def test_a_process_that_does_not_tell_its_cpu_time_twice_ends_slices(
    untold: int, stopped_by: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides, _ = run_pair(tmp_path, monkeypatch, untold=untold)
    assert [one.kept[0][0].stopped_by for one in sides] == [stopped_by] * 2


def test_a_generator_that_dies_ends_slices_of_both_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides, _ = run_pair(tmp_path, monkeypatch, deaf="22")
    assert [(one.kept[0][0].stopped_by, one.kept[0][0].exit_code) for one in sides] == [("slice", 3), ("slice", 0)]
    assert [log.slices for log in logs_of(sides)] == [[], []]


@pytest.mark.parametrize(("longest_s", "stopped"), [(0.5, False), (99, True)])
def test_a_slice_that_does_not_end_is_given_up(longest_s: float, stopped: bool, tmp_path: Path) -> None:
    gate, stop = Gate(side(tmp_path, "a", {"a": 0.0}, silent=True)), Stop()
    stop.requested = stopped

    began = time.monotonic()
    assert not gate.send(11, longest_s, stop, lambda: None)
    assert time.monotonic() - began < 5
    assert gate.end() == 0


def test_a_generator_that_has_ended_takes_no_slice(tmp_path: Path) -> None:
    gate = Gate(side(tmp_path, "a", {"a": 0.0}))
    gate.process.kill()
    gate.process.wait()

    assert not gate.send(11, 99, Stop(), lambda: None)
    assert gate.end() == -signal.SIGKILL
