"""Draws experiments whose truth is known: two pairs of approaches at two loads, all of the same cost."""

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from loomlab.answer.loads import MOST_TRIES
from loomlab.statistics.student import Numbers

APPROACHES, LOADS = 4, 2
CONTRASTS = LOADS * APPROACHES // 2
HOST_SPREAD, HOST_MEMORY = 0.10, 0.8
"""From block to block: standard deviation, and correlation with the block before."""
SPIKE = 0.30
OUTLIERS = (1.3, 2.0)
STOLEN = 0.05
TORN = 1.8
FLOOR = (
    1.0644, 1.2114, 0.8967, 1.1652, 1.0157,
    1.0425, 0.9548, 0.9918, 0.9299, 0.8496,
    0.8241, 0.9767, 0.9846, 1.0990, 0.9408,
    1.1974, 1.1310, 0.9520, 0.9779, 1.1953,
)  # fmt: skip
"""Ratios of CPU per request of an approach to its twin, by block (benchmarks/floor.jsonl)."""


@dataclass(frozen=True)
class World:
    """What disturbs the runs; shares are of the figure. `noise`: standard deviation of a run, by approach; `tails`:
    degrees of freedom of Student's t that it follows, None: it is normal; `skewed`: that of the second of each pair is
    exponential; `as_measured`: noise is as `FLOOR` has it; `drift`: from one run to the next; `first`: what the first
    run of a block costs more; `carried`: what a run after the first approach costs more; `spikes`: of one approach of
    each pair, the share of runs that cost 30 % more; `outliers`: of all runs, the share that cost 30 to 100 % more;
    `stolen`: runs cost as much more as was stolen, 5 % on average; `torn`: the share of blocks that go on, from some
    run on, on a host that is 1.8 times as dear; `noticed`: these are left out.

    `invalid`: the share of runs that are left out for causes of their own; `spoilt`: of tries, of those that are made
    again for causes outside; `chosen`: which these are, any, those with the most noise or the least, or those from
    which most was stolen; `one_sided`: only the second approach of each pair has them. `drawn`: the order within a
    block is random."""

    title: str
    noise: tuple[float, float, float, float] = (0.05, 0.05, 0.05, 0.05)
    tails: int | None = None
    skewed: bool = False
    as_measured: bool = False
    drift: float = 0
    first: float = 0
    carried: float = 0
    spikes: float = 0
    outliers: float = 0
    stolen: bool = False
    torn: float = 0
    noticed: bool = False
    invalid: float = 0
    spoilt: float = 0
    chosen: Literal["any", "dearest", "cheapest", "stolen"] = "any"
    one_sided: bool = False
    drawn: bool = True


UNEQUAL = (0.03, 0.12, 0.03, 0.12)
WORLDS = (
    World("blocks differ, runs by 5 %"),
    World("runs by 3 % and by 12 %", noise=UNEQUAL),
    World("heavy tails (t, 3 degrees of freedom)", tails=3),
    World("drift of 1 % a run", drift=0.01),
    World("first run of a block 5 % dearer", first=0.05),
    World("first run of a block 10 % dearer", first=0.10),
    World("5 % of runs invalid", invalid=0.05),
    World("20 % of runs invalid", invalid=0.20),
    World("one approach against itself, as measured", as_measured=True),
    World("5 % of all runs 30 to 100 % dearer", outliers=0.05),
    World("10 % of runs made again", spoilt=0.10),
    World("20 % of one side's runs made again", spoilt=0.20, one_sided=True),
    World("the 10 % with most stolen time made again", stolen=True, spoilt=0.10, chosen="stolen"),
    World("a block in five torn and left out", torn=0.20, noticed=True),
    World("all of these", noise=UNEQUAL, tails=3, drift=0.01, first=0.05, invalid=0.10, spoilt=0.10),
)
"""In which the promise should hold."""
HOSTILE = (
    World("3 % and 12 %, the dearest 20 % invalid", noise=UNEQUAL, invalid=0.20, chosen="dearest"),
    World(
        "3 % and 12 %, the dearest 20 % of one side invalid",
        noise=UNEQUAL,
        invalid=0.20,
        chosen="dearest",
        one_sided=True,
    ),
    World(
        "3 % and 12 %, the cheapest 20 % of one side invalid",
        noise=UNEQUAL,
        invalid=0.20,
        chosen="cheapest",
        one_sided=True,
    ),
    World(
        "3 % and 12 %, the dearest 20 % of one side made again",
        noise=UNEQUAL,
        spoilt=0.20,
        chosen="dearest",
        one_sided=True,
    ),
    World("one side skewed (exponential, 15 %), the other 3 %", noise=(0.03, 0.15, 0.03, 0.15), skewed=True),
    World("10 % of one approach's runs 30 % dearer", spikes=0.10),
    World("a run after the first approach 10 % dearer", carried=0.10),
    World("a block in five torn and not noticed", torn=0.20),
    World("drift of 1 % a run, order not drawn", drift=0.01, drawn=False),
    World("first run 10 % dearer, order not drawn", first=0.10, drawn=False),
)
"""Whose loss is stated, each for one reason."""
SPOILT = product((False, True), repeat=MOST_TRIES)
COUNTED = np.array([spoilt.index(False) if False in spoilt else None for spoilt in SPOILT], dtype=float)
"""The try that counts, as the lab chooses it, by which of them are spoilt, read as binary digits; NaN: none does."""
SECOND = np.arange(APPROACHES) % 2 == 1
"""Of each pair."""
type Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Drawn:
    """Differences of the logarithms within each pair, draws × contrasts × blocks, NaN where a block does not count:
    of the runs that count, and with those that are left out for causes of their own. Their true mean is 0, but for what
    the world does to it."""

    counted: Numbers
    of_all_tries: Numbers

    def moved(self, ratios: ArrayLike) -> "Drawn":
        """With these ratios, one of each contrast, or one of all."""
        shift = np.log(ratios)[..., None]
        return Drawn(self.counted + shift, self.of_all_tries + shift)


