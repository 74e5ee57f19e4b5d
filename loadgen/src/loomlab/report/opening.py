"""The sentences that the page begins with."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from loomlab.answer.loads import COUNTED, At
from loomlab.report.comparisons import comparisons
from loomlab.report.figures import CPU, P99, THROUGHPUT, WAITING, number, spread
from loomlab.report.folder import Experiment

SAME_THROUGHPUT = 1.05
"""The highest over the lowest, up to which approaches are said to answer as much as each other."""
MOSTLY_DELAY = 1.25
"""The median over the shortest latency, up to which it is the delays that requests wait for."""


@dataclass(frozen=True)
class Opening:
    """`answers` are what was declared beforehand, or what can be said in its place; `more` is beside it."""

    answers: list[str]
    more: list[str]


def opening_of(experiment: Experiment) -> Opening:
    answers = [held.sentence for held in comparisons(experiment, CPU) if held.kind == "controlled"]
    if not answers:
        answers = [sentence for at in experiment.loads for sentence in _alone(at, experiment)]
        if len(experiment.approaches) > 1:
            answers.append(
                "No two of these approaches differ in the concurrency model alone: no difference is due to it alone."
            )
    if not any(run.verdict != "invalid" for run in experiment.runs):
        answers.append("Every run is invalid, so no figure counts: see what to doubt.")
    return Opening(answers, list(_more(experiment)))


def _more(experiment: Experiment) -> Iterator[str]:
    floor = [held.sentence for held in comparisons(experiment, CPU) if held.kind == "same"]
    yield from (f"One approach against itself, the lab's own noise floor. {sentence}" for sentence in floor)
    for figure in (P99, WAITING):
        found = [held for held in comparisons(experiment, figure) if held.kind == "controlled"]
        yield from (held.sentence for held in found if held.found.ratio is not None)
    yield from (sentence for at in experiment.loads if (sentence := _throughput(at, experiment)))
    repeats = max(run.repeat for run in experiment.runs)
    if len(experiment.approaches) > 1 and repeats < 5:
        yield f"Each approach was measured {_times(repeats)} per load; REPEATS=5 gives intervals that are not coarse."


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _throughput(at: At, experiment: Experiment) -> str | None:
    """Where it tells nothing apart, because something else sets it."""
    found = [spread(THROUGHPUT, at.counted(name)) for name in experiment.approaches]
    centres = [one.centre for one in found if one is not None and one.centre > 0]
    cause = _cause(at)
    if cause is None or len(centres) < 2 or max(centres) > SAME_THROUGHPUT * min(centres):
        return None
    apart = math.ceil(1000 * (max(centres) / min(centres) - 1)) / 10 or 0.1
    return f"At {at.label} throughput is the same within {apart:.1f} %: {cause}."


def _cause(at: At) -> str | None:
    """The delays, where hardly any request takes longer than the shortest."""
    if not at.runs[0].load.closed_model:
        return "the offered rate sets it"
    latencies = [run.latency_ms for run in at.runs if run.verdict in COUNTED]
    waits = all(one.p50 and one.min and one.p50 <= MOSTLY_DELAY * one.min for one in latencies)
    return "the delays set it" if waits else None


def _alone(at: At, experiment: Experiment) -> Iterator[str]:
    for name in experiment.approaches:
        found = spread(CPU, at.counted(name))
        if found is not None:
            runs = "one run" if found.count == 1 else f"{found.count} runs"
            span = "" if found.count == 1 else f", {number(found.lowest)} to {number(found.highest)}"
            yield f"At {at.label} {name} needs {number(found.centre)} ms of CPU per request ({runs}{span})."
