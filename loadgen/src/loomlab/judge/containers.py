"""What the containers and their processes took: the one under test, the backend, the load generator, and the host."""

from collections.abc import Sequence
from typing import Any

from loomlab.basics.cpus import parse_cpu_list
from loomlab.judge import series
from loomlab.judge.cpu_time import CpuShares, busiest_thread_full_share, cpu_waits_ms, cpus_full_share, shares_of
from loomlab.judge.facts import Facts
from loomlab.judge.request_figures import Counted
from loomlab.records.about import backend_pool, platform_threads
from loomlab.records.models import Container, HostSample

COUNTED_APART = 0.02
"""So much of a CPU may the kernel's two counters of it differ."""


def container_figures(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Fields of Run. CPU is of what is counted; memory and threads are of the whole run."""
    return _under_test(facts, counted) | _backend(facts, counted) | _generator(facts, counted) | _host(facts, counted)


def _under_test(facts: Facts, counted: Counted) -> dict[str, Any]:
    """RSS is null under ZGC: its heap is shared memory, which the kernel does not count as RSS."""
    metrics, start, end, zgc = facts.metrics, facts.start, facts.end, facts.request.gc == "zgc"
    gc, peaks_reset = metrics.gc(start, end), facts.host.peaks_reset
    jit_s, cpu_s = metrics.jit_cpu_seconds(start, end), facts.cpu_seconds(start, end)
    counted_cpu_s, half_s = facts.cpu_seconds(*counted.span), (counted.end - counted.start) / 2
    less_s = _compiled_less_s(facts, counted)
    quota_cpus = metrics.quota_cpus(facts.request.approach, end)
    shares = _shares(facts, facts.request.approach_cpus, counted)
    given = quota_cpus if shares is None else min(shares.cpus, quota_cpus or shares.cpus)
    idle = None if shares is None or quota_cpus is not None else 1 - shares.busy - shares.interrupts - shares.steal
    return {
        "container_known": facts.container is not None,
        "container_failure": container_failure(facts.container, start),
        "process_restarts": metrics.process_restarts(start, end),
        "oom_kills": series.total(metrics.container("oom_events_total"), start, end),
        "metrics_missing_ratio": metrics.missing_ratio(start, end),
        "gc": gc,
        "gc_share": gc.share,
        "gc_cpu_share": gc.cpu_share,
        "throttled_ratio": metrics.throttled_ratio(start, end),
        "cpu_seconds": counted_cpu_s,
        "cpu_ms_per_request": _cpu_ms_per_request(facts, counted, facts.request.approach),
        "cpus_used": counted_cpu_s / (2 * half_s) if counted_cpu_s is not None and half_s else None,
        "cpus_given": given,
        "idle_share": idle,
        "jit_cpu_seconds": jit_s,
        "jit_cpu_share": jit_s / cpu_s if jit_s is not None and cpu_s else None,
        "jit_cpu_fall": 2 * less_s / counted_cpu_s if less_s is not None and counted_cpu_s else None,
        "jit_cores_fall": less_s / half_s if less_s is not None and half_s else None,
        "allocated_bytes_per_request": counted.per_request(
            series.total(metrics.process("lab_allocated_bytes_total"), *counted.span)
        ),
        "rss_max_bytes": None if zgc else series.highest(metrics.container("memory_rss"), start, end),
        "rss_hwm_bytes": series.first_from(metrics.process("process_memory_hwm_bytes"), end) if peaks_reset else None,
        "vsz_max_bytes": series.highest(metrics.process("process_memory_vss_bytes"), start, end),
        "threads_max": series.highest(metrics.container("threads"), start, end),
        "platform_threads_peak": series.first_from(metrics.process("jvm_threads_peak_threads"), end)
        if peaks_reset
        else None,
        "virtual_threads_pinned": metrics.virtual_threads_pinned(start, end),
        "about_told": isinstance(facts.about, dict) and "outbound" in facts.about,
        "backend_pool": backend_pool(facts.about),
        "platform_threads": platform_threads(facts.about),
    }


def _compiled_less_s(facts: Facts, counted: Counted) -> float | None:
    """CPU seconds of the compilers in the first half less those in the second."""
    middle = (counted.start + counted.end) / 2
    early_s = facts.metrics.jit_cpu_seconds(counted.start, middle)
    late_s = facts.metrics.jit_cpu_seconds(middle, counted.end)
    return None if early_s is None or late_s is None else early_s - late_s


def _cpu_ms_per_request(facts: Facts, counted: Counted, service: str) -> float | None:
    seconds = counted.per_request(facts.metrics.cpu_seconds(service, *counted.span))
    return None if seconds is None else 1000 * seconds


def _backend(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Nothing of how near it was to its limits where no request asks it. Lateness is of the time that latency is taken
    on, up to the backend's first hang: after it, all that waited is due at once."""
    metrics, start, end = facts.metrics, facts.start, facts.end
    requests = series.total(metrics.backend("backend_requests_total"), *counted.span)
    opened = series.total(metrics.backend("backend_connections_total"), start, end)
    figures = {
        "backend_delays": facts.delays,
        "backend_cpu_ms_per_request": _cpu_ms_per_request(facts, counted, "backend"),
        "backend_requests_per_request": requests / counted.requests
        if requests is not None and counted.requests
        else None,
        "backend_connections_opened": None if opened is None else round(opened),
        "backend_metrics_missing_ratio": metrics.backend_missing_ratio(start, end),
    }
    if not facts.endpoint.backend_calls:
        return figures
    calm_until = min([counted.end, *(start + hang.at_s for hang in facts.request.hangs)])
    return figures | {
        "backend_cpus_full": cpus_full_share(facts.host.samples, parse_cpu_list(facts.request.backend_cpus)),
        "backend_quota_full": metrics.quota_full_share("backend", start, end),
        "backend_throttled": metrics.throttled_ratio(start, end, "backend"),
        "backend_measured": metrics.measured("backend", start, end),
        "backend_loop_full": metrics.backend_loop_full_share(start, end),
        "backend_lateness_mean_ms": metrics.backend_lateness_mean_ms(counted.start, calm_until),
        "backend_lateness_p99_ms": metrics.backend_lateness_p99_ms(counted.start, calm_until),
    }


def _generator(facts: Facts, counted: Counted) -> dict[str, Any]:
    samples, metrics, start, end = facts.host.samples, facts.metrics, facts.start, facts.end
    wait_mean_ms, wait_p99_ms = cpu_waits_ms(samples, *counted.span)
    return {
        "waits_told": any(sample.tool_waits for sample in samples),
        "generator_wait_mean_ms": wait_mean_ms,
        "generator_wait_p99_ms": wait_p99_ms,
        "generator_measured": metrics.measured("loadgen", start, end),
        "generator_throttled": metrics.throttled_ratio(start, end, "loadgen"),
        "generator_cpus_full": cpus_full_share(samples, parse_cpu_list(facts.request.generator_cpus)),
        "generator_thread_full": busiest_thread_full_share(samples),
        "generator_quota_full": metrics.quota_full_share("loadgen", start, end),
        "generator_cpu_ms_per_request": _cpu_ms_per_request(facts, counted, "loadgen"),
        "syn_retransmits": facts.network_growth("TCPSynRetrans"),
        "connections_opened": facts.network_growth("ActiveOpens"),
    }


def _host(facts: Facts, counted: Counted) -> dict[str, Any]:
    request = facts.request
    cpus = {
        "approach": request.approach_cpus,
        "backend": request.backend_cpus,
        "load generator": request.generator_cpus,
    }
    shares = {part: _shares(facts, cpu_list, counted) for part, cpu_list in cpus.items()}
    approach = shares["approach"]
    return {
        "host_sampled": bool(facts.host.samples),
        "foreign_cpu_share": _foreign_share(facts, counted, approach),
        "steal_shares": {part: share.steal for part, share in shares.items() if share} if approach else None,
        "stolen_of_needed": approach.stolen_of_needed if approach else None,
        "clock_step_s": clock_step_s(facts.host.samples),
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
    own_cpus = parse_cpu_list(request.approach_cpus)
    beside = {
        "backend": request.backend_cpus,
        "loadgen": request.generator_cpus,
        "prometheus": request.monitoring_cpus,
        "cadvisor": request.monitoring_cpus,
    }
    lab = [request.approach]
    for service, cpus in beside.items():
        its_cpus = parse_cpu_list(cpus or "")
        if cpus is None or not (own_cpus is None or its_cpus is None or own_cpus & its_cpus):
            continue
        if own_cpus is not None and (its_cpus is None or not its_cpus <= own_cpus):
            return None
        lab.append(service)
    spent = [facts.metrics.cpu_seconds(service, *counted.span) for service in lab]
    return None if None in spent else sum(seconds or 0.0 for seconds in spent)


def clock_step_s(samples: Sequence[HostSample]) -> float | None:
    """How far the wall clock and the one that nobody sets came apart, at most; None where only one was recorded."""
    apart = [sample.time - sample.monotonic for sample in samples if sample.monotonic is not None]
    return max(apart) - min(apart) if apart else None


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
