"""What the containers and their processes took: the one under test, the backend, the load generator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loomlab.basics.cpus import parse_cpu_list
from loomlab.judge.busy import busiest_thread_full_share, cpus_full_share
from loomlab.judge.facts import Facts
from loomlab.judge.outcome import Outcome
from loomlab.judge.request_figures import RequestFigures
from loomlab.judge.shares import CpuShares, shares_of
from loomlab.judge.waits import told, waits_of
from loomlab.records.about import backend_pool, platform_threads
from loomlab.records.evidence import Evidence
from loomlab.records.models import Container, HostSample

COUNTED_APART = 0.02
"""So much of a CPU may the kernel's two counters of it differ."""


@dataclass(frozen=True)
class ContainerFigures:
    """What containers and processes took. `span` is what figures per request are of; `counted` its requests;
    `one_load`: the load is no ladder of rates, whose figures are those of its steps."""

    facts: Facts
    span: tuple[float, float]
    counted: float | None
    one_load: bool

    def evidence(self) -> dict[str, Any]:
        """Fields of Evidence."""
        return self._under_test() | self._backend() | self._generator() | self._host()

    def _under_test(self) -> dict[str, Any]:
        facts, metrics = self.facts, self.facts.metrics
        start, end = facts.start, facts.end
        gc = metrics.gc(start, end)
        jit_s, cpu_s = metrics.jit_cpu_seconds(start, end), metrics.cpu_seconds(facts.request.approach, start, end)
        less_s, interior_cpu_s = self._compiled_less_s(), metrics.cpu_seconds(facts.request.approach, *self.span)
        half_s = (self.span[1] - self.span[0]) / 2
        return {
            "container_known": facts.container is not None,
            "container_failure": container_failure(facts.container, start),
            "process_restarts": metrics.process_restarts(start, end),
            "oom_kills": metrics.oom_kills(start, end),
            "metrics_missing_ratio": metrics.missing_ratio(start, end),
            "gc_share": gc.share,
            "gc_cpu_share": gc.cpu_share,
            "throttled_ratio": metrics.throttled_ratio(start, end),
            "cpus_used": interior_cpu_s / (2 * half_s) if interior_cpu_s is not None and half_s else None,
            "cpus_given": self._cpus_given(),
            "idle_share": self._idle_share(),
            "jit_cpu_share": jit_s / cpu_s if jit_s is not None and cpu_s else None,
            "jit_cpu_fall": 2 * less_s / interior_cpu_s if less_s is not None and interior_cpu_s else None,
            "jit_cores_fall": less_s / half_s if less_s is not None and half_s else None,
            "about_told": isinstance(facts.about, dict) and "outbound" in facts.about,
            "backend_pool": backend_pool(facts.about),
            "platform_threads": platform_threads(facts.about),
        }

    def _quota(self) -> float | None:
        return self.facts.metrics.quota_cpus(self.facts.request.approach, self.facts.end)

    def _cpus_given(self) -> float | None:
        shares, quota = self._shares(self.facts.request.approach_cpus), self._quota()
        return quota if shares is None else min(shares.cpus, quota or shares.cpus)

    def _idle_share(self) -> float | None:
        shares = self._shares(self.facts.request.approach_cpus)
        if shares is None or self._quota() is not None:
            return None
        return 1 - shares.busy - shares.interrupts - shares.steal

    def _compiled_less_s(self) -> float | None:
        """CPU seconds of the compilers in the span's first half less those in its second."""
        metrics, (first, last) = self.facts.metrics, self.span
        middle = (first + last) / 2
        early_s, late_s = metrics.jit_cpu_seconds(first, middle), metrics.jit_cpu_seconds(middle, last)
        return None if early_s is None or late_s is None else early_s - late_s

    def _backend(self) -> dict[str, Any]:
        """Nothing of how near it was to its limits where no request asks it. Lateness is of the span that latency is
        taken on, up to the backend's first hang: after it, all that waited is due at once."""
        facts, metrics = self.facts, self.facts.metrics
        requests = metrics.backend_growth("backend_requests_total", *self.span)
        found = {
            "backend_delays": facts.delays,
            "backend_requests_per_request": requests / self.counted if requests is not None and self.counted else None,
            "backend_connections_opened": metrics.backend_growth("backend_connections_total", facts.start, facts.end),
        }
        if not facts.endpoint.backend_calls:
            return found
        calm_until = min([self.span[1], *(facts.start + hang.at_s for hang in facts.request.hangs)])
        cpus = parse_cpu_list(facts.request.backend_cpus)
        return found | {
            "backend_cpus_full": cpus_full_share(facts.host.samples, cpus),
            "backend_quota_full": metrics.quota_full_share("backend", facts.start, facts.end),
            "backend_throttled": metrics.throttled_ratio(facts.start, facts.end, "backend"),
            "backend_measured": metrics.measured("backend", facts.start, facts.end),
            "backend_loop_full": metrics.backend_loop_full_share(facts.start, facts.end),
            "backend_lateness_mean_ms": metrics.backend_lateness_mean_ms(self.span[0], calm_until),
            "backend_lateness_p99_ms": metrics.backend_lateness_p99_ms(self.span[0], calm_until),
        }

    def _generator(self) -> dict[str, Any]:
        facts = self.facts
        waits = waits_of(facts.host.samples, *self.span)
        return {
            "waits_told": told(facts.host.samples),
            "generator_wait_mean_ms": waits.mean_ms,
            "generator_wait_p99_ms": waits.p99_ms,
            "generator_measured": facts.metrics.measured("loadgen", facts.start, facts.end),
            "generator_throttled": facts.metrics.throttled_ratio(facts.start, facts.end, "loadgen"),
            "generator_cpus_full": cpus_full_share(facts.host.samples, parse_cpu_list(facts.request.generator_cpus)),
            "generator_thread_full": busiest_thread_full_share(facts.host.samples),
            "generator_quota_full": facts.metrics.quota_full_share("loadgen", facts.start, facts.end),
            "syn_retransmits": facts.growth("TCPSynRetrans"),
            "connections_opened": facts.growth("ActiveOpens"),
        }

    def _host(self) -> dict[str, Any]:
        """What containers of the lab that may run on the approach's CPUs took of them is not foreign."""
        request, samples = self.facts.request, self.facts.host.samples
        sets = {
            "approach": request.approach_cpus,
            "backend": request.backend_cpus,
            "load generator": request.generator_cpus,
        }
        shares = {part: self._shares(cpus) for part, cpus in sets.items()}
        approach = shares["approach"]
        known = {part: share.steal for part, share in shares.items() if share}
        return {
            "host_sampled": bool(samples),
            "foreign_share": self._foreign_share(approach),
            "steal_shares": known if approach else None,
            "stolen_of_needed": approach.stolen_of_needed if approach else None,
            "clock_step_s": clock_step_s(samples),
            "backend_metrics_missing_ratio": self.facts.metrics.backend_missing_ratio(self.facts.start, self.facts.end),
        }

    def _shares(self, cpus: str) -> CpuShares | None:
        return shares_of(self.facts.host.samples, parse_cpu_list(cpus), *self.span)

    def _foreign_share(self, shares: CpuShares | None) -> float | None:
        """A lower bound where the kernel charges interrupts to whoever runs. Where the container alone used more than
        was busy without interrupts it does, and they are counted with the busy time."""
        spent = self._spent_by_lab()
        if shares is None or spent is None:
            return None
        own = spent / shares.cpu_seconds
        busy = shares.busy if own <= shares.busy + COUNTED_APART else shares.busy + shares.interrupts
        return max(busy - own, 0.0)

    def _spent_by_lab(self) -> float | None:
        """CPU seconds on the approach's CPUs; None where a container's are not known, or may be of other CPUs."""
        request = self.facts.request
        here = parse_cpu_list(request.approach_cpus)
        beside = {
            "backend": request.backend_cpus,
            "loadgen": request.generator_cpus,
            "prometheus": request.monitoring_cpus,
            "cadvisor": request.monitoring_cpus,
        }
        lab = [request.approach]
        for service, cpus in beside.items():
            there = parse_cpu_list(cpus or "")
            if cpus is None or not _overlap(here, there):
                continue
            if here is not None and (there is None or not there <= here):
                return None
            lab.append(service)
        spent = [self.facts.metrics.cpu_seconds(service, *self.span) for service in lab]
        return None if None in spent else sum(one or 0.0 for one in spent)

    def published(self, evidence: Evidence) -> dict[str, Any]:
        """Fields of run.json. CPU is of the span; memory and threads are of the whole run. RSS is null under ZGC: its
        heap is shared memory, which the kernel does not count as RSS."""
        metrics, approach = self.facts.metrics, self.facts.request.approach
        start, end = self.facts.start, self.facts.end
        opened = evidence.backend_connections_opened
        return {
            "cpu_seconds": metrics.cpu_seconds(approach, *self.span),
            "cpu_ms_per_request": self._cpu_ms_per_request(approach),
            "allocated_bytes_per_request": self.allocated_bytes_per_request(),
            "backend_cpu_ms_per_request": self._cpu_ms_per_request("backend"),
            "generator_cpu_ms_per_request": self._cpu_ms_per_request("loadgen"),
            "rss_max_bytes": None if self.facts.request.gc == "zgc" else metrics.rss_max_bytes(start, end),
            "rss_hwm_bytes": metrics.rss_hwm_bytes(end) if self.facts.peaks_reset else None,
            "platform_threads_peak": metrics.platform_threads_peak(end) if self.facts.peaks_reset else None,
            "vsz_max_bytes": metrics.vsz_max_bytes(start, end),
            "threads_max": metrics.threads_max(start, end),
            "throttled_ratio": metrics.throttled_ratio(start, end),
            "gc": metrics.gc(start, end),
            "jit_cpu_seconds": metrics.jit_cpu_seconds(start, end),
            "virtual_threads_pinned": metrics.virtual_threads_pinned(start, end),
            "foreign_cpu_share": evidence.foreign_share,
            "steal_shares": evidence.steal_shares,
            "connections_opened": evidence.connections_opened,
            "backend_lateness_mean_ms": evidence.backend_lateness_mean_ms,
            "backend_lateness_p99_ms": evidence.backend_lateness_p99_ms,
            "backend_requests_per_request": evidence.backend_requests_per_request,
            "backend_connections_opened": None if opened is None else round(opened),
        }

    def _cpu_ms_per_request(self, service: str) -> float | None:
        seconds = self._per_request(self.facts.metrics.cpu_seconds(service, *self.span))
        return None if seconds is None else 1000 * seconds

    def allocated_bytes_per_request(self) -> float | None:
        return self._per_request(self.facts.metrics.allocated_bytes(*self.span))

    def _per_request(self, spent: float | None) -> float | None:
        return spent / self.counted if spent is not None and self.counted and self.one_load else None


