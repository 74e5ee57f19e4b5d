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
        self._approach_name = approach
        try:
            record = dict(record or {})
            self._containers = series.parse_result(record.get("containers", []))
            self._own = {
                approach: series.parse_result(record.get("approach", [])),
                "backend": series.parse_result(record.get("backend", [])),
            }
        except (TypeError, ValueError) as error:
            raise ParseError("metrics.json does not hold Prometheus results: measure again.") from error

    def cpu_seconds(self, service: str, start: float, end: float) -> float | None:
        one = self._cpu(service, start, end)
        return series.increase(one, start, end) if one else None

    def missing_ratio(self, start: float, end: float) -> float:
        return series.missing_ratio(self._cpu(self._approach_name, start, end), start, end)

    def backend_missing_ratio(self, start: float, end: float) -> float:
        """With some seconds around, in which a run that ended at once has samples, too."""
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

    def rss_max_bytes(self, start: float, end: float) -> float | None:
        return series.highest(self._container("memory_rss"), start, end)

    def threads_max(self, start: float, end: float) -> float | None:
        return series.highest(self._container("threads"), start, end)

    def rss_hwm_bytes(self, end: float) -> float | None:
        """The kernel's mark of the process's RSS, with mapped files, since the run's start."""
        return series.first_from(self._series("process_memory_hwm_bytes"), end)

    def platform_threads_peak(self, end: float) -> float | None:
        """The JVM's mark of its platform threads since the run's start, without threads of its own."""
        return series.first_from(self._series("jvm_threads_peak_threads"), end)

    def vsz_max_bytes(self, start: float, end: float) -> float | None:
        return series.highest(self._series("process_memory_vss_bytes"), start, end)

    def throttled_ratio(self, start: float, end: float, service: str | None = None) -> float | None:
        """Throttled ÷ elapsed quota periods, by default of the approach; None without a quota. The counters appear with
        the quota, which may be set while the run goes."""
        counters = ("cpu_cfs_throttled_periods_total", "cpu_cfs_periods_total")
        throttled, periods = (
            series.total(self._container(name, service), start, end, series.increase_since_seen) for name in counters
        )
        return throttled / periods if throttled is not None and periods else None

    def oom_kills(self, start: float, end: float) -> float | None:
        return series.total(self._container("oom_events_total"), start, end)

    def process_restarts(self, start: float, end: float) -> int | None:
        """How often the process's or the container's start time changed; None where neither was recorded."""
        times = [
            *series.select(self._own[self._approach_name], START_TIME),
            *self._container("start_time_seconds"),
        ]
        if not times:
            return None
        return sum(
            after != before
            for one in times
            for before, after in itertools.pairwise([value for time, value in one.samples if start <= time <= end])
        )

    def quota_full_share(self, service: str, start: float, end: float) -> float | None:
        """Of the time in which the service used all of its CPU quota; None without a quota, and as `full_share`."""
        cpus, usage = self.quota_cpus(service, end), self._cpu(service, start, end)
        return None if usage is None or cpus is None else full_share(series.stretches(usage, start, end, cpus))

    def quota_cpus(self, service: str, end: float) -> float | None:
        """The service's CPU quota in CPUs; None without a quota."""
        quota = series.latest(self._container("spec_cpu_quota", service), end)
        period = series.latest(self._container("spec_cpu_period", service), end)
        return quota / period if quota and quota > 0 and period else None

    def backend_loop_full_share(self, start: float, end: float) -> float | None:
        """Of the busiest of the backend's event loops; None as `full_share` of any of them, unless one is full."""
        loops = series.select(self._own["backend"], "backend_loop_cpu_seconds_total")
        shares = [full_share(found) for one in loops if (found := series.stretches(one, start, end, 1))]
        highest = max((share for share in shares if share is not None), default=0)
        return highest if shares and (None not in shares or highest > BUSY_SECONDS_LIMIT) else None

    def backend_connections(self, end: float) -> float | None:
        """Open ones, at the end of the window."""
        return series.latest(series.select(self._own["backend"], "backend_open_connections"), end)

    def backend_lateness_p99_ms(self, start: float, end: float) -> float | None:
        if not self._scraped_before("backend", start):
            return None
        buckets = series.select(self._own["backend"], "backend_lateness_seconds_bucket")
        seconds = series.histogram_quantile(buckets, 0.99, start, end)
        return None if seconds is None else 1000 * seconds

    def backend_lateness_mean_ms(self, start: float, end: float) -> float | None:
        if end <= start:
            return None
        late_s = self.backend_growth("backend_lateness_seconds_sum", start, end)
        answers = self.backend_growth("backend_lateness_seconds_count", start, end)
        return 1000 * late_s / answers if late_s is not None and answers else None

    def served_requests(self, label: str, start: float, end: float) -> int | None:
        """Answers the approach itself counted under that endpoint label."""
        counted = self._own_total("lab_requests_seconds_count", start, end, endpoint=label)
        return None if counted is None else round(counted)

    def gc(self, start: float, end: float) -> Gc:
        """Pauses and concurrent phases up to the last scrape of the window, for a busy process answers scrapes late; no
        series of a kind means that none happened, if the process was scraped."""
        end = min(end, self._last_scrape(self._approach_name))
        pause = self._own_total("jvm_gc_pause_seconds_sum", start, end)
        concurrent = self._own_total("jvm_gc_concurrent_phase_time_seconds_sum", start, end)
        if pause is None or concurrent is None or end <= start:
            return Gc()
        pauses = self._own_total("jvm_gc_pause_seconds_count", start, end)
        longest_s = series.highest(self._series("jvm_gc_pause_seconds_max"), start, end)
        cpu_s = self._own_growth("lab_gc_cpu_seconds_total", start, end)
        spent_s = self.cpu_seconds(self._approach_name, start, end)
        return Gc(
            pause_seconds=pause,
            concurrent_seconds=concurrent,
            cpu_seconds=cpu_s,
            share=pause / (end - start),
            pauses=None if pauses is None else round(pauses),
            longest_pause_ms=None if longest_s is None else 1000 * longest_s,
            cpu_share=cpu_s / spent_s if cpu_s is not None and spent_s else None,
        )

    def allocated_bytes(self, start: float, end: float) -> float | None:
        """On the heap, by all threads of the JVM but the one that answers scrapes."""
        return self._own_growth("lab_allocated_bytes_total", start, end)

    def jit_cpu_seconds(self, start: float, end: float) -> float | None:
        """Of the JVM's compiler threads, up to the last scrape of the window."""
        return self._own_growth("lab_jit_cpu_seconds_total", start, min(end, self._last_scrape(self._approach_name)))

    def virtual_threads_pinned(self, start: float, end: float) -> int | None:
        """Pinned events the JDK recorded, up to the last scrape of the window."""
        end = min(end, self._last_scrape(self._approach_name))
        events = self._own_growth("jvm_threads_virtual_pinned_seconds_count", start, end)
        return None if events is None else round(events)

    def backend_growth(self, counter: str, start: float, end: float) -> float | None:
        """Of one of the backend's counters, such as `backend_requests_total`."""
        return series.total(series.select(self._own["backend"], counter), start, end)

    def _own_growth(self, name: str, start: float, end: float) -> float | None:
        """Growth of the approach's counters that are there from its start."""
        return series.total(self._series(name), start, end)

    def _series(self, name: str) -> list[Series]:
        return series.select(self._own[self._approach_name], name)

    def _own_total(self, name: str, start: float, end: float, **labels: str) -> float | None:
        """Growth of the approach's counters that appear with their first event; 0 when none has happened."""
        own = self._own[self._approach_name]
        if not self._scraped_before(self._approach_name, start):
            return None
        heartbeats = series.select(own, START_TIME)
        if all(series.value_at(list(one.samples), end) is None for one in heartbeats):
            return None
        return series.total(series.select(own, name, **labels), start, end, series.increase_from_zero) or 0.0

    def _last_scrape(self, service: str) -> float:
        return max((one.samples[-1][0] for one in self._own[service] if one.samples), default=0.0)

    def _scraped_before(self, service: str, start: float) -> bool:
        return any(one.samples and one.samples[0][0] <= start for one in self._own[service])

    def _container(self, metric: str, service: str | None = None) -> list[Series]:
        return series.select(self._containers, f"container_{metric}", service=service or self._approach_name)

    def _cpu(self, service: str, start: float, end: float) -> Series | None:
        """The container with the most samples in the window: an earlier one of the service may still be stored."""
        candidates = series.select(self._containers, "container_cpu_usage_seconds_total", service=service, cpu="total")
        return max(candidates, key=lambda one: sum(start <= time <= end for time, _ in one.samples), default=None)
