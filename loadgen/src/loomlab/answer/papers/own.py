"""Whether a paper's claims follow from its own figures."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from loomlab.answer.papers.figures import QUOTIENTS
from loomlab.answer.papers.model import Claim, NoTest, Paper, RatioTest, SlopeTest, ValueTest

QUEUED = 1.25
"""The mean latency over the shortest, from which on requests are said to queue."""


@dataclass(frozen=True)
class Own:
    """What the paper's own figures say of a claim; `level` is the highest that they are of, `values` has one for each
    published repeat."""

    figure: str
    of: str
    level: int
    values: list[float]
    holds: bool


class Published:
    """A paper's figures, by the lab's names of them."""

    def __init__(self, paper: Paper) -> None:
        self._cpus = paper.approach_cpus
        self._values: dict[tuple[str, str, int], list[float]] = defaultdict(list)
        for cell in sorted(paper.cells(), key=lambda one: one.repeat):
            if cell.figure and cell.approach and cell.level and cell.measured is not None:
                self._values[cell.figure, cell.approach, cell.level].append(cell.measured)

    def levels(self, approach: str) -> list[int]:
        """Those with any figure of the approach."""
        return sorted({level for _, one, level in self._values if one == approach})

    def values(self, figure: str, approach: str, level: int) -> list[float]:
        """One for each repeat; none where it was not published. What the paper tells of its parts is derived."""
        told = self._values.get((figure, approach, level), [])
        if told:
            return told
        if figure in QUOTIENTS:
            upper, lower = (self.values(part, approach, level) for part in QUOTIENTS[figure])
            return _quotients(upper, lower * len(upper) if len(lower) == 1 else lower)
        if figure == "cpu_ms_per_request":
            answered = _products(*(self.values(part, approach, level) for part in ("throughput_rps", "duration_s")))
            return [1000 * value for value in _quotients(self.values("cpu_seconds", approach, level), answered)]
        if figure == "cpu_share" and self._cpus:
            cpus = _quotients(self.values("cpu_seconds", approach, level), self.values("duration_s", approach, level))
            return [value / self._cpus for value in cpus]
        return []

    def queued(self, approach: str, level: int) -> bool:
        """Whether the mean latency was so far above the shortest latency that the paper tells that requests queued."""
        shortest = min(
            (
                value
                for (figure, *_), values in self._values.items()
                if figure in {"latency_ms.min", "latency_ms.mean"}
                for value in values
            ),
            default=None,
        )
        means = self.values("latency_ms.mean", approach, level)
        return bool(means and shortest and min(means) >= QUEUED * shortest)


def own_figures(paper: Paper, claim: Claim) -> list[Own]:
    """One for each figure, approach and level of the claim that the paper tells; none where it tells no such figure."""
    test = claim.decided_by
    if isinstance(test, NoTest) or claim.load is None:
        return []
    found = _found(Published(paper), test, claim.load.levels)
    return [
        Own(figure, of, level, values, all(map(test.hold, values))) for figure, of, level, values in found if values
    ]


def _found(
    published: Published, test: RatioTest | ValueTest | SlopeTest, asked: list[int]
) -> Iterator[tuple[str, str, int, list[float]]]:
    for figure in test.figures:
        match test:
            case RatioTest(of=of, to=to):
                if of.jdk or to.jdk:
                    continue
                for level in asked or published.levels(of.approach):
                    upper = published.values(figure, of.approach, of.level or level)
                    lower = published.values(figure, to.approach, to.level or level)
                    yield figure, test.name, level, _quotients(upper, lower)
            case ValueTest():
                for approach in test.approaches:
                    for level in asked or published.levels(approach):
                        yield figure, approach, level, published.values(figure, approach, level)
            case SlopeTest():
                for approach in test.approaches:
                    low, high = (published.values(figure, approach, level) for level in (min(asked), max(asked)))
                    span = max(asked) - min(asked)
                    yield figure, approach, max(asked), [(b - a) / span for a, b in zip(low, high, strict=False)]


def _products(one: list[float], other: list[float]) -> list[float]:
    return [a * b for a, b in zip(one, other, strict=False)]


def _quotients(upper: list[float], lower: list[float]) -> list[float]:
    return [a / b for a, b in zip(upper, lower, strict=False) if b]


def contradicted(paper: Paper) -> dict[str, list[Own]]:
    """The claims that the paper's own figures speak against, and where."""
    against = {claim.id: [one for one in own_figures(paper, claim) if not one.holds] for claim in paper.claims}
    return {name: found for name, found in against.items() if found}
