"""What the samples of a run (raw/metrics.json) say about the containers and their processes."""

import itertools
from typing import Any

from loomlab.basics.errors import ParseError
from loomlab.judge import series
from loomlab.judge.cpu_time import full_share
from loomlab.judge.limits import BUSY_SECONDS_LIMIT, METRICS_MISSING_LIMIT
from loomlab.judge.series import Series
from loomlab.records.models import Gc

START_TIME = "process_start_time_seconds"


class Metrics:
    """Figures over windows of epoch seconds; every figure is None where the samples do not tell."""

    def __init__(self, record: Any, approach: str) -> None:
        self._approach = approach
        try:
            record = dict(record or {})
            self._containers = series.parse_result(record.get("containers", []))
            self._own = series.parse_result(record.get("approach", []))
            self._backend = series.parse_result(record.get("backend", []))
        except (TypeError, ValueError) as error:
            raise ParseError("metrics.json does not hold Prometheus results: measure again.") from error

    def container(self, metric: str, service: str | None = None) -> list[Series]:
        """Samples of a metric of a service's containers, by default of the approach's."""
        return series.select(self._containers, f"container_{metric}", service=service or self._approach)

    def process(self, metric: str) -> list[Series]:
        """Samples of a metric that the approach's process tells."""
        return series.select(self._own, metric)

    def backend(self, metric: str) -> list[Series]:
        """Samples of a metric that the backend tells."""
        return series.select(self._backend, metric)

    def cpu_seconds(self, service: str, start: float, end: float) -> float | None:
        """CPU time of a service's container."""
        usage = self._cpu(service, start, end)
        return series.increase(usage, start, end) if usage else None

    def missing_ratio(self, start: float, end: float) -> float:
        """The share of the window without samples of the approach's CPU time."""
        return series.missing_ratio(self._cpu(self._approach, start, end), start, end)

    def backend_missing_ratio(self, start: float, end: float) -> float:
        """The share without samples of the backend's CPU time; with some seconds around, in which a run that ended at
        once has samples, too."""
        start, end = start - series.MISSING_AFTER_S, end + series.MISSING_AFTER_S
        return series.missing_ratio(self._cpu("backend", start, end), start, end)

    def measured(self, service: str, start: float, end: float) -> bool:
        """Whether its CPU was recorded throughout, so that what has no figure has no quota."""
        usage = self._cpu(service, start, end)
        if usage is None or self.cpu_seconds(service, start, end) is None:
            return False
        times = [time for time, _ in usage.samples if start <= time <= end]
        limited = self.quota_cpus(service, end) is not None
        hidden = limited and self.quota_full_share(service, start, end) is None
        return not hidden and series.missing_share(times, start, end) <= METRICS_MISSING_LIMIT

    def throttled_ratio(self, start: float, end: float, service: str | None = None) -> float | None:
        """Throttled ÷ elapsed quota periods, by default of the approach; None without a quota. The counters appear with
        the quota, which may be set while the run goes."""
        throttled, periods = (
            series.total(self.container(f"cpu_cfs_{name}_total", service), start, end, "seen")
            for name in ("throttled_periods", "periods")
        )
        return throttled / periods if throttled is not None and periods else None

    def process_restarts(self, start: float, end: float) -> int | None:
        """How often the process's or the container's start time changed; None where neither was recorded."""
        starts = [*self.process(START_TIME), *self.container("start_time_seconds")]
        changes = (
            before != after
            for start_time in starts
            for before, after in itertools.pairwise(series.values_within([start_time], start, end))
        )
        return sum(changes) if starts else None

    def quota_full_share(self, service: str, start: float, end: float) -> float | None:
        """Share of the time in which the service used all of its CPU quota; None without a quota, and as
        `full_share`."""
        cpus, usage = self.quota_cpus(service, end), self._cpu(service, start, end)
        return None if usage is None or cpus is None else full_share(series.stretches(usage, start, end, cpus))

    def quota_cpus(self, service: str, end: float) -> float | None:
        """The service's CPU quota in CPUs; None without a quota."""
        quota = series.latest(self.container("spec_cpu_quota", service), end)
        period = series.latest(self.container("spec_cpu_period", service), end)
        return quota / period if quota and quota > 0 and period else None

    def backend_loop_full_share(self, start: float, end: float) -> float | None:
        """Of the busiest of the backend's event loops; None as `full_share` of any of them, unless one is full."""
        loops = [series.stretches(loop, start, end, 1) for loop in self.backend("backend_loop_cpu_seconds_total")]
        shares = [full_share(stretches) for stretches in loops if stretches]
        most = max((share for share in shares if share is not None), default=0)
        return most if shares and (None not in shares or most > BUSY_SECONDS_LIMIT) else None

    def backend_lateness_p99_ms(self, start: float, end: float) -> float | None:
        """How late the backend's answers were, at p99."""
        if not _scraped_before(self._backend, start):
            return None
        seconds = series.histogram_quantile(self.backend("backend_lateness_seconds_bucket"), 0.99, start, end)
        return None if seconds is None else 1000 * seconds

    def backend_lateness_mean_ms(self, start: float, end: float) -> float | None:
        """How late the backend's answers were, on average."""
        late_s, answers = (
            series.total(self.backend(f"backend_lateness_seconds_{name}"), start, end) for name in ("sum", "count")
        )
        return 1000 * late_s / answers if late_s is not None and answers and end > start else None

    def served_requests(self, label: str, start: float, end: float) -> int | None:
        """Answers the approach itself counted under that endpoint label."""
        count = self._events("lab_requests_seconds_count", start, end, endpoint=label)
        return None if count is None else round(count)

    def gc(self, start: float, end: float) -> Gc:
        """Pauses and concurrent phases up to the last scrape of the window, for a busy process answers scrapes late; no
        series of a kind means that none happened, if the process was scraped."""
        end = self._last_scrape(end)
        pause_s = self._events("jvm_gc_pause_seconds_sum", start, end)
        concurrent_s = self._events("jvm_gc_concurrent_phase_time_seconds_sum", start, end)
        if pause_s is None or concurrent_s is None or end <= start:
            return Gc()
        pauses = self._events("jvm_gc_pause_seconds_count", start, end)
        longest_s = series.highest(self.process("jvm_gc_pause_seconds_max"), start, end)
        cpu_s = series.total(self.process("lab_gc_cpu_seconds_total"), start, end)
        spent_s = self.cpu_seconds(self._approach, start, end)
        return Gc(
            pause_seconds=pause_s,
            concurrent_seconds=concurrent_s,
            cpu_seconds=cpu_s,
            share=pause_s / (end - start),
            pauses=None if pauses is None else round(pauses),
            longest_pause_ms=None if longest_s is None else 1000 * longest_s,
            cpu_share=cpu_s / spent_s if cpu_s is not None and spent_s else None,
        )

    def jit_cpu_seconds(self, start: float, end: float) -> float | None:
        """CPU time of the JVM's compiler threads, up to the last scrape of the window."""
        return series.total(self.process("lab_jit_cpu_seconds_total"), start, self._last_scrape(end))

    def virtual_threads_pinned(self, start: float, end: float) -> int | None:
        """Pinned events the JDK recorded, up to the last scrape of the window."""
        events = series.total(self.process("jvm_threads_virtual_pinned_seconds_count"), start, self._last_scrape(end))
        return None if events is None else round(events)

    def _events(self, name: str, start: float, end: float, **labels: str) -> float | None:
        """Growth of the approach's counters that appear with their first event; 0 when none has happened."""
        heartbeats = self.process(START_TIME)
        alive = any(series.value_at(list(beat.samples), end) is not None for beat in heartbeats)
        if not alive or not _scraped_before(self._own, start):
            return None
        return series.total(series.select(self._own, name, **labels), start, end, "zero") or 0.0

    def _last_scrape(self, end: float) -> float:
        """The last time, up to the end of the window, at which the approach was scraped."""
        return min(end, max((own.samples[-1][0] for own in self._own if own.samples), default=0.0))

    def _cpu(self, service: str, start: float, end: float) -> Series | None:
        """The container with the most samples in the window: an earlier one of the service may still be stored."""
        candidates = [
            usage for usage in self.container("cpu_usage_seconds_total", service) if usage.labels.get("cpu") == "total"
        ]
        return max(candidates, key=lambda usage: len(series.values_within([usage], start, end)), default=None)


def _scraped_before(group: list[Series], start: float) -> bool:
    return any(member.samples and member.samples[0][0] <= start for member in group)
