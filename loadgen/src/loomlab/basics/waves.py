"""How long a closed-model run lasts so that it can be valid. A wave is one mean latency."""

import math

FEWEST_WAVES, SHORTEST_INTERIOR_S = 20, 15  # what the interior of a valid run has
WAVES, ROUNDED_S = 29, 2  # 20 are kept even if they are a sixth longer than the warm-up's; ab rounds to seconds
SHORTEST_RUN_S, LONGEST_RUN_S = 35, 210
SHORTEST_WARMUP_S = 5
SLICES = 4  # of each side of a pair at a load: two loads of two pairs then take an hour in five blocks
LEFT_OUT = 1  # before them, of each side: connections are new, pools fill, code is compiled (benchmarks/slices.jsonl)
SLICE_WAVES, SHORTEST_SLICE_S, LONGEST_SLICE_S = 11, 8, 50
RAMP_S = 1  # within it connections begin a measured load, evenly, if the tool can: in step each wave would be a crowd
"""Ten waves and a first one. Servers close no connection that idles for two slices of the partner (KEEP_ALIVE_MS)."""


def fitting_duration_s(wave_s: float) -> int:
    """What a valid run needs, however long that is: 29 waves, and 35 s, of which the interior keeps 15."""
    return max(math.ceil(WAVES * wave_s + ROUNDED_S), SHORTEST_RUN_S)


def chosen_duration_s(wave_s: float) -> int:
    """What a run gets that may last as long as it needs: 210 s at most."""
    return min(fitting_duration_s(wave_s), LONGEST_RUN_S)


def has_warmup(cap_s: float) -> bool:
    return cap_s >= SHORTEST_WARMUP_S


def most_live_set_s(connections: int, answer_s: float) -> int:
    """What measuring the memory of waiting requests takes at most: 20 s for 1,000 of 0.9 s, 45 s for 10,000."""
    return 17 + connections // 360 + math.ceil(answer_s)
