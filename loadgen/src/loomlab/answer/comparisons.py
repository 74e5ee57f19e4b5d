"""Compares the approaches of an experiment that has repeats."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from loomlab.records.contrasts import BlockRatio, Comparison, Contrast
from loomlab.records.models import Run
from loomlab.statistics import comparison as statistics
from loomlab.statistics.comparison import CPU_PER_REQUEST, FEWEST_BLOCKS, P99, Figure, Observation, Pair
from loomlab.statistics.sentences import left_out, sentence

PRIMARY = CPU_PER_REQUEST
FIGURES: Mapping[Figure, Callable[[Run], float | None]] = {
    CPU_PER_REQUEST: lambda run: run.cpu_ms_per_request,
    P99: lambda run: run.latency_ms.p99,
}


def with_comparisons(contrasts: Sequence[Contrast], runs: Sequence[Run]) -> list[Contrast]:
    """The contrasts, compared within blocks at each load where there are three blocks or more. Declared are the
    controlled ones, for CPU per request; all else is exploratory. Runs that are suspect count, invalid ones do not."""
    if len({run.repeat for run in runs}) < FEWEST_BLOCKS:
        return list(contrasts)
    cells = load_names(runs)
    found = [one for figure in FIGURES for one in _compared(figure, contrasts, runs, cells)]
    numbers = {name: cell for cell, name in cells.items()}
    return [
        contrast.model_copy(
            update={
                "comparisons": [
                    _record(one, numbers[one.pair.load])
                    for one in found
                    if (one.pair.a, one.pair.b) == (contrast.a, contrast.b)
                ]
            }
        )
        for contrast in contrasts
    ]


def _compared(
    figure: Figure, contrasts: Sequence[Contrast], runs: Sequence[Run], cells: Mapping[int, str]
) -> list[statistics.Comparison]:
    from loomlab.statistics.paired import compare  # noqa: PLC0415 - most commands need no scipy, which loads slowly

    measured = [_observation(figure, run, cells[run.cell]) for run in runs]
    loads = [name for name in cells.values() if any(one.load == name and one.value is not None for one in measured)]
    pairs = {kind: _pairs(contrasts, loads, kind) for kind in ("controlled", "stack", "unknown")}
    declared = pairs["controlled"] if figure == PRIMARY else []
    exploratory = [pair for kind in pairs for pair in pairs[kind] if pair not in declared]
    return compare(figure, measured, declared, exploratory)


def _pairs(contrasts: Sequence[Contrast], loads: Sequence[str], kind: str) -> list[Pair]:
    return [Pair(one.a, one.b, load) for load in loads for one in contrasts if one.kind == kind]


def _observation(figure: Figure, run: Run, load: str) -> Observation:
    if run.verdict == "invalid":
        return Observation(run.repeat, run.approach, load, None, f"run {run.run} is invalid")
    return Observation(run.repeat, run.approach, load, FIGURES[figure](run))


def load_names(runs: Sequence[Run]) -> dict[int, str]:
    """Of each cell, all different."""
    names = {run.cell: run.load.label for run in reversed(runs)}
    often = Counter(names.values())
    return {cell: name if often[name] == 1 else f"{name} (load {cell})" for cell, name in sorted(names.items())}


def _record(found: statistics.Comparison, cell: int) -> Comparison:
    interval = found.interval
    return Comparison(
        figure=found.figure.name,
        cell=cell,
        load=found.pair.load,
        margin=found.figure.margin,
        blocks=[BlockRatio(block=one.block, ratio=one.ratio) for one in found.ratios],
        dropped=left_out(found),
        ratio=found.ratio,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        coarse=found.coarse,
        p_value=found.p_value,
        p_holm=found.p_holm,
        word=found.word,
        blocks_needed=found.blocks_needed,
        sentence=sentence(found),
    )


def comparison_notes(contrasts: Sequence[Contrast]) -> list[str]:
    """What is said of the contrasts that were declared, and how to read it."""
    said = [one for contrast in contrasts for one in contrast.comparisons if one.word != "exploratory"]
    if not said:
        return []
    number = f"{len(said)} contrast{'' if len(said) == 1 else 's'}"
    return [
        *(one.sentence + (f" Left out: {'; '.join(one.dropped)}." if one.dropped else "") for one in said),
        f"Intervals are of ratios within blocks, each by itself; lower and higher hold for {number} together, no "
        "difference for each (docs/statistics.md). Suspect runs count, invalid ones do not.",
    ]