def clock_step_s(samples: Sequence[HostSample]) -> float | None:
    """How far the wall clock and the one that nobody sets came apart, at most; None where only one was recorded."""
    apart = [sample.time - sample.monotonic for sample in samples if sample.monotonic is not None]
    return max(apart) - min(apart) if apart else None


def _overlap(one: set[str] | None, other: set[str] | None) -> bool:
    """None: every CPU."""
    return one is None or other is None or bool(one & other)


def container_figures(facts: Facts, outcome: Outcome, shown: RequestFigures) -> ContainerFigures:
    """Of the span that requests show."""
    return ContainerFigures(facts, shown.span(facts), shown.counted(outcome), not shown.steps)


def container_failure(container: Container | None, started: float) -> str | None:
    """Why the state of the container under test invalidates a run begun at `started`."""
    if container is None:
        return None
    state = container.state
    if state.oom_killed:
        killed = "A process of the container" if state.running else "The container"
        return f"{killed} under test was killed because memory ran out: raise its memory limit."
    if container.restart_count:
        return f"The container under test restarted {container.restart_count} times (the limit is 0)."
    if not state.running:
        return f"The container under test had ended (exit code {state.exit_code}) when the run was over."
    begun = state.started_at.timestamp()
    if begun > started:
        return f"The container under test was started {begun - started:.1f} s after the run began."
    return None
