"""The newest judged runs as metrics: a series a run and figure, and one every two approaches of their experiments."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from loomlab.answer.contrasts import what_differs
from loomlab.answer.figures import EVERY, Figure
from loomlab.answer.text import load_cell
from loomlab.records.models import Run
from loomlab.show.judged import Judged, JudgedRun

MOST_RUNS = 60
LABELS = ("experiment", "run", "approach", "load", "jdk", "verdict")
CONTRAST_LABELS = ("experiment", "a", "b", "kind", "differs")


def _epoch_s(iso: str | None) -> float | None:
    return None if iso is None else datetime.fromisoformat(iso).timestamp()


TIMES: dict[str, tuple[str, Callable[[Run], float | None]]] = {
    "started_seconds": ("when the run began, its warm-up included", lambda run: _epoch_s(run.started)),
    "finished_seconds": ("when its measured phase ended", lambda run: _epoch_s(run.finished)),
}


class Results(Collector):
    """`lab_results_info` says at which address the results can be looked at, `lab_result_info` the verdict and the
    reasons of each of the newest runs, each figure that is exported what they measured, and `lab_contrast_info` what
    two approaches of their experiments differ in."""

    def __init__(self, judged: Judged, url: str) -> None:
        self._judged = judged
        self._url = url

    def collect(self) -> Iterator[GaugeMetricFamily]:
        address = GaugeMetricFamily("lab_results_info", "Where the results can be looked at", labels=["url"])
        address.add_metric([self._url], 1)
        yield address
        newest = self._judged.newest(MOST_RUNS)
        info = GaugeMetricFamily("lab_result_info", "The verdict on a run", labels=[*LABELS, "reasons"])
        for one in newest:
            info.add_metric([*_labels(one), " ".join(one.run.reasons)], 1)
        yield info
        for name, meaning, read in _exported():
            family = GaugeMetricFamily(f"lab_result_{name}", meaning, labels=LABELS)
            for one in newest:
                value = read(one.run)
                if value is not None:
                    family.add_metric(_labels(one), value)
            yield family
        yield self._contrasts(dict.fromkeys(one.experiment for one in newest))

    def _contrasts(self, experiments: Iterable[str]) -> GaugeMetricFamily:
        family = GaugeMetricFamily("lab_contrast_info", "What two approaches differ in", labels=CONTRAST_LABELS)
        for experiment in experiments:
            for one in self._judged.contrasts(experiment):
                family.add_metric([experiment, one.a, one.b, one.kind, what_differs(one)], 1)
        return family


def _exported() -> Iterator[tuple[str, str, Callable[[Run], float | None]]]:
    """Name, meaning and value of each metric."""
    for figure in EVERY:
        if figure.exported:
            yield figure.exported.name, figure.meaning, partial(_scaled, figure, figure.exported.scale)
    yield from ((name, meaning, read) for name, (meaning, read) in TIMES.items())


def _scaled(figure: Figure, scale: float, run: Run) -> float | None:
    value = figure.of(run)
    return None if value is None else value * scale


def _labels(one: JudgedRun) -> list[str]:
    run = one.run
    return [one.experiment, run.run, run.approach, load_cell(run.load), str(run.jdk), run.verdict]
