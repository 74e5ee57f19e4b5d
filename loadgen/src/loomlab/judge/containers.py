"""What the containers and their processes took, the host too; and what a waiting request held in the one under test."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from loomlab.basics.grouping import parse_cpu_list
from loomlab.judge import series
from loomlab.judge.facts import Facts
from loomlab.judge.limits import SEE_LOG
from loomlab.judge.request_figures import Counted
from loomlab.judge.series import busiest_thread_full_share, cpu_waits_ms, cpus_full_share, ratio, tool_cpu_seconds
from loomlab.records.models import Container, Gc, HostLog, HostSample
from loomlab.records.raw import MemoryLog, about_number, platform_threads
from loomlab.run.shares import MISSING_AFTER_S, CpuShares, shares_of

HEAP = "jvm_memory_used_bytes"
COUNTED_APART = 0.02  # so much of a CPU may the kernel's two counters of it differ
FEWEST_WAITING, MOST_LEFT = 0.9, 0.1  # of the short load's connections; and requests of the load before it
MOST_KEPT, SPARE, SPARE_PER_CPU = 1.1, 10, 2
"""Threads, or backend connections, for each waiting request; and those that no request accounts for."""
FEWEST_REQUESTS = 100  # of which stacks, off-heap and kernel are told: other memory moves by 1 MB and more
MOST_SHRUNK = 0.1  # of the heap that requests held: pools that close connections free memory that no request held
TOO_FEW = f"its memory was not reported, fewer than {FEWEST_REQUESTS} requests waited, or"
UNKNOWN = {
    "heap": "its memory was not reported, or shrank meanwhile",
    "stacks_off_heap": f"{TOO_FEW} threads were kept for more",
    "kernel": f"{TOO_FEW} threads or backend connections were kept for more",
}
"""Why a part may not be known."""
type Cpus = tuple[Sequence[HostSample], set[str] | None]
"""What the CPUs did where a service ran, and which of them it had; None: all."""
OUTSIDE = "Only the client's side is known: the lab does not run the service, so CPU, memory, threads and GC are not."


def container_figures(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Fields of Run. CPU is of what is counted; memory and threads are of the whole run."""
    each = counted.requests if counted.one_load else None
    allocated = counted.sum(partial(series.total, facts.metrics.process("lab_allocated_bytes_total")))
    figures: dict[str, Any] = {"allocated_bytes_per_request": ratio(allocated, each)}
    services = {"": facts.request.name, "backend_": "backend", "database_": "database", "generator_": "loadgen"}
    for prefix, service in services.items():
        cpu_s = counted.sum(partial(facts.metrics.cpu_seconds, service=service))
        figures[f"{prefix}cpu_ms_per_request"] = ratio(cpu_s and 1000 * cpu_s, each)
    for part in (_under_test, _cpu, _backend, _database, _generator):
        figures |= part(facts, counted)
    return figures | (_outside(facts, counted) if facts.request.outside else {})


def _under_test(facts: Facts, counted: Counted) -> dict[str, Any]:
    """RSS is null under ZGC: its heap is shared memory, which the kernel does not count as RSS."""
    metrics, approach, span = facts.metrics, facts.request.name, (facts.start, facts.end)
    about = facts.about if isinstance(facts.about, dict) else {}
    told = about.get("approach", approach)
    # Between its slices a side may rest, and its counter with it.
    spans = counted.spans if facts.slices else [span]
    gc = Gc() if facts.request.foreign and not metrics.of_jvm else metrics.gc(*span)
    zgc = facts.request.gc == "zgc" or any("ZGC" in one.labels.get("id", "") for one in metrics.process(HEAP))
    if facts.slices:  # it idles while its partner is loaded, and not in slices that were made again
        again = [one for one in facts.slices.disturbed if facts.start < one.started < facts.end]
        again_s = sum(one.ended - one.started for one in again)
        gc = gc.model_copy(update={"share": ratio(gc.pause_seconds, counted.seconds + again_s)})
    pinned = metrics.scraped_growth("jvm_threads_virtual_pinned_seconds_count", *span)
    memory = [series.highest(metrics.process(f"process_memory_{kind}_bytes"), *span) for kind in ("swap", "rss")]
    # Told after the run's end.
    marks = metrics.process("process_memory_hwm_bytes") if facts.host.peaks_reset else []
    rss_hwm = series.values_within(marks, facts.end, math.inf)
    return {
        "container_known": facts.container is not None,
        "container_failure": container_failure(facts.container, facts.start, facts.last_answer),
        "process_restarts": metrics.process_restarts(*span),
        "swapped_ratio": ratio(*memory),
        "metrics_missing_ratio": fmean(
            [metrics.missing_ratio(approach, *each) for each in spans], [end - start or 1 for start, end in spans]
        ),
        "gc": gc,
        "gc_share": gc.share,
        "gc_cpu_share": gc.cpu_share,
        "throttled_ratio": metrics.quota(approach, *span).throttled,
        "rss_max_bytes": None if zgc else series.highest(metrics.container("memory_rss"), *span),
        "rss_hwm_bytes": rss_hwm[0] if rss_hwm else None,
        "vsz_max_bytes": series.highest(metrics.process("process_memory_vss_bytes"), *span),
        "threads_max": series.highest(metrics.container("threads"), *span),
        "virtual_threads_pinned": None if pinned is None else round(pinned),
        "about_told": "outbound" in about,
        "other_approach": None if told == approach else f"{told!r:.60}",
        "backend_pool": about_number(facts.about, "outbound", "max_connections_per_route"),
        "database_pool": about_number(facts.about, "database", "max_connections"),
        "platform_threads": platform_threads(facts.about),
        "limit": about_number({"own": about}, "own", "limit"),
    }


