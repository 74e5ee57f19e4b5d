"""What each run did when."""

import math
from dataclasses import dataclass
from datetime import datetime

from loomlab.records.models import Run


@dataclass(frozen=True)
class Kind:
    """What a phase is, and the colour of its bar."""

    means: str
    colour: str


PHASES = {
    "start": Kind("the approach starts", "#c9ced5"),
    "compile": Kind("warm-up: the compilers", "#e3b27c"),
    "settle": Kind("warm-up: until it is steady", "#f0d9b5"),
    "edge": Kind("connect wave and drain", "#9cc3e6"),
    "interior": Kind("the interior, which the figures cover", "#2b6ca3"),
}


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
