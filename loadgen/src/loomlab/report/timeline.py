"""When each run was made, and what it did when."""

import math
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from loomlab.records.models import Run
from loomlab.report.folder import Experiment
from loomlab.report.svg import WIDTH, Scale, box, drawing, line, shortened, text

ROW, TOP, BOTTOM, EDGE, LABEL_WIDTH = 15, 6, 34, 10, 150
MOST_STEPS = 6
STEPS_MIN = (1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 960, 1920)
PHASES = {
    "start": "the approach starts",
    "compile": "warm-up: the compilers",
    "settle": "warm-up: until it is steady",
    "edge": "connect wave and drain",
    "interior": "the interior, which the figures cover",
}
"""Class of a bar, and what it means."""


@dataclass(frozen=True)
class Phase:
    """From and to in epoch seconds."""

    kind: str
    start: float
    end: float


def phases_of(run: Run, loaded: tuple[float, float] | None) -> list[Phase]:
    """`loaded` is when the load began and ended; without it, the interior says it."""
    return [one for one in _phases(run, loaded) if math.isfinite(one.start) and math.isfinite(one.end)]


def _phases(run: Run, loaded: tuple[float, float] | None) -> list[Phase]:
    began, ended = _epoch(run.started), _epoch(run.finished)
    if began is None:
        return []
    ready = began - run.waited_s
    phases = [Phase("start", ready - run.start_s, ready)] if run.start_s else []
    loaded = loaded or _interior(run, ended)
    if run.warmup is not None:
        compiled = began + run.warmup.compiling_s
        warm = began + run.warmup.duration_s if loaded is None else loaded[0]
        phases += [Phase("compile", began, compiled), Phase("settle", compiled, max(warm, compiled))]
    if loaded is not None:
        phases.append(Phase("edge", *loaded))
    if run.interior is not None:
        phases.append(Phase("interior", run.interior.start, run.interior.start + run.interior.seconds))
    return phases


def _interior(run: Run, ended: float | None) -> tuple[float, float] | None:
    if run.interior is not None:
        end = run.interior.start + run.interior.seconds
        return run.interior.start, end if ended is None else min(end, ended)
    return None


def _epoch(iso: str | None) -> float | None:
    try:
        return None if iso is None else datetime.fromisoformat(iso).timestamp()
    except ValueError:
        return None


def timeline(experiment: Experiment) -> Markup | None:
    """One row a run, in the order they were made; None where nothing tells when."""
    rows = [(run, phases_of(run, experiment.loaded(run))) for run in experiment.runs]
    times = [time for _, phases in rows for phase in phases for time in (phase.start, phase.end)]
    if not times or max(times) <= min(times):
        return None
    first = min(times)
    scale = Scale(0, (max(times) - first) / 60, LABEL_WIDTH, WIDTH - EDGE)
    bottom = TOP + ROW * len(rows)
    parts = _minutes(scale, bottom)
    for place, (run, phases) in enumerate(rows):
        y = TOP + ROW * place
        parts.append(text(LABEL_WIDTH - 6, y + 11, shortened(run.run, LABEL_WIDTH - 6), "end", f"row {run.verdict}"))
        for phase in phases:
            start, end = (scale.at((time - first) / 60) for time in (phase.start, phase.end))
            tip = f"{run.run}, {PHASES[phase.kind]}: {phase.end - phase.start:,.0f} s"
            parts.append(box(start, y + 2, end - start, ROW - 4, f"phase {phase.kind}", tip))
    return drawing(bottom + BOTTOM, "the runs over time, with their phases", parts)


def _minutes(scale: Scale, bottom: float) -> list[Markup]:
    longest = STEPS_MIN[-1]
    step = next(
        (one for one in STEPS_MIN if scale.high / one <= MOST_STEPS),
        math.ceil(scale.high / MOST_STEPS / longest) * longest,
    )
    parts = [text((scale.start + scale.end) / 2, bottom + 29, "minutes since the first run began", "middle", "axis")]
    for minute in range(0, int(scale.high) + 1, step):
        parts.append(line(scale.at(minute), TOP, scale.at(minute), bottom, "grid"))
        parts.append(text(scale.at(minute), bottom + 14, f"{minute:,}", "middle", "tick"))
    return parts
