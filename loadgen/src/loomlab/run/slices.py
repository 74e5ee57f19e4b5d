"""Pairs loaded in turn: two processes, both up and warm, one slice after the other on connections that stay open."""

import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO

from loomlab.basics.errors import CannotMeasureError
from loomlab.basics.waves import LONGEST_SLICE_S, SHORTEST_SLICE_S, SLICE_WAVES
from loomlab.records.files import write_json
from loomlab.records.models import HostLog, HostSample, Request, ToolRun
from loomlab.records.slices import Slice, SliceLog
from loomlab.run import hoststat
from loomlab.run.bursts import LONGEST_DRAIN_S
from loomlab.run.console import TICK_S, Stop
from loomlab.run.live import LiveFigures
from loomlab.run.measure import Measurement
from loomlab.run.process import REPORT_GRACE_S, SAMPLE_EVERY_S

LEFT_OUT, LATER_LEFT_OUT = 2, 1
"""Slices of each side that do not count: connections are new, pools fill, code is compiled. Fewer at a second load."""


def sides_in_turn(slices: int, left_out: int = LEFT_OUT) -> list[int]:
    """The side of each slice: those that are left out, then ABBA. Drift favours neither, and each follows itself as
    often as the other."""
    return [*[1, 0] * left_out, *[0, 1, 1, 0] * (slices // 2)]


def least_s(request: Request) -> float:
    """How long a slice takes at least."""
    return SHORTEST_SLICE_S if request.fit_duration else request.load.shape.duration_s / request.slices


class Gate:
    """The tool of one side, which sends a slice when it is told to."""

    def __init__(self, side: Measurement) -> None:
        """Raises CannotMeasureError where it cannot be started."""
        self.command = side.tool.command(side.request.load, side.files.raw, in_slices=True)
        with side.tool.output(side.files.raw).open("wb") as said:
            try:
                self.process = subprocess.Popen(  # noqa: S603 - the command is built by a Tool, no shell
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True
                )
            except OSError as error:
                raise CannotMeasureError(f"{self.command[0]} cannot be started ({error.strerror}).") from error

    def send(self, requests: int, longest_s: float, stop: Stop, tick: Callable[[], None]) -> bool:
        """Whether all ended in time."""
        told, until = self._pipe(self.process.stdin), time.monotonic() + longest_s
        try:
            told.write(f"{requests}\n".encode())
            told.flush()
        except OSError:
            return False
        answers = self._pipe(self.process.stdout)
        while not select.select([answers], [], [], TICK_S)[0]:
            tick()
            if stop.requested or time.monotonic() > until:
                return False
        return answers.readline().strip() == str(requests).encode()

    def end(self) -> int:
        """The exit code, after its report."""
        self._pipe(self.process.stdin).close()
        try:
            return self.process.wait(REPORT_GRACE_S)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            return self.process.wait()

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


@dataclass
class Pair:
    """Two runs of one load, in the order in which they begin."""

    sides: Sequence[Measurement]
    live: LiveFigures

    def __post_init__(self) -> None:
        self._stop, self._progress = self.sides[0].stop, self.sides[0].progress
        self._samples: list[HostSample] = []
        self._slices: list[list[Slice]] = [[], []]
        self._waves = [SLICE_WAVES, SLICE_WAVES]

    def run(self) -> bool:
        """Leaves raw/ of both; True when they came to their end."""
        self.live.phase("warm-up")
        for side in self.sides:
            self.live.follow(side.request, side.run_dir)
            side.begin()
        for side in self.sides:
            if not self._stop.requested:
                side.wait_for_samples()
        if not self._stop.requested:
            self._load()
        for side in self.sides:
            if not self._stop.requested:
                self.live.follow(side.request, side.run_dir)
                side.end()
        return not self._stop.requested

    def _load(self) -> None:
        gates = [Gate(side) for side in self.sides]
        network_before: dict[str, int] = {}
        delays, peaks_reset = [side.backend.delay() for side in self.sides], [False, False]
        failed = False
        self.live.phase("measure")
        left_out = LATER_LEFT_OUT if self.sides[0].earlier else LEFT_OUT
        for number, place in enumerate(turns := sides_in_turn(self.sides[0].request.slices, left_out)):
            if number == 2 * left_out:
                self._slices, self._samples = [[], []], []
                network_before = hoststat.network_counters()
                peaks_reset = [side.approach.reset_peaks() for side in self.sides]
            self.live.follow(self.sides[place].request, self.sides[place].run_dir)
            self._progress.show("slices", f"{number + 1} of {len(turns)}, {self.sides[place].request.name}")
            if failed := not self._slice(gates[place], place):
                break
        self.live.phase("collect")
        codes = [gate.end() for gate in gates]
        log = HostLog(
            samples=self._samples, network_before=network_before, network_after=hoststat.network_counters(),
            boot_id=hoststat.boot_id(),
        )  # fmt: skip
        every = sorted((one for own in self._slices for one in own), key=lambda one: one.started)
        started, ended = (every[0].started, every[-1].ended) if every else (time.time(), time.time())
        for place, side in enumerate(self.sides):
            run = ToolRun(command=gates[place].command, started=started, ended=ended, exit_code=codes[place])
            run.stopped_by = ("interrupt" if self._stop.requested else "slice") if failed else None
            partner = self.sides[1 - place].request.service
            own, others = self._slices[place], self._slices[1 - place]
            slices = SliceLog(partner=partner, started=started, ended=ended, slices=own, partners=others)
            write_json(side.files.slices, slices)
            side.keep(run, log.model_copy(update={"peaks_reset": peaks_reset[place]}), delays[place], partner)

    def _slice(self, gate: Gate, place: int) -> bool:
        """Whether its requests ended in time; it begins and ends with nothing in flight."""
        side = self.sides[place]
        load, waves = side.request.load, self._waves[place]
        requests = waves * load.connections
        before = [one.approach.process() for one in self.sides]
        started, self._sampled_at = time.time(), 0.0
        whole = gate.send(requests, 2 * LONGEST_SLICE_S + load.timeout_s, self._stop, partial(self._sample, gate))
        self._sample(gate, at_once=True)
        ended = time.time()
        self._waves[place] = max(SLICE_WAVES, math.ceil(waves * least_s(side.request) / (ended - started)))
        side.drain(LONGEST_DRAIN_S)
        after = [one.approach.process() for one in self.sides]

        def grown(which: int, name: str) -> float | None:
            values = [getattr(processes[which], name) for processes in (before, after)]
            return None if None in values else values[1] - values[0]

        self._slices[place].append(
            Slice(
                started=started,
                ended=ended,
                requests=requests,
                cpu_s=grown(place, "cpu_s"),
                jit_cpu_s=grown(place, "jit_cpu_s"),
                partner_cpu_s=grown(1 - place, "cpu_s"),
                threads_started=grown(place, "threads"),
            )
        )
        return whole

    def _sample(self, gate: Gate, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._sampled_at >= SAMPLE_EVERY_S:
            self._sampled_at = time.monotonic()
            self._samples.append(hoststat.sample(gate.process.pid))
