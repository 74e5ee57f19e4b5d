"""Pairs loaded in turn: two processes, both up and warm, one slice after the other on connections that stay open."""

import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from loomlab.basics.grouping import parse_cpu_list
from loomlab.basics.waves import LEFT_OUT, LONGEST_SLICE_S, RAMP_S, SHORTEST_SLICE_S, SLICE_WAVES
from loomlab.records.files import write_json
from loomlab.records.models import HostLog, HostSample, ToolRun
from loomlab.records.raw import Slice, SliceLog
from loomlab.run.console import TICK_S, Stop
from loomlab.run.live import LiveFigures
from loomlab.run.management import Process
from loomlab.run.measure import Measurement
from loomlab.run.process import EVERY_S, LONGEST_DRAIN_S, REPORT_GRACE_S, begun, boot_id, network_counters, sample
from loomlab.run.shares import STOLEN_LIMIT, shares_of
from loomlab.run.warmer import latency_ms


def sides_in_turn(slices: int) -> list[int]:
    """The side of each slice: those that are left out, then ABBA and BAAB in turn. Drift favours neither side, be it
    straight or bent, and each follows itself as often as the other does."""
    quarters = [[1, 0, 0, 1] if number % 2 else [0, 1, 1, 0] for number in range(slices // 2)]
    counted = [side for quarter in quarters for side in quarter]
    itself = [side for before, side in pairwise(counted) if before == side]
    return [*([1, 0] if itself.count(0) < itself.count(1) else [0, 1]) * LEFT_OUT, *counted]


LEFT_OUT_AGAIN = 3
"""So often at most, until one that is left out is long enough to tell how many waves the counted ones need."""
DISTURBED_AGAIN = 4  # slices of a side at most, from whose CPUs the hypervisor took more than a valid run may lose
LONGEST_IDLE_S = 60  # for a repeat: Tomcat's pool then ends threads, and servers of users' may close connections
LEAST_S = 0.1  # of a slice: shorter ones do not show how long a wave takes


class Gate:
    """The tool of one side, which sends a slice when it is told to."""

    def __init__(self, side: Measurement) -> None:
        """Raises CannotMeasureError where it cannot be started."""
        self.command = side.tool.command(side.request.load, side.files.raw, ramp_s=RAMP_S, in_slices=True)
        pipe = subprocess.PIPE
        self.process = begun(self.command, side.tool.output(side.files.raw), stdin=pipe, stdout=pipe)
        assert self.process.stdin and self.process.stdout
        self._told, self._answers = self.process.stdin, self.process.stdout

    def send(self, requests: int, longest_s: float, stop: Stop, tick: Callable[[], None]) -> bool:
        """Whether all ended in time."""
        until = time.monotonic() + longest_s
        try:
            self._told.write(f"{requests}\n".encode())
            self._told.flush()
        except OSError:
            return False
        while not select.select([self._answers], [], [], TICK_S)[0]:
            tick()
            if stop.requested or time.monotonic() > until:
                return False
        return self._answers.readline().strip() == str(requests).encode()

    def end(self) -> int:
        with suppress(OSError):  # it has ended by itself
            self._told.close()
        try:
            return self.process.wait(REPORT_GRACE_S)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            return self.process.wait()


@dataclass
class Pair:
    """Two runs of one load, in the order in which they begin."""

    sides: Sequence[Measurement]
    live: LiveFigures

    def __post_init__(self) -> None:
        self._stop, self._progress = self.sides[0].stop, self.sides[0].progress
        self._samples: list[HostSample] = []
        self._slices: list[list[Slice]] = [[], []]
        self._left_out: list[list[Slice]] = [[], []]
        self._disturbed: list[list[Slice]] = [[], []]
        self._stolen: dict[float, float] = {}  # shares, by the start of a slice
        self._waves = [SLICE_WAVES, SLICE_WAVES]  # until the warm-up or a slice has shown how long one takes

    def run(self) -> bool:
        """Leaves raw/ of both; True when they came to their end."""
        self.live.phase("warm-up")
        for side in self.sides:
            if not self._stop.requested:
                self.live.follow(side.request, side.run_dir)
                side.begin()
        for place, side in enumerate(self.sides):
            if not self._stop.requested:
                settled = [burst for burst in side.warmup.bursts if burst.phase == "settle" or side.request.foreign]
                wave_s = (latency_ms(settled) or 1000 * SHORTEST_SLICE_S) / 1000
                self._waves[place] = max(SLICE_WAVES, math.ceil(self._least_s(side) / wave_s))
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
        for number, place in enumerate(turns := sides_in_turn(self.sides[0].request.slices)):
            if number == 2 * LEFT_OUT:
                self._left_out, self._slices, self._samples = self._slices, [[], []], []
                network_before = network_counters()
                peaks_reset = [side.approach.reset_peaks() for side in self.sides]
            self.live.follow(self.sides[place].request, self.sides[place].run_dir)
            self._progress.show("slices", f"{number + 1} of {len(turns)}, {self.sides[place].request.name}")
            again = LEFT_OUT_AGAIN if number < 2 * LEFT_OUT else 0
            made = len(self._disturbed[place])
            while whole := self._slice(gates[place], place):
                if again and self._is_short(place):
                    again -= 1
                elif number < 2 * LEFT_OUT or not self._is_disturbed(place, 1 + (turns[number + 1 :][:1] == [place])):
                    break
                else:
                    self._disturbed[place].append(self._slices[place].pop())
            if whole and made < len(self._disturbed[place]):  # that counts from which least was stolen
                tries = [self._slices[place].pop(), *self._disturbed[place][made:]]
                least, *self._disturbed[place][made:] = sorted(tries, key=lambda one: self._stolen[one.started])
                self._slices[place].append(least)
            if failed := not whole:
                self._slices = [[], []] if number < 2 * LEFT_OUT else self._slices
                gates[place].process.send_signal(signal.SIGINT)
                break
        self.live.phase("collect")
        codes = [gate.end() for gate in gates]
        log = HostLog(
            samples=self._samples, network_before=network_before, boot_id=boot_id(), network_after=network_counters()
        )
        every = sorted((one for own in self._slices for one in own), key=lambda one: one.started)
        started, ended = (every[0].started, every[-1].ended) if every else (time.time(), time.time())
        for place, side in enumerate(self.sides):
            run = ToolRun(command=gates[place].command, started=started, ended=ended, exit_code=codes[place])
            run.stopped_by = ("interrupt" if self._stop.requested else "slice") if failed else None
            partner = self.sides[1 - place].request.name
            own, others = self._slices[place], self._slices[1 - place]
            slices = SliceLog(partner=partner, started=started, ended=ended, slices=own, partners=others)
            slices.left_out, slices.disturbed = self._left_out[place], self._disturbed[place]
            slices.again = sum(map(len, self._disturbed))
            write_json(side.files.slices, slices)
            side.keep(run, log.model_copy(update={"peaks_reset": peaks_reset[place]}), delays[place], partner)

    def _slice(self, gate: Gate, place: int) -> bool:
        """Whether its requests ended in time and its process lives; it begins and ends with nothing in flight."""
        side = self.sides[place]
        load, waves = side.request.load, self._waves[place]
        requests = waves * load.connections
        before = [self._told(one) for one in self.sides]
        started, self._sampled_at = time.time(), 0.0
        whole = gate.send(requests, 2 * LONGEST_SLICE_S + load.timeout_s, self._stop, partial(self._sample, gate))
        self._sample(gate, at_once=True)
        ended = time.time()
        loaded_s = max(ended - started - RAMP_S, LEAST_S)  # by all of its connections
        self._waves[place] = max(SLICE_WAVES, math.ceil(waves * self._least_s(side) / loaded_s))
        side.drain(LONGEST_DRAIN_S)
        after = [self._told(one) for one in self.sides]

        def grown(name: str, which: int = place) -> float | None:
            values = [getattr(processes[which], name) for processes in (before, after)]
            return None if None in values else values[1] - values[0]

        idle_s, idle_jit_s = grown("cpu_s", 1 - place), grown("jit_cpu_s", 1 - place)
        self._slices[place].append(
            Slice(
                started=started,
                ended=ended,
                requests=requests,
                cpu_s=grown("cpu_s"),
                jit_cpu_s=grown("jit_cpu_s"),
                idle_cpu_s=None if idle_s is None else idle_s - (idle_jit_s or 0.0),
                allocated_bytes=grown("allocated_bytes"),
                threads_started=grown("threads"),
            )
        )
        return whole and after[place].cpu_s is not None

    def _is_short(self, place: int) -> bool:
        """Whether its last slice says too little of how long one of so many waves takes."""
        last = self._slices[place][-1]
        return last.ended - last.started - RAMP_S < self._least_s(self.sides[place]) / 2

    def _is_disturbed(self, place: int, until_partner: int) -> bool:
        """Whether its last slice is to be made again, as the hypervisor took CPU time, and the partner may idle on for
        so many slices."""
        last, request = self._slices[place][-1], self.sides[place].request
        own, generators = parse_cpu_list(request.approach_cpus), parse_cpu_list(request.generator_cpus)
        if own and generators and own <= generators:  # in a swarm: they are another host's, which is not sampled here
            return False
        shares = shares_of(self._samples, own, [(last.started, last.ended)])
        self._stolen[last.started] = shares.stolen_of_needed if shares else 0.0
        idle = max(one.ended for made in (self._left_out, self._slices, self._disturbed) for one in made[1 - place])
        idle_s = time.time() - idle + until_partner * (last.ended - last.started)
        may_repeat = len(self._disturbed[place]) < DISTURBED_AGAIN and idle_s <= LONGEST_IDLE_S
        return may_repeat and self._stolen[last.started] > STOLEN_LIMIT

    def _least_s(self, side: Measurement) -> float:
        request = side.request
        return SHORTEST_SLICE_S if request.fit_duration else request.load.shape.duration_s / request.slices

    def _told(self, side: Measurement) -> Process:
        told = side.approach.process()
        return side.approach.process() if told.cpu_s is None else told

    def _sample(self, gate: Gate, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._sampled_at >= EVERY_S:
            self._sampled_at = time.monotonic()
            self._samples.append(sample(gate.process.pid))
