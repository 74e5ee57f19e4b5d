"""What a run did over time, as strips one below the other: the picture that a paper has of each run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loomlab.judge.series import Series, parse_result, select
from loomlab.records.models import Run
from loomlab.report.course import Points, by_second, gauge, rates
from loomlab.report.folder import Experiment
from loomlab.report.palette import Look
from loomlab.report.svg import WIDTH, Panel, Scale, left_axis, line, path, scale_of, text

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 58, 34, 22, 18, 128
LABEL = 10
"""How far the names of curves are apart at least."""
CURVES = {"p50": "curve", "p90": "curve thin", "p99": "curve dashed", "max": "curve thin dashed", "": "curve"}
SECONDS_STEPS = (5, 10, 20, 30, 60, 120, 300, 600, 1200)
MIB = 2.0**20


@dataclass(frozen=True)
class Strip:
    """Curves by their names, `""` where there is one; a `log` scale needs values above 0."""

    title: str
    curves: Mapping[str, Points]
    log: bool = False


@dataclass(frozen=True)
class _Samples:
    """Of one approach, over the seconds of its load."""

    found: Sequence[Series]
    approach: str
    began: float
    seconds: range

    def rate(self, name: str, **labels: str) -> Mapping[str, Points]:
        series = select(self.found, name, service=self.approach, **labels)
        return {"": rates(series[0].samples, self.began, self.seconds) if series else {}}

    def level(self, name: str, divisor: float = 1, **labels: str) -> Mapping[str, Points]:
        points = gauge(select(self.found, name, service=self.approach, **labels), self.began, self.seconds)
        return {"": _over(points, divisor)}


def strips_of(experiment: Experiment, run: Run, *, latency_alone: bool = False) -> list[Strip]:
    """Of one run, from its raw files; a strip without a curve is of what they do not have."""
    loaded = experiment.loaded(run)
    if loaded is None:
        return []
    began, ended = loaded
    raw, seconds = experiment.raw[run.run].raw, range(math.ceil(ended - began))
    latency = by_second(raw / "latency.hlog", began, (50, 90, 99))
    strip = Strip("latency, ms", {name: points for name, points in latency.items() if name != "count"}, log=True)
    if latency_alone:
        return [strip]
    failed = by_second(raw / "failed.hlog", began, ()).get("count", {})
    samples = _Samples(_series(experiment, run), run.approach, began, seconds)
    return [
        strip,
        Strip("failed requests/s", {"": {second: failed.get(second, 0) for second in seconds} if latency else {}}),
        Strip("answered requests/s, by their start", {"": latency.get("count", {})}),
        Strip("CPU of the approach, CPUs", samples.rate("container_cpu_usage_seconds_total", cpu="total")),
        Strip("CPU of its collector, CPUs", samples.rate("lab_gc_cpu_seconds_total")),
        Strip("heap in use, MiB", samples.level("jvm_memory_used_bytes", MIB, area="heap")),
        Strip("RSS, MiB", samples.level("container_memory_rss", MIB)),
        Strip("open connections", samples.level("lab_open_connections")),
    ]


def _series(experiment: Experiment, run: Run) -> list[Series]:
    metrics = experiment.raw_json(run, "metrics.json")
    try:
        return parse_result([*metrics["containers"], *metrics["approach"]])
    except (TypeError, KeyError, ValueError):
        return []


def _over(points: Points, divisor: float) -> Points:
    return {second: value / divisor for second, value in points.items()}


def strip_panels(
    runs: Sequence[tuple[Run, list[Strip]]], looks: Mapping[str, Look], *, named: bool = False
) -> list[list[Panel | None]]:
    """A row for each strip, a column for each run; a row has one scale, so that its columns can be compared. `named`:
    each says its approach."""
    every = [one for _, strips in runs for one in strips]
    last = max((second for one in every for points in one.curves.values() for second in points), default=1)
    xs = Scale(0, last, LEFT, WIDTH - RIGHT)
    rows: list[list[Panel | None]] = []
    for title in dict.fromkeys(one.title for one in every):
        here = [next((one for one in strips if one.title == title), None) for _, strips in runs]
        values = [value for one in here if one for points in one.curves.values() for value in points.values()]
        if not values:
            continue
        log = any(one.log for one in here if one) and max(values) > 3 * min(values) > 0
        ys = scale_of(values, HEIGHT - BOTTOM, TOP, log=log, zero=True)
        row: list[Panel | None] = []
        for (run, _), one in zip(runs, here, strict=True):
            label = f"{run.approach}: {title}" if named else title
            row.append(None if one is None else _panel(run, one, label, (xs, ys), looks))
        rows.append(row)
    return rows


def _panel(run: Run, strip: Strip, label: str, scales: tuple[Scale, Scale], looks: Mapping[str, Look]) -> Panel:
    xs, ys = scales
    parts = left_axis(ys, LEFT, WIDTH - RIGHT, f"{label} (logarithmic)" if ys.log else label)
    step = next((one for one in SECONDS_STEPS if xs.high / one <= 7), SECONDS_STEPS[-1])
    for second in range(0, int(xs.high) + 1, step):
        parts.append(line(xs.at(second), TOP, xs.at(second), HEIGHT - BOTTOM, "grid"))
        parts.append(text(xs.at(second), HEIGHT - BOTTOM + 13, f"{second} s", "middle", "tick"))
    labels: list[tuple[str, float]] = []
    for name, points in strip.curves.items():
        within = [(second, value) for second, value in sorted(points.items()) if value > 0 or not ys.log]
        if len(within) < 2:
            continue
        way = [(xs.at(second), ys.at(value)) for second, value in within]
        parts.append(path(way, CURVES.get(name, "curve"), looks[run.approach].colour))
        labels.append((name, min([way[-1][1] + 4, *(y - LABEL for _, y in labels)])))
    down = max([LABEL - y for _, y in labels] + [0.0])
    parts += [text(WIDTH - RIGHT + 4, y + down, name, class_="tick") for name, y in labels if name]
    return Panel(f"{strip.title} of {run.run} over time", HEIGHT, parts)
