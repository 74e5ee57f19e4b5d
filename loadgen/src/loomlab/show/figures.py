"""The newest judged runs as metrics: a series a run and figure, and one every two approaches of their experiments."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from loomlab.answer.contrasts import what_differs
from loomlab.answer.summary import load_cell
from loomlab.records.models import Run
from loomlab.show.judged import Judged, JudgedRun

MOST_RUNS = 60
LABELS = ("experiment", "run", "approach", "load", "jdk", "verdict")
CONTRAST_LABELS = ("experiment", "a", "b", "kind", "differs")


@dataclass(frozen=True)
class Figure:
    """A figure of the measured phase; a run that lacks it has no series."""

    name: str
    help: str
    of: Callable[[Run], float | None]


def _epoch_s(iso: str | None) -> float | None:
    return None if iso is None else datetime.fromisoformat(iso).timestamp()


def _p99_s(run: Run) -> float | None:
    return None if run.latency_ms.p99 is None else run.latency_ms.p99 / 1000


FIGURES = (
    Figure("lab_result_throughput_rps", "Requests a second, of the interior", lambda run: run.throughput_rps),
    Figure("lab_result_latency_p99_seconds", "p99 as the load generator saw it, of the interior", _p99_s),
    Figure(
        "lab_result_cpu_ms_per_request", "CPU time per request, of the interior", lambda run: run.cpu_ms_per_request
    ),
    Figure("lab_result_rss_max_bytes", "Largest sample of the container's RSS", lambda run: run.rss_max_bytes),
    Figure(
        "lab_result_held_bytes_per_request",
        "What a waiting request holds in all, measured after the run",
        lambda run: run.live_bytes_per_request.total,
    ),
    Figure(
        "lab_result_held_heap_bytes_per_request",
        "The part of that in the heap",
        lambda run: run.live_bytes_per_request.heap,
    ),
    Figure(
        "lab_result_held_stacks_off_heap_bytes_per_request",
        "The part of that in threads' stacks and other memory outside of the heap",
        lambda run: run.live_bytes_per_request.stacks_off_heap,
    ),
    Figure(
        "lab_result_held_kernel_bytes_per_request",
        "The part of that in the kernel's memory",
        lambda run: run.live_bytes_per_request.kernel,
    ),
    Figure(
        "lab_result_allocated_bytes_per_request",
        "What a request allocates in the heap, of the interior",
        lambda run: run.allocated_bytes_per_request,
    ),
    Figure("lab_result_threads_max", "Largest sample of the container's threads", lambda run: run.threads_max),
    Figure("lab_result_started_seconds", "When the run began, its warm-up included", lambda run: _epoch_s(run.started)),
    Figure("lab_result_finished_seconds", "When its measured phase ended", lambda run: _epoch_s(run.finished)),
)


class Results(Collector):
    """`lab_results_info` says at which address the results can be looked at, `lab_result_info` the verdict and the
    reasons of each of the newest runs, each of FIGURES what they measured, and `lab_contrast_info` what two approaches
    of their experiments differ in."""

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
        for figure in FIGURES:
            family = GaugeMetricFamily(figure.name, figure.help, labels=LABELS)
            for one in newest:
                value = figure.of(one.run)
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


def _labels(one: JudgedRun) -> list[str]:
    run = one.run
    return [one.experiment, run.run, run.approach, load_cell(run.load), str(run.jdk), run.verdict]