def experiments(world: World, draws: int, blocks: int, random: Generator) -> Drawn:
    shape, tries = (draws, blocks, LOADS, APPROACHES), MOST_TRIES if world.spoilt else 1
    places = np.broadcast_to(np.arange(APPROACHES), shape)
    if world.drawn:
        places = random.permuted(places, axis=-1)
    torn = random.random(shape[:-1]) < world.torn
    noise = _noise(world, (*shape, tries), random)
    stolen = random.exponential(STOLEN, noise.shape) if world.stolen else np.zeros(noise.shape)
    scale = np.zeros(APPROACHES) if world.as_measured else np.array(world.noise)
    costs = _of_places(world, places, torn, random)[..., None] + noise * scale[:, None] + stolen
    costs += np.log(random.uniform(*OUTLIERS, costs.shape)) * (random.random(costs.shape) < world.outliers)
    costs += world.drift * np.arange(tries)
    costs[..., 0] += np.log1p(world.first) * (places == 0)
    spoilt, invalid = (_picked(world, share, noise, stolen, random) for share in (world.spoilt, world.invalid))
    counts = COUNTED[spoilt @ (2 ** np.arange(tries)[::-1]) << (MOST_TRIES - tries)]
    place = np.nan_to_num(counts).astype(int)[..., None]
    left_out = np.isnan(counts) | (torn[..., None] & world.noticed)
    figures = np.where(left_out, np.nan, np.take_along_axis(costs, place, axis=-1)[..., 0])
    own = np.take_along_axis(invalid, place, axis=-1)[..., 0]
    return Drawn(_within(np.where(own, np.nan, figures)), _within(figures))


def _within(figures: Numbers) -> Numbers:
    pairs = figures[..., 0::2] - figures[..., 1::2]
    return np.moveaxis(pairs, 1, -1).reshape(len(figures), CONTRASTS, figures.shape[1])


def _noise(world: World, shape: tuple[int, ...], random: Generator) -> Numbers:
    """With a standard deviation of 1, and a mean of 0."""
    if world.tails is not None:
        heavy: Numbers = random.standard_t(world.tails, shape) / np.sqrt(world.tails / (world.tails - 2))
        return heavy
    noise = random.standard_normal(shape)
    if world.skewed:
        noise[..., SECOND, :] = random.standard_exponential(noise[..., SECOND, :].shape) - 1
    return noise


def _picked(world: World, share: float, noise: Numbers, stolen: Numbers, random: Generator) -> Flags:
    """That share of the tries."""
    if not share:
        return np.zeros(noise.shape, dtype=bool)
    rank = {"any": random.random(noise.shape), "dearest": -noise, "cheapest": noise, "stolen": -stolen}[world.chosen]
    may = SECOND[:, None] | (not world.one_sided)
    picked: Flags = (rank < np.quantile(rank, share)) & may
    return picked


def _of_places(world: World, places: NDArray[np.int64], torn: Flags, random: Generator) -> Numbers:
    """What a run costs by when it is made, whatever its noise."""
    draws, blocks = places.shape[:2]
    costs = _hosts(draws, blocks, random) + np.zeros(places.shape)
    before = APPROACHES * np.arange(blocks * LOADS).reshape(blocks, LOADS, 1)
    costs += world.drift * (before + places) + np.log1p(world.carried) * _after_first(places)
    begins = random.integers(1, APPROACHES, (*places.shape[:-1], 1))
    costs += np.log(TORN) * (torn[..., None] & (places >= begins))
    pairs = costs[..., ~SECOND].shape
    costs[..., ~SECOND] += np.log1p(SPIKE) * ((random.random(pairs) < world.spikes) - world.spikes)
    if world.as_measured:
        costs[..., ~SECOND] += random.choice([-1, 1], pairs) * np.log(random.choice(FLOOR, pairs))
    return costs


def _after_first(places: NDArray[np.int64]) -> Flags:
    """Whether a run follows one of the first approach, in its block or the one before."""
    order = np.argsort(places, axis=-1).reshape(len(places), -1)
    after = np.zeros(order.shape, dtype=bool)
    after[:, 1:] = order[:, :-1] == 0
    return np.take_along_axis(after.reshape(places.shape), places, axis=-1)


def _hosts(draws: int, blocks: int, random: Generator) -> Numbers:
    """What the host's state costs in each block, the same for its approaches: an AR(1) process."""
    fresh = HOST_SPREAD * random.standard_normal((draws, blocks * LOADS))
    states = fresh.copy()
    for block in range(1, blocks * LOADS):
        states[:, block] = HOST_MEMORY * states[:, block - 1] + np.sqrt(1 - HOST_MEMORY**2) * fresh[:, block]
    shared: Numbers = states.reshape(draws, blocks, LOADS, 1)
    return shared