def _cpu(facts: Facts, counted: Counted) -> dict[str, Any]:
    metrics, request = facts.metrics, facts.request
    compilers_s = partial(metrics.scraped_growth, "lab_jit_cpu_seconds_total")
    jit_s, (early_s, late_s) = compilers_s(facts.start, facts.end), (half.sum(compilers_s) for half in counted.halves())
    cpu_s = counted.sum(metrics.cpu_seconds)
    less_s = None if early_s is None or late_s is None else early_s - late_s
    quota_cpus = metrics.quota(request.name, facts.start, facts.end).cpus
    cpus = {
        "approach": _cpus_of(facts, request.name, request.approach_cpus),
        "backend": _cpus_of(facts, "backend", request.backend_cpus),
        "load generator": (facts.host.samples, parse_cpu_list(request.generator_cpus)),
    }
    shares = {part: shares_of(*own, counted.spans) for part, own in cpus.items()}
    own = shares["approach"]
    apart = [sample.time - sample.monotonic for sample in facts.host.samples if sample.monotonic is not None]
    return {
        "cpu_seconds": cpu_s,
        "cpus_used": ratio(cpu_s, counted.seconds),
        "cpus_given": min(own.cpus, quota_cpus or own.cpus) if own else quota_cpus,
        "idle_share": None if own is None or quota_cpus is not None else 1 - own.needed,
        "jit_cpu_seconds": jit_s,
        "jit_cpu_share": ratio(jit_s, facts.metrics.cpu_seconds(facts.start, facts.end)),
        "jit_cpu_fall": ratio(less_s, cpu_s and cpu_s / 2),
        "jit_cores_fall": ratio(less_s, counted.seconds / 2),
        "foreign_cpu_share": _foreign_share(facts, counted, own) if own else None,
        "steal_shares": {part: share.steal for part, share in shares.items() if share} if own else None,
        "stolen_of_needed": own.stolen_of_needed if own else None,
        "host_sampled": bool(facts.host.samples),
        "clock_step_s": max(max(apart) - min(apart), facts.metrics.clock_off_s) if apart else None,
    }


def _cpus_of(facts: Facts, service: str, cpus: str) -> Cpus:
    """Of a node of its own a service has all."""
    of_node = facts.metrics.node_samples(service)
    if of_node is None:
        return facts.host.samples, parse_cpu_list(cpus)
    return [sample for sample in of_node if facts.start - 1 <= sample.time <= facts.end + 1], None


def _foreign_share(facts: Facts, counted: Counted, shares: CpuShares) -> float | None:
    """None where a container's CPU is not known, or may be of other CPUs; else a lower bound
    (docs/reference/verdict.md)."""
    spent = [counted.sum(facts.metrics.node_cpu_seconds)]
    if facts.metrics.node_samples() is None:
        spent = _spent_on_own(facts, counted)
    if None in spent:
        return None
    own = sum(seconds or 0.0 for seconds in spent) / shares.cpu_seconds
    busy = shares.busy if own <= shares.busy + COUNTED_APART else shares.busy + shares.interrupts
    return max(busy - own, 0.0)


