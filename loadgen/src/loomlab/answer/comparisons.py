"""Approaches held against one another within blocks: a block has every approach once, at one load, in one repeat."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from loomlab.answer.again import counting_try, spoilt, tries_of
from loomlab.answer.loads import COUNTED, At, loads_of
from loomlab.records.contrasts import BlockRatio, Comparison, Contrast, Kind
from loomlab.records.models import Run
from loomlab.records.order import Order
from loomlab.statistics import comparison as statistics
from loomlab.statistics.comparison import CPU_PER_REQUEST, FEWEST_BLOCKS, P99, Dropped, Figure, Observation, Pair
from loomlab.statistics.sentences import left_out, sentence
from loomlab.tools.known import resolution_ms

PRIMARY = CPU_PER_REQUEST
PERCENTILES = {"p50 latency": "p50", P99.name: "p99", "p99.9 latency": "p99_9"}
"""Figures, and what `Latency` calls them."""
type Read = Callable[[Run], float | None]
FIGURES: Mapping[Figure, Read] = {
    CPU_PER_REQUEST: lambda run: run.cpu_ms_per_request,
    P99: lambda run: run.latency_ms.p99,
}


@dataclass(frozen=True)
class Held:
    """`kind` is the contrast's."""

    kind: Kind
    found: statistics.Comparison

    @property
    def sentence(self) -> str:
        return sentence(self.found)


def compared(
    figure: Figure, read: Read, contrasts: Sequence[Contrast], loads: Sequence[At], margin: float | None
) -> list[Held]:
    """Controlled contrasts first, each at every load that has both approaches. Of the primary figure, the controlled
    ones were declared beforehand; all else is exploratory. Runs that are suspect count, invalid ones do not, and of
    several tries one does; torn blocks do not. `margin` replaces the figure's."""
    from loomlab.statistics.alltries import compare_tries  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    pairs = [
        (one.kind, Pair(one.a, one.b, at.label))
        for one_kind in (True, False)
        for at in loads
        for one in contrasts
        if (one.kind == "controlled") is one_kind and at.of(one.a) and at.of(one.b)
    ]
    declared = [pair for kind, pair in pairs if kind == "controlled" and figure.name == PRIMARY.name]
    found = compare_tries(
        figure if figure.margin is None else replace(figure, margin=margin or figure.margin),
        [one for at in loads for one in _observations(figure, read, at)],
        declared,
        [pair for _, pair in pairs[len(declared) :]],
    )
    torn = {at.label: [Dropped(*one) for one in at.torn.items()] for at in loads}
    return [
        Held(kind, replace(one, dropped=_by_block([*one.dropped, *torn[pair.load]])))
        for (kind, pair), one in zip(pairs, found, strict=True)
    ]


def _by_block(dropped: Sequence[Dropped]) -> tuple[Dropped, ...]:
    return tuple(sorted(dropped, key=lambda one: one.block))


def _observations(figure: Figure, read: Read, at: At) -> list[Observation]:
    return [_observation(figure, read, at, tries) for tries in tries_of(at.runs) if tries[0].repeat not in at.torn]


def _observation(figure: Figure, read: Read, at: At, tries: Sequence[Run]) -> Observation:
    """In a closed model nothing is sent while an answer is late, so the tail of the latency is a lower bound."""
    run = counting_try(tries)
    counts = run.verdict in COUNTED
    value = read(run)
    withheld = run.latency_ms.withheld.get(PERCENTILES.get(figure.name, ""))
    return Observation(
        run.repeat,
        run.approach,
        at.label,
        value if counts else None,
        withheld if counts else f"run {run.run} is {run.verdict}",
        suspect=run.verdict == "suspect",
        left_out=(bound := _left_out(figure, run, value)),
        lost=bound is None and not counts and not spoilt(run),
        made_again=len(tries) > 1,
        resolution=0 if figure.percentile is None else resolution_ms(run.tool),
        lower_bound=figure.tail and run.load.closed_model,
    )


def _left_out(figure: Figure, run: Run, value: float | None) -> float | None:
    """The figure of a run that does not count for a cause of its own. Where requests that failed reach a percentile, it
    is their time limit: failed requests rank above every answer, and a user waits no longer."""
    if spoilt(run):
        return None
    if value is None and figure.name in PERCENTILES and (run.errors or run.dropped):
        return 1000.0 * run.load.timeout_s
    return None if run.verdict in COUNTED else value


def with_comparisons(
    contrasts: Sequence[Contrast], runs: Sequence[Run], margin: float | None = None, order: Order | None = None
) -> list[Contrast]:
    """The contrasts, compared at each load where there are three blocks or more."""
    if len({run.repeat for run in runs}) < FEWEST_BLOCKS:
        return list(contrasts)
    loads = loads_of(runs, order)
    cells = {at.label: at.cell for at in loads}
    records: dict[tuple[str, str], list[Comparison]] = {}
    for figure, read in FIGURES.items():
        if all(read(run) is None for run in runs):
            continue
        for held in compared(figure, read, contrasts, loads, margin):
            pair = held.found.pair
            records.setdefault((pair.a, pair.b), []).append(_record(held.found, cells[pair.load]))
    return [one.model_copy(update={"comparisons": records.get((one.a, one.b), [])}) for one in contrasts]


def _record(found: statistics.Comparison, cell: int) -> Comparison:
    interval = found.interval
    return Comparison(
        figure=found.figure.name,
        cell=cell,
        load=found.pair.load,
        margin=found.figure.margin,
        blocks=[BlockRatio(block=one.block, ratio=one.effect, suspect=one.suspect) for one in found.effects],
        dropped=left_out(found),
        ratio=found.effect,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        coarse=found.coarse,
        p_value=found.p_value,
        p_holm=found.p_holm,
        word=found.word,
        within_margin=found.within_margin,
        lower_bounds=found.lower_bounds,
        blocks_needed=found.blocks_needed,
        blocks_likely=found.blocks_likely,
        made_again=found.made_again,
        left_out=found.left_out,
        swayed=found.swayed,
        sentence=sentence(found),
    )


def comparison_notes(contrasts: Sequence[Contrast]) -> list[str]:
    """What is said of the contrasts that were declared."""
    return [one.sentence + (f" Left out: {'; '.join(one.dropped)}." if one.dropped else "") for one in _said(contrasts)]


def reading_notes(contrasts: Sequence[Contrast]) -> list[str]:
    """How to read that."""
    said = len(_said(contrasts))
    if not said:
        return []
    number = f"{said} contrast{'' if said == 1 else 's'}"
    return [
        f"Each interval is of one contrast's ratios within blocks; lower and higher hold for {number} together, no "
        "difference and equivalent for each by itself (docs/statistics.md). Suspect runs count, invalid ones do not.",
    ]


def _said(contrasts: Sequence[Contrast]) -> list[Comparison]:
    return [one for contrast in contrasts for one in contrast.comparisons if one.word != "exploratory"]
