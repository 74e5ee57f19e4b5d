"""What disturbs the ratio of two sides that are loaded in turn, though they cost the same: `in_turn.py`."""

import numpy as np

from loomlab.basics.waves import LEFT_OUT, SLICES
from loomlab.run.slices import sides_in_turn

SIGNS = np.array([1 - 2 * side for side in sides_in_turn(SLICES)[2 * LEFT_OUT :]])
PLACES = np.arange(len(SIGNS))
STEPS = 240  # of a slice


def moved(costs):
    """By what share of a request's cost the mean of one side is above the other's."""
    return float(np.dot(SIGNS, costs) / SLICES)


def neighbour(period, phase):
    """Of each slice, the share in which a neighbour is at work that works half of each period, in slices."""
    times = np.arange(len(SIGNS) * STEPS) / STEPS
    return ((times + phase) % period < period / 2).reshape(-1, STEPS).mean(axis=1)


def main():
    for power, name in enumerate(("straight", "bent", "bent twice"), 1):
        print(f"{name} drift of 10 % from the first slice to the last: {0.1 * moved((PLACES / PLACES[-1]) ** power):+.1%}")
    found = []
    for period in np.geomspace(0.5, 20, 200):
        every = [0.1 * moved(neighbour(period, phase)) for phase in np.linspace(0, period, 40, endpoint=False)]
        found.append((max(every), period, np.mean(every)))
    most, period, _ = max(found)
    print(f"a neighbour that costs 10 %, in step: {most:.1%} at most, with a period of {period:.1f} slices")
    print(f"the same, its phase random: {max(abs(mean) for *_, mean in found):.2%} at most")
    own = np.array([np.sum(SIGNS[:place] == SIGNS[place]) for place in PLACES]) + LEFT_OUT
    for lasting in (1, 2, 4, 8):
        costs = np.where(SIGNS > 0, 0.1 * np.exp(-own / lasting), 0)
        mine = costs[SIGNS > 0]
        shift = mine[SLICES // 2 :].mean() - mine[: SLICES // 2].mean()
        print(f"one side still 10 % dearer, fading over {lasting} of its slices: {moved(costs):.1%}; its halves differ by {shift:+.1%}")


if __name__ == "__main__":
    main()
