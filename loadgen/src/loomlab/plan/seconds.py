"""How long runs take: what is set where nothing was asked for, and what the user is told before anything starts."""

import math
from typing import NamedTuple

from loomlab.basics import waves
from loomlab.records.endpoints import Endpoint
from loomlab.records.load import Load

OPEN_RUN_S = 60
START_S, OVERHEAD_S = 12, 10
"""An approach's start, and what the lab adds to warm-up and load, seen on two CPUs."""
COMPILE_S, SETTLE_S, SETTLE_WAVES = 50, 25, 12
"""The warm-up's phases, seen on two CPUs; the second takes so long at least, or so many waves."""
REQUEST_CPU_MS = 0.35
"""CPU that a request takes, roughly, beside what it asks for."""
LIVE_SET_S = 6
"""What waiting requests hold is measured after the load: the collections, and a load whose requests wait once for some
seconds; beside it the CPU of two waves."""


class RunSeconds(NamedTuple):
    """How long runs take with all around them."""

    expected: int
    longest: int


def default_cap_s(connections: int, answer_ms: float) -> int:
    """The longest warm-up: two minutes, a second more for every 50 connections, and ten for every second that an answer
    takes beyond the first."""
    return 120 + connections // 50 + int(max(0.0, answer_ms - 1000) / 100)


def run_seconds(load: Load, endpoint: Endpoint, answer_ms: float, cpus: int, cap_s: int, *, fitted: bool) -> RunSeconds:
    """How long a run takes; `fitted`: the lab chooses the duration once it knows how long a wave takes."""
    wave_cpu_s = load.connections * (REQUEST_CPU_MS + endpoint.work_ms) // max(1, cpus // 2) / 1000
    wave_s = max(answer_ms / 1000, wave_cpu_s)
    warmup_s = min(cap_s, COMPILE_S + max(SETTLE_S, int(SETTLE_WAVES * wave_s)))
    expected = START_S + OVERHEAD_S + warmup_s + (waves.chosen_duration_s(wave_s) if fitted else load.shape.duration_s)
    longest = START_S + 2 * OVERHEAD_S + cap_s + (waves.LONGEST_RUN_S if fitted else load.shape.duration_s)
    if waves.has_warmup(cap_s):
        expected += LIVE_SET_S + int(2 * wave_cpu_s)
        longest += waves.most_live_set_s(load.connections, answer_ms / 1000)
    return RunSeconds(expected, longest)


def too_short(duration_s: int | None, requests: int | None, connections: int, answer_ms: float) -> str | None:
    """What to tell where a closed load cannot have, at best, the waves and the seconds that a valid run needs."""
    longest_s, wave_s = duration_s or waves.LONGEST_RUN_S, answer_ms / 1000
    interior_s = max(0.0, longest_s - waves.ROUNDED_S - 2 * wave_s)
    wanted_s = max(waves.FEWEST_WAVES * wave_s, waves.SHORTEST_INTERIOR_S)
    what = f"DURATION={duration_s}s" if duration_s else f"The longest that a run lasts without DURATION, {longest_s} s,"
    if interior_s < wanted_s:
        return (
            f"{what} is too short for a valid run: without its first and last wave {interior_s:g} s are left, and "
            f"{wanted_s:g} s are needed; use DURATION={waves.fitting_duration_s(wave_s)}s or longer."
        )
    if requests is not None and requests < (waves.FEWEST_WAVES + 2) * connections:
        count = max(waves.WAVES, math.ceil(1000 * waves.SHORTEST_RUN_S / answer_ms) if answer_ms >= 1 else 0)
        return (
            f"REQUESTS={requests} is too few for a valid run: without the first and the last one "
            f"{waves.FEWEST_WAVES} waves of {connections} are needed; use REQUESTS={count * connections} or more."
        )
    return None
