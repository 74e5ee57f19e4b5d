"""What the samples of a run (raw/metrics.json) say about the containers and their processes."""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from loomlab.judge import series
from loomlab.judge.limits import BUSY_SECONDS_LIMIT, METRICS_MISSING_LIMIT
from loomlab.judge.series import full_share
from loomlab.records.models import Gc, HostSample
from loomlab.records.raw import CPU_MODES, MetricsLog, Series
from loomlab.run.process import CLOCK_TICKS

SCRAPED_S = 5.0  # so often the database is, by prometheus.yml


class Quota(NamedTuple):
    """Of a container: None without one."""

    cpus: float | None
    throttled: float | None
    """Share of the elapsed periods; their counters appear with the quota, which may be set while the run goes."""
    known: bool  # whether CPU was recorded throughout, so that what has no figure has no quota


class Metrics:
    """Figures over windows of epoch seconds; every figure is None where the samples do not tell."""

    def __init__(self, record: MetricsLog | None, approach: str) -> None:
        self._approach = approach
        log = record or MetricsLog()
        self._containers, self._own, self._backend = log.containers, log.approach, log.backend
        self._database, self._nodes = log.database, log.nodes
        self.clock_off_s = log.clock_off_s

    def container(self, metric: str, service: str | None = None) -> list[Series]:
        return series.select(self._containers, f"container_{metric}", service=service or self._approach)

    def process(self, metric: str) -> list[Series]:
        return series.select(self._own, metric)

    def backend(self, metric: str) -> list[Series]:
        return series.select(self._backend, metric)

    def cpu_seconds(self, start: float, end: float, service: str | None = None) -> float | None:
        """Of all containers of the service, as there may be several load generators."""
        return series.total(self._cpus(service or self._approach), start, end)

    def node_cpu_seconds(self, start: float, end: float) -> float | None:
        """Of all containers of the lab on the approach's node."""
        own, every = self._told_by(), series.select(self._containers, "container_cpu_usage_seconds_total", cpu="total")
        return series.total([one for one in every if one.labels.get("instance") in own], start, end)

    def node_samples(self, service: str | None = None) -> list[HostSample] | None:
        """What the CPUs of the service's node did; None where no exporter tells of a node."""
        if not self._nodes:
            return None
        own, moments = self._told_by(service), defaultdict[float, dict[str, list[int]]](dict)
        for one in self._nodes:
            cpu, mode = (one.labels.get(name, "") for name in ("cpu", "mode"))
            for time, seconds in one.samples if one.labels.get("instance") in own and mode in CPU_MODES else ():
                columns = moments[time].setdefault(cpu, [0] * len(CPU_MODES))
                columns[CPU_MODES.index(mode)] = round(CLOCK_TICKS * seconds)
        return [HostSample(time=time, cpus=cpus, tool_threads={}) for time, cpus in sorted(moments.items())]

    def _told_by(self, service: str | None = None) -> set[str | None]:
        """Which exporters tell of the service's containers."""
        return {one.labels.get("instance") for one in self._cpus(service or self._approach)}

    def missing_ratio(self, service: str, start: float, end: float) -> float:
        return series.missing_ratio(self._cpu(service, start, end), start, end)

    def quota(self, service: str, start: float, end: float) -> Quota:
        usage = self._cpu(service, start, end)
        limit, period = (series.latest(self.container(f"spec_cpu_{one}", service), end) for one in ("quota", "period"))
        cpus = series.ratio(limit, period) if limit and limit > 0 else None
        throttled, periods = (
            series.total(self.container(f"cpu_cfs_{name}_total", service), start, end, "seen")
            for name in ("throttled_periods", "periods")
        )
        times = [time for time, _ in usage.samples if start <= time <= end] if usage else []
        known = self.cpu_seconds(start, end, service) is not None
        known = known and series.missing_share(times, start, end) <= METRICS_MISSING_LIMIT
        return Quota(cpus, series.ratio(throttled, periods), known)

    def process_restarts(self, start: float, end: float) -> int | None:
        """How often the process's or the container's start time changed; None where neither was recorded."""
        starts = [*self.process("process_start_time_seconds"), *self.container("start_time_seconds")]
        times = [series.values_within([start_time], start, end) for start_time in starts]
        return sum(before != after for each in times for before, after in itertools.pairwise(each)) if starts else None

    def backend_loop_full_share(self, start: float, end: float) -> float | None:
        """Of the busiest of the backend's event loops; None as `full_share` of any of them, unless one is full."""
        loops = [series.stretches(loop, start, end) for loop in self.backend("backend_loop_cpu_seconds_total")]
        shares = [full_share(stretches) for stretches in loops if stretches]
        most = max((share for share in shares if share is not None), default=0)
        return most if shares and (None not in shares or most > BUSY_SECONDS_LIMIT) else None

    def backend_lateness_ms(self, spans: Sequence[tuple[float, float]]) -> tuple[float | None, float | None]:
        if spans[0][1] <= spans[0][0]:
            return None, None
        late_s, answers = (
            series.together(series.total(self.backend(f"backend_lateness_seconds_{name}"), *span) for span in spans)
            for name in ("sum", "count")
        )
        scraped = _scraped_before(self._backend, spans[0][0])
        buckets = self.backend("backend_lateness_seconds_bucket") if scraped else []
        p99_s = series.histogram_quantile(buckets, 0.99, spans)
        return series.ratio(late_s and 1000 * late_s, answers), p99_s and 1000 * p99_s

    def database_connections(self, start: float, end: float) -> tuple[float | None, float | None]:
        """The most that were open at once, from the sample before the window on; and how many it takes."""
        opened: dict[float, float] = defaultdict(float)  # by scrape, of which each state has a series
        for state in self._of_database("stat_activity_count"):
            for time, connections in state.samples:
                if start - SCRAPED_S <= time <= end:
                    opened[time] += connections
        return max(opened.values(), default=None), series.latest(self._of_database("settings_max_connections"), end)

    def checkpoints(self, start: float, end: float) -> int | None:
        """That the database began, likewise."""
        kinds = [
            series.values_within(self._of_database(f"stat_checkpointer_num_{kind}_total"), start - SCRAPED_S, end)
            for kind in ("timed", "requested")
        ]
        return round(sum(begun[-1] - begun[0] for begun in kinds)) if all(kinds) else None

    def _of_database(self, name: str) -> list[Series]:
        return series.select(self._database, f"pg_{name}")

    @property
    def of_jvm(self) -> bool:
        return any(one.labels.get("__name__", "").startswith("jvm_") for one in self._own)

    def gc(self, start: float, end: float) -> Gc:
        """Pauses and concurrent phases up to the last scrape of the window; no series of a kind: none happened."""
        end = self._last_scrape(end)
        pause_s, concurrent_s, pauses = (
            self._events(f"jvm_gc_{name}", start, end)
            for name in ("pause_seconds_sum", "concurrent_phase_time_seconds_sum", "pause_seconds_count")
        )
        if pause_s is None or end <= start:
            return Gc()
        longest_s = series.highest(self.process("jvm_gc_pause_seconds_max"), start, end)
        cpu_s = series.total(self.process("lab_gc_cpu_seconds_total"), start, end)
        return Gc(
            pause_seconds=pause_s,
            concurrent_seconds=concurrent_s,
            cpu_seconds=cpu_s,
            share=pause_s / (end - start),
            pauses=None if pauses is None else round(pauses),
            longest_pause_ms=None if longest_s is None else 1000 * longest_s,
            cpu_share=series.ratio(cpu_s, self.cpu_seconds(start, end)),
        )

    def scraped_growth(self, name: str, start: float, end: float) -> float | None:
        """Growth of a counter that the approach's process tells, up to the last scrape of the window."""
        return series.total(self.process(name), start, self._last_scrape(end))

    def _events(self, name: str, start: float, end: float) -> float | None:
        """Growth of the approach's counters that appear with their first event; 0 when none has happened."""
        if not _scraped_before(self._own, start):
            return None
        return series.total(self.process(name), start, end, "zero") or 0.0

    def _last_scrape(self, end: float) -> float:
        return min(end, max((own.samples[-1][0] for own in self._own if own.samples), default=0.0))

    def _cpu(self, service: str, start: float, end: float) -> Series | None:
        """The container with the most samples in the window: an earlier one of the service may still be stored."""
        return max(self._cpus(service), key=lambda usage: len(series.values_within([usage], start, end)), default=None)

    def _cpus(self, service: str) -> list[Series]:
        return series.select(self._containers, "container_cpu_usage_seconds_total", service=service, cpu="total")


def _scraped_before(group: list[Series], start: float) -> bool:
    return any(member.samples and member.samples[0][0] <= start for member in group)