def _spent_on_own(facts: Facts, counted: Counted) -> list[float | None]:
    """CPU seconds of the containers that have CPUs of the approach's."""
    request = facts.request
    every = {name for sample in facts.host.samples for name in sample.cpus}
    own_cpus = parse_cpu_list(request.approach_cpus) or every
    beside = {
        "backend": request.backend_cpus,
        "loadgen": request.generator_cpus,
        "prometheus": request.monitoring_cpus,
        "cadvisor": request.monitoring_cpus,
    }
    if facts.endpoint.database:
        beside |= {"database": request.backend_cpus, "database-exporter": request.monitoring_cpus}
    beside |= dict.fromkeys(request.foreign.companions if request.foreign else (), request.backend_cpus)
    spent = [counted.sum(facts.metrics.cpu_seconds)]
    if facts.slices:
        spent.append(counted.sum(partial(facts.metrics.cpu_seconds, service=facts.slices.partner)))
    for service, cpu_list in beside.items():
        cpus = set() if cpu_list is None else parse_cpu_list(cpu_list) or every
        if cpus & own_cpus:
            of_service = partial(facts.metrics.cpu_seconds, service=service)
            spent.append(counted.sum(of_service) if cpus <= own_cpus else None)
    return spent


def _backend(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Without its limits where no request asks it. Lateness is until the first hang, after which all is due at once."""
    metrics, start, end = facts.metrics, facts.start, facts.end
    requests = counted.sum(partial(series.total, metrics.backend("backend_requests_total")))
    opened = series.total(metrics.backend("backend_connections_total"), start, end)
    # Some seconds around, in which a run that ended at once has samples, too.
    around = (start - MISSING_AFTER_S, end + MISSING_AFTER_S)
    figures = {
        "backend_delays": facts.delays,
        "backend_requests_per_request": ratio(requests, counted.requests),
        "backend_connections_opened": None if opened is None else round(opened),
        "backend_metrics_missing_ratio": metrics.missing_ratio("backend", *around),
    }
    if facts.request.foreign and not facts.request.outside:  # whose companions are on the backend's CPUs
        return figures | _limits(facts, "backend", "backend", _cpus_of(facts, "backend", facts.request.backend_cpus))
    if not facts.endpoint.backend_calls:
        return figures
    calm_until = min([counted.spans[-1][1], *(start + hang.at_s for hang in facts.request.hangs)])
    mean_ms, p99_ms = metrics.backend_lateness_ms([(begin, min(end, calm_until)) for begin, end in counted.spans])
    return figures | {
        **_limits(facts, "backend", "backend", _cpus_of(facts, "backend", facts.request.backend_cpus)),
        "backend_loop_full": metrics.backend_loop_full_share(start, end),
        "backend_lateness_mean_ms": mean_ms,
        "backend_lateness_p99_ms": p99_ms,
    }


def _database(facts: Facts, counted: Counted) -> dict[str, Any]:
    if not facts.endpoint.database:
        return {}
    connections, most = facts.metrics.database_connections(facts.start, facts.end)
    return {
        **_limits(facts, "database", "database", _cpus_of(facts, "database", facts.request.backend_cpus)),
        "database_connections": connections,
        "database_most_connections": most,
        "database_checkpoints": facts.metrics.checkpoints(counted.spans[0][0], counted.spans[-1][1]),
    }


def _generator(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Of several load generators, the worst, and what all of them opened."""
    each = [host.samples for host in facts.hosts]
    waits_ms = [cpu_waits_ms(samples, counted.spans) for samples in each]
    wait_mean_ms, wait_p99_ms = (_worst(values) for values in zip(*waits_ms, strict=True))
    repeated, opened = (
        series.together(_grown(host, name) for host in facts.hosts) for name in ("TCPSynRetrans", "ActiveOpens")
    )
    return {
        "generators_apart": facts.apart,
        **_limits(facts, "generator", "loadgen", (facts.host.samples, parse_cpu_list(facts.request.generator_cpus))),
        "waits_told": any(sample.tool_waits for samples in each for sample in samples),
        "generator_wait_mean_ms": wait_mean_ms,
        "generator_wait_p99_ms": wait_p99_ms,
        "generator_thread_full": _worst(map(busiest_thread_full_share, each)),
        "syn_retransmits": repeated,
        "connections_opened": opened,
    }


def _worst(shares: Iterable[float | None]) -> float | None:
    """None where one is not known."""
    every = [*shares]
    return None if None in every else max(share for share in every if share is not None)


def _grown(host: HostLog, counter: str) -> int | None:
    if counter in host.network_before and counter in host.network_after:
        return host.network_after[counter] - host.network_before[counter]
    return None


def _outside(facts: Facts, counted: Counted) -> dict[str, Any]:
    """Of a service that the lab does not run: what the load generator's CPUs and its tool's threads tell."""
    own = shares_of(facts.host.samples, parse_cpu_list(facts.request.generator_cpus), counted.spans)
    tool_s = counted.sum(partial(tool_cpu_seconds, facts.host.samples))
    return {
        "generator_measured": True,  # and has no quota
        "generator_cpu_ms_per_request": ratio(tool_s and 1000 * tool_s, counted.requests if counted.one_load else None),
        "foreign_cpu_share": None if own is None or tool_s is None else max(own.busy - tool_s / own.cpu_seconds, 0.0),
        "steal_shares": own and {"load generator": own.steal},
        "stolen_of_needed": own and 0.0,
        "idle_share": None,
        "cpus_given": None,
        "notes": [OUTSIDE],
    }


def _limits(facts: Facts, prefix: str, service: str, cpus: Cpus) -> dict[str, Any]:
    quota = facts.metrics.quota(service, facts.start, facts.end)
    return {
        f"{prefix}_cpus_full": cpus_full_share(*cpus),
        f"{prefix}_throttled": quota.throttled,
        f"{prefix}_measured": quota.known,
    }


def container_failure(container: Container | None, started: float, answered: float = math.inf) -> str | None:
    """Why its state invalidates a run begun at `started`; what ended it once it last `answered` is of another load."""
    if container is None or (not container.running and container.finished_at.timestamp() > answered):
        return None
    begun = container.started_at.timestamp()
    if container.oom_killed:
        killed = "A process of the container" if container.running else "The container"
        return f"{killed} under test was killed because memory ran out: raise its memory limit."
    if container.restart_count:
        return f"The container under test restarted {container.restart_count} times (the limit is 0): {SEE_LOG}."
    if not container.running:
        return f"The container under test had ended (exit code {container.exit_code}) when the run was over: {SEE_LOG}."
    if begun > started:
        return f"The container under test was started {begun - started:.1f} s after the run began: {SEE_LOG}."
    return None


def live_set_of(facts: Facts) -> dict[str, Any]:
    """Fields of Run: heap and off-heap against the process after the load, what pools keep against that before it."""
    log = facts.memory
    if log is None:
        return {}
    if hindrance := _hindrance(log):
        return {"notes": [f"What a waiting request holds is not known: {hindrance}."]}
    requests = _figure(log, "waiting", "requests_in_flight")
    stacks, kernel = (_growth(log, name, "before", "waiting") for name in ("thread_stack_bytes", "kernel_bytes"))
    heap, anonymous, heap_rss, idle_stacks = (
        _growth(log, name, "idle", "waiting")
        for name in ("heap_used_bytes", "rss_anon_bytes", "heap_rss_anon_bytes", "thread_stack_bytes")
    )
    shrunk = _growth(log, "heap_used_bytes", "idle", "loaded")
    of_load = heap * _figure(log, "loaded", "requests_in_flight") / requests
    if log.loaded and not shrunk - of_load <= MOST_SHRUNK * heap:
        heap = math.nan
    sent = log.hold.connections if log.hold else 0
    cpus = about_number(facts.about, "jvm", "available_processors") or 1
    most = MOST_KEPT * sent + SPARE + SPARE_PER_CPU * cpus
    threads = _growth(log, "threads", "before", "waiting")
    if requests < FEWEST_REQUESTS or (platform_threads(facts.about) is not None and threads > most):
        stacks = kernel = math.nan
    kept = series.latest(facts.metrics.backend("backend_open_connections"), facts.end)
    most *= 2 if facts.slices else 1  # the partner's pool is as large
    if facts.endpoint.backend_calls and (facts.endpoint.at_once > 1 or kept is None or kept > most):
        kernel = math.nan
    held = {"heap": heap, "stacks_off_heap": stacks + anonymous - heap_rss - idle_stacks, "kernel": kernel}
    each = {part: None if math.isnan(grown) else grown / requests for part, grown in held.items()}
    unknown = [f"{part}, because {UNKNOWN[part]}" for part, value in each.items() if value is None]
    return {
        "live_bytes_per_request": each,
        "live_requests": round(requests),
        "notes": [f"What a waiting request holds is not known: {'; '.join(unknown)}."] if unknown else [],
    }


def _hindrance(log: MemoryLog) -> str | None:
    if error := log.error or next((one.error for one in (log.waiting, log.idle) if one and one.error), None):
        return error
    sent = log.hold.connections if log.hold else 0
    loaded, waiting, idle = (_figure(log, when, "requests_in_flight") for when in ("loaded", "waiting", "idle"))
    if 0 < FEWEST_WAITING * sent <= waiting <= sent and idle == 0 and not loaded > MOST_LEFT * sent:
        return None
    if math.isnan(waiting + idle):
        return "the process did not report its requests in flight"
    return f"{waiting:.0f} of {sent} requests were in flight, and {np.nansum([loaded, idle]):.0f} before or after them"


def _growth(log: MemoryLog, name: str, earlier: str, later: str) -> float:
    return _figure(log, later, name) - _figure(log, earlier, name)


def _figure(log: MemoryLog, when: str, name: str) -> float:
    """What the process told then; not a number where it did not."""
    answer = getattr(log, when)
    figure = answer.figure(name) if answer else None
    return math.nan if figure is None else figure
