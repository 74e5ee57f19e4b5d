"""What the containers and their processes took: the one under test, the backend, the load generator, and the host."""

from typing import Any

from loomlab.basics.cpus import parse_cpu_list
from loomlab.judge import series
from loomlab.judge.cpu_time import CpuShares, busiest_thread_full_share, cpu_waits_ms, cpus_full_share, shares_of
from loomlab.judge.facts import Facts
from loomlab.judge.request_figures import Counted
from loomlab.judge.series import ratio
from loomlab.records.about import backend_pool, platform_threads
from loomlab.records.models import Container

COUNTED_APART = 0.02
"""So much of a CPU may the kernel's two counters of it differ."""


def container_figures(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Fields of Run. CPU is of what is counted; memory and threads are of the whole run."""
    figures = (
        _under_test(facts, counted) | _backend(facts, counted) | _generator(facts, counted) | _host(facts, counted)
    )
    services = {"": facts.request.approach, "backend_": "backend", "generator_": "loadgen"}
    for prefix, service in services.items():
        cpu_s = counted.per_request(facts.metrics.cpu_seconds(service, *counted.span))
        figures[f"{prefix}cpu_ms_per_request"] = None if cpu_s is None else 1000 * cpu_s
    return figures


def _under_test(facts: Facts, counted: Counted) -> dict[str, Any]:
    """RSS is null under ZGC: its heap is shared memory, which the kernel does not count as RSS."""
    metrics, approach, span = facts.metrics, facts.request.approach, (facts.start, facts.end)
    gc, zgc, peaks_reset = metrics.gc(*span), facts.request.gc == "zgc", facts.host.peaks_reset
    pinned = metrics.scraped_growth("jvm_threads_virtual_pinned_seconds_count", *span)

    def peak(metric: str) -> float | None:
        """Told after the run's end."""
        return series.first_from(metrics.process(metric), facts.end) if peaks_reset else None

    return _cpu(facts, counted) | {
        "container_known": facts.container is not None,
        "container_failure": container_failure(facts.container, facts.start),
        "process_restarts": metrics.process_restarts(*span),
        "oom_kills": series.total(metrics.container("oom_events_total"), *span),
        "metrics_missing_ratio": metrics.missing_ratio(approach, *span),
        "gc": gc,
        "gc_share": gc.share,
        "gc_cpu_share": gc.cpu_share,
        "throttled_ratio": metrics.throttled_ratio(approach, *span),
        "allocated_bytes_per_request": counted.per_request(
            series.total(metrics.process("lab_allocated_bytes_total"), *counted.span)
        ),
        "rss_max_bytes": None if zgc else series.highest(metrics.container("memory_rss"), *span),
        "rss_hwm_bytes": peak("process_memory_hwm_bytes"),
        "vsz_max_bytes": series.highest(metrics.process("process_memory_vss_bytes"), *span),
        "threads_max": series.highest(metrics.container("threads"), *span),
        "platform_threads_peak": peak("jvm_threads_peak_threads"),
        "virtual_threads_pinned": None if pinned is None else round(pinned),
        "about_told": isinstance(facts.about, dict) and "outbound" in facts.about,
        "backend_pool": backend_pool(facts.about),
        "platform_threads": platform_threads(facts.about),
    }


def _cpu(facts: Facts, counted: Counted) -> dict[str, Any]:
    """The approach's CPU and its compilers', and what it was given."""
    metrics, approach, counted_s = facts.metrics, facts.request.approach, counted.end - counted.start
    middle = counted.start + counted_s / 2
    jit_s, early_s, late_s = (
        metrics.scraped_growth("lab_jit_cpu_seconds_total", *span)
        for span in ((facts.start, facts.end), (counted.start, middle), (middle, counted.end))
    )
    cpu_s = metrics.cpu_seconds(approach, *counted.span)
    less_s = None if early_s is None or late_s is None else early_s - late_s
    quota_cpus = metrics.quota_cpus(approach, facts.end)
    shares = _shares(facts, facts.request.approach_cpus, counted)
    idle = None if shares is None or quota_cpus is not None else 1 - shares.busy - shares.interrupts - shares.steal
    return {
        "cpu_seconds": cpu_s,
        "cpus_used": ratio(cpu_s, counted_s),
        "cpus_given": quota_cpus if shares is None else min(shares.cpus, quota_cpus or shares.cpus),
        "idle_share": idle,
        "jit_cpu_seconds": jit_s,
        "jit_cpu_share": ratio(jit_s, metrics.cpu_seconds(approach, facts.start, facts.end)),
        "jit_cpu_fall": ratio(less_s, cpu_s and cpu_s / 2),
        "jit_cores_fall": ratio(less_s, counted_s / 2),
    }


def _backend(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Nothing of how near it was to its limits where no request asks it. Lateness is of the time that latency is taken
    on, up to the backend's first hang: after it, all that waited is due at once."""
    metrics, start, end = facts.metrics, facts.start, facts.end
    requests = series.total(metrics.backend("backend_requests_total"), *counted.span)
    opened = series.total(metrics.backend("backend_connections_total"), start, end)
    # Some seconds around, in which a run that ended at once has samples, too.
    around = (start - series.MISSING_AFTER_S, end + series.MISSING_AFTER_S)
    figures = {
        "backend_delays": facts.delays,
        "backend_requests_per_request": ratio(requests, counted.requests),
        "backend_connections_opened": None if opened is None else round(opened),
        "backend_metrics_missing_ratio": metrics.missing_ratio("backend", *around),
    }
    if not facts.endpoint.backend_calls:
        return figures
    calm_until = min([counted.end, *(start + hang.at_s for hang in facts.request.hangs)])
    return figures | {
        **_limits(facts, "backend", "backend", facts.request.backend_cpus),
        "backend_loop_full": metrics.backend_loop_full_share(start, end),
        "backend_lateness_mean_ms": metrics.backend_lateness_mean_ms(counted.start, calm_until),
        "backend_lateness_p99_ms": metrics.backend_lateness_p99_ms(counted.start, calm_until),
    }


def _generator(facts: Facts, counted: Counted) -> dict[str, Any]:
    samples = facts.host.samples
    wait_mean_ms, wait_p99_ms = cpu_waits_ms(samples, *counted.span)
    return {
        **_limits(facts, "generator", "loadgen", facts.request.generator_cpus),
        "waits_told": any(sample.tool_waits for sample in samples),
        "generator_wait_mean_ms": wait_mean_ms,
        "generator_wait_p99_ms": wait_p99_ms,
        "generator_thread_full": busiest_thread_full_share(samples),
        "syn_retransmits": facts.network_growth("TCPSynRetrans"),
        "connections_opened": facts.network_growth("ActiveOpens"),
    }


def _limits(facts: Facts, prefix: str, service: str, cpus: str) -> dict[str, Any]:
    """How near a container beside the approach was to its CPU limits."""
    span = (service, facts.start, facts.end)
    return {
        f"{prefix}_cpus_full": cpus_full_share(facts.host.samples, parse_cpu_list(cpus)),
        f"{prefix}_quota_full": facts.metrics.quota_full_share(*span),
        f"{prefix}_throttled": facts.metrics.throttled_ratio(*span),
        f"{prefix}_measured": facts.metrics.measured(*span),
    }


def _host(facts: Facts, counted: Counted) -> dict[str, Any]:
    request, samples = facts.request, facts.host.samples
    cpus = (request.approach_cpus, request.backend_cpus, request.generator_cpus)
    approach, backend, generator = (_shares(facts, cpu_list, counted) for cpu_list in cpus)
    shares = {"approach": approach, "backend": backend, "load generator": generator}
    apart = [sample.time - sample.monotonic for sample in samples if sample.monotonic is not None]
    return {
        "host_sampled": bool(samples),
        "foreign_cpu_share": _foreign_share(facts, counted, approach),
        "steal_shares": {part: share.steal for part, share in shares.items() if share} if approach else None,
        "stolen_of_needed": approach.stolen_of_needed if approach else None,
        "clock_step_s": max(apart) - min(apart) if apart else None,
    }


def _shares(facts: Facts, cpus: str, counted: Counted) -> CpuShares | None:
    return shares_of(facts.host.samples, parse_cpu_list(cpus), *counted.span)


def _foreign_share(facts: Facts, counted: Counted, shares: CpuShares | None) -> float | None:
    """What others than the lab's containers took of the approach's CPUs: a lower bound where the kernel charges
    interrupts to whoever runs. Where the container alone used more than was busy without interrupts it does, and they
    are counted with the busy time."""
    spent = _spent_by_lab(facts, counted)
    if shares is None or spent is None:
        return None
    own = spent / shares.cpu_seconds
    busy = shares.busy if own <= shares.busy + COUNTED_APART else shares.busy + shares.interrupts
    return max(busy - own, 0.0)


def _spent_by_lab(facts: Facts, counted: Counted) -> float | None:
    """CPU seconds on the approach's CPUs, of the containers that may run there; None where a container's are not known,
    or may be of other CPUs."""
    request = facts.request
    every = {name for sample in facts.host.samples for name in sample.cpus}
    own_cpus = parse_cpu_list(request.approach_cpus) or every
    beside = {
        "backend": request.backend_cpus,
        "loadgen": request.generator_cpus,
        "prometheus": request.monitoring_cpus,
        "cadvisor": request.monitoring_cpus,
    }
    spent = [facts.metrics.cpu_seconds(request.approach, *counted.span)]
    for service, cpu_list in beside.items():
        cpus = set() if cpu_list is None else parse_cpu_list(cpu_list) or every
        if cpus & own_cpus:
            spent.append(facts.metrics.cpu_seconds(service, *counted.span) if cpus <= own_cpus else None)
    return None if None in spent else sum(seconds or 0.0 for seconds in spent)


def container_failure(container: Container | None, started: float) -> str | None:
    """Why the state of the container under test invalidates a run begun at `started`."""
    if container is None:
        return None
    state, begun = container.state, container.state.started_at.timestamp()
    if state.oom_killed:
        killed = "A process of the container" if state.running else "The container"
        return f"{killed} under test was killed because memory ran out: raise its memory limit."
    if container.restart_count:
        return f"The container under test restarted {container.restart_count} times (the limit is 0)."
    if not state.running:
        return f"The container under test had ended (exit code {state.exit_code}) when the run was over."
    if begun > started:
        return f"The container under test was started {begun - started:.1f} s after the run began."
    return None
