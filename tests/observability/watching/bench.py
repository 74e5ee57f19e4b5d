"""What watching costs: CPU of Prometheus and cAdvisor, and an approach's throughput with and without them."""

import io
import json
import statistics
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families
from rich import box
from rich.console import Console
from rich.table import Table

from watching.own import Kernel

OBSERVERS = ("prometheus", "cadvisor")
LIMITED_CASES = ("idle", "side-by-side")
LIMIT_CORES = 0.05
COMPARED = (("requests/s", ",.0f", "rate_rps"), ("CPU ms a request", ".3f", "cpu_ms_per_request"))
ANSWERS = "lab_requests_seconds"


@dataclass(frozen=True)
class Sample:
    """One window. `observers` is "with", "without" or, for one that does not count, "warm-up"; CPU is cores by
    service, `engine_cores` what the engine used; `requests_rps` is what each loaded approach counted as answered."""

    case: str
    observers: str
    seconds: float
    cores: dict[str, float]
    engine_cores: float
    threads: dict[str, int]
    requests_rps: dict[str, float]

    @property
    def observer_cores(self) -> float:
        return sum(self.cores.get(service, 0.0) for service in OBSERVERS)

    @property
    def rate_rps(self) -> float:
        """Of all approaches under load."""
        return sum(self.requests_rps.values())

    @property
    def cpu_ms_per_request(self) -> float:
        """Of the approaches under load."""
        return 1000 * sum(self.cores[service] for service in self.requests_rps) / self.rate_rps


def take(case: str, observers: str, kernel: Kernel, ids: dict[str, str], loaded: list[str], seconds: float) -> Sample:
    """Watches for that long; `ids` are the containers' IDs by service."""
    counts, before, engine, start = _answered(loaded), kernel.containers(), _engine_seconds(kernel), time.monotonic()
    time.sleep(seconds)
    after, engine, end = kernel.containers(), _engine_seconds(kernel) - engine, time.monotonic()
    counts_after = _answered(loaded)
    return Sample(
        case,
        observers,
        end - start,
        {name: (after[id_].cpu_seconds - before[id_].cpu_seconds) / (end - start) for name, id_ in ids.items()},
        engine / (end - start),
        {name: after[id_].threads for name, id_ in ids.items()},
        {name: (counts_after[name][1] - count) / (counts_after[name][0] - at) for name, (at, count) in counts.items()},
    )


def _engine_seconds(kernel: Kernel) -> float:
    return kernel.process_cpu_seconds("dockerd") + kernel.process_cpu_seconds("containerd")


def _answered(services: Iterable[str]) -> dict[str, tuple[float, float]]:
    """When each was asked and how many requests it had answered."""
    counts = {}
    for service in services:
        page = httpx.get(f"http://{service}:8081/actuator/prometheus", timeout=20).raise_for_status().text
        families = text_string_to_metric_families(page)
        samples = (sample for family in families for sample in family.samples if sample.name == f"{ANSWERS}_count")
        counts[service] = (time.monotonic(), sum(sample.value for sample in samples))
    return counts


def write(sample: Sample, folder: Path) -> None:
    """As the next file of the folder."""
    number = len(list(folder.glob("sample-*.json"))) + 1
    (folder / f"sample-{number:02}-{sample.case}.json").write_text(json.dumps(asdict(sample), indent=1) + "\n")


def read(folder: Path) -> list[Sample]:
    return [Sample(**json.loads(file.read_text())) for file in sorted(folder.glob("sample-*.json"))]


def table(samples: list[Sample]) -> str:
    """A line a case, and a line for the difference that the observers make where both kinds of window were measured."""
    cases = {case: [one for one in samples if one.case == case] for case in dict.fromkeys(one.case for one in samples)}
    shown = Table(box=box.SIMPLE_HEAD, title="CPU, % of one")
    for column in ("case", "windows", "seconds", *OBSERVERS, "together", "engine", "most threads"):
        shown.add_column(column, justify="left" if column == "case" else "right")
    for case, windows in cases.items():
        shown.add_row(case, *_figures([one for one in windows if one.observers == "with"]))
    text = io.StringIO()
    Console(width=100, file=text).print(shown)
    return "\n".join([text.getvalue(), *(line for windows in cases.values() for line in _difference(windows))])


def _figures(windows: list[Sample]) -> list[str]:
    parts = [[sample.cores[service] for sample in windows] for service in OBSERVERS]
    parts += [[sample.observer_cores for sample in windows], [sample.engine_cores for sample in windows]]
    return [
        str(len(windows)),
        f"{sum(sample.seconds for sample in windows):.0f}",
        *(f"{100 * statistics.mean(part):.2f}" for part in parts),
        f"{max(max(sample.threads.values()) for sample in windows):,}",
    ]


def _difference(samples: list[Sample]) -> list[str]:
    """Medians of both kinds of window, and the ratio of the medians."""
    both = {kind: [one for one in samples if one.observers == kind] for kind in ("with", "without")}
    if not all(both.values()):
        return []
    lines = []
    for what, form, attribute in (
        ("requests/s", ",.0f", "rate_rps"),
        ("CPU ms a request", ".3f", "cpu_ms_per_request"),
    ):
        values = {kind: sorted(getattr(one, attribute) for one in windows) for kind, windows in both.items()}
        middle = {kind: statistics.median(sorted_values) for kind, sorted_values in values.items()}
        spans = ", ".join(
            f"{kind} {middle[kind]:{form}} ({values[kind][0]:{form}} to {values[kind][-1]:{form}})" for kind in values
        )
        lines.append(f"{samples[0].case}: {what} {spans}: {100 * (middle['with'] / middle['without'] - 1):+.1f} %")
    return lines


def over_limit(samples: list[Sample]) -> list[str]:
    """A sentence for each case of LIMITED_CASES that costs more than LIMIT_CORES, or that was not measured."""
    sentences = []
    for case in LIMITED_CASES:
        windows = [sample for sample in samples if (sample.case, sample.observers) == (case, "with")]
        cores = statistics.mean(sample.observer_cores for sample in windows) if windows else None
        if cores is None:
            sentences.append(f"{case} was not measured: run the benchmark to its end.")
        elif cores > LIMIT_CORES:
            sentences.append(
                f"{case}: Prometheus and cAdvisor take {100 * cores:.2f} % of one CPU (the limit is "
                f"{100 * LIMIT_CORES:.0f} %): scrape less, or less often."
            )
    return sentences
