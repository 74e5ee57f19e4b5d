"""Compare: the approaches over each other, a row a question."""

from loomlab_dashboards.frame import Json, Row, build, data_source, finished_runs, many
from loomlab_dashboards.panels import IN_THE_SERVER, NO_QUOTA, Query, Size, Text, by_run_time, labels, over_time
from loomlab_dashboards.queries import APPROACH, by_seconds, chosen, error_share, quantile, rate, total

CPU = rate("container_cpu_usage_seconds_total", APPROACH)
REQUESTS = rate("lab_requests_seconds_count", APPROACH)
RSS = total("container_memory_rss", APPROACH)
ALIGNED = "by seconds since the run began"
QUARTER = Size(6)
HALF = Size(12)


def _what_differs() -> Row:
    columns = ("approach", "concurrency", "style", "server", "framework", "client", "sockets", "internals")
    what = Text(
        "What is compared",
        "Rows that differ in more than concurrency compare stacks; the summary names the controlled contrasts.",
        "none",
    )
    chosen_runs = 'service:lab_run:info{experiment=~"$experiment", jdk=~"$jdk"}'
    told = f"last_over_time((lab_approach_info{{{APPROACH}}} * on (service) group_left () {chosen_runs})[$__range:1s])"
    return Row(
        "What differs?",
        [labels(what, Query(f"group by ({', '.join(columns)}) ({told})", "{{approach}}"), columns, Size(24, 7))],
    )


def _is_it_fast() -> Row:
    p50 = Text("p50", f"The time within which half of the requests were answered, {IN_THE_SERVER}.", "s")
    p99 = Text("p99", f"The time within which 99 of 100 requests were answered, {IN_THE_SERVER}.", "s")
    p99_aligned = Text(f"p99, {ALIGNED}", f"The p99 over 10 s of runs made one after another, {IN_THE_SERVER}.", "s")
    throughput = Text("Throughput", "Requests answered a second, whatever their status.", "reqps")
    aligned = Text(f"Throughput, {ALIGNED}", "Requests answered a second, for runs made one after another.", "reqps")
    errors = Text("Errors", "The share of requests that were not answered 2xx.", "percentunit")
    return Row(
        "Is it fast?",
        [
            over_time(throughput, Query(chosen(REQUESTS))),
            over_time(p50, Query(chosen(quantile(0.5, "lab_requests_seconds", APPROACH)))),
            over_time(p99, Query(chosen(quantile(0.99, "lab_requests_seconds", APPROACH)))),
            by_run_time(aligned, by_seconds("service:lab_requests:rate10s")),
            over_time(errors, Query(chosen(error_share(APPROACH)))),
            by_run_time(p99_aligned, by_seconds("service:lab_requests_seconds:p99_rate10s")),
        ],
    )


def _cpu() -> Row:
    throttled = rate("container_cpu_cfs_throttled_periods_total", APPROACH)
    periods = rate("container_cpu_cfs_periods_total", APPROACH)
    cores = Text("CPU", "The CPU time that the container used, in cores.", "suffix:cores")
    cost = Text("CPU per request", "The container's CPU time divided by the requests it answered.", "ms")
    held = Text("Throttled", "The share of the periods in which the CPU quota stopped the container.", "percentunit")
    aligned = Text(f"CPU per request, {ALIGNED}", "CPU a request over 10 s, for runs made one after another.", "ms")
    return Row(
        "What does it cost in CPU?",
        [
            over_time(cores, Query(chosen(CPU)), size=QUARTER),
            over_time(cost, Query(chosen(f"1000 * {CPU} / ({REQUESTS} > 1)")), size=QUARTER),
            over_time(held, Query(chosen(f"{throttled} / ({periods} > 0)")), size=QUARTER, empty=NO_QUOTA),
            by_run_time(aligned, by_seconds("service:container_cpu_ms_per_request:rate10s"), QUARTER),
        ],
    )


def _memory() -> Row:
    rss = Text("RSS", "The anonymous memory of the container's processes, heap included.", "bytes")
    waiting = Text("RSS per request in flight", "RSS divided by the requests being answered at that moment.", "bytes")
    aligned = Text(f"RSS, {ALIGNED}", "The container's RSS, for runs made one after another.", "bytes")
    return Row(
        "What does it cost in memory?",
        [
            over_time(rss, Query(chosen(RSS))),
            over_time(waiting, Query(chosen(f"{RSS} / ({total('lab_inflight_requests', APPROACH)} > 0)"))),
            by_run_time(aligned, by_seconds("service:container_memory_rss_bytes:sum")),
        ],
    )


def _threads() -> Row:
    virtual = f"sum by (service) (jvm_threads_virtual_live_threads{{{APPROACH}}} >= 0)"
    threads = Text("OS threads", "The threads of the container, among them the carriers of virtual threads.", "none")
    runnable = Text(
        "Virtual threads", "Virtual threads that run or queue for a carrier: the waiting are not known.", "none"
    )
    inflight = Text(
        "Requests in flight",
        "Requests being answered; where virtual threads serve them, as many of those.",
        "none",
    )
    aligned = Text(f"OS threads, {ALIGNED}", "The container's threads, for runs made one after another.", "none")
    return Row(
        "What does it cost in threads?",
        [
            over_time(threads, Query(chosen(total("container_threads", APPROACH))), size=QUARTER),
            over_time(runnable, Query(chosen(virtual)), size=QUARTER),
            over_time(inflight, Query(chosen(total("lab_inflight_requests", APPROACH))), size=QUARTER),
            by_run_time(aligned, by_seconds("service:container_threads:sum"), QUARTER),
        ],
    )


def _jvm() -> Row:
    gc = f"{rate('lab_gc_cpu_seconds_total', APPROACH)} / ({CPU} > 0)"
    stopped = f"{rate('jvm_gc_pause_seconds_sum', APPROACH)} or 0 * {total('jvm_threads_live_threads', APPROACH)}"
    heap = total("jvm_memory_used_bytes", APPROACH, 'area="heap"')
    collecting = Text("GC, share of CPU", "The collector's share of the container's CPU time.", "percentunit")
    pauses = Text("GC, share of time", "The share of time in which the collector stopped the approach.", "percentunit")
    used = Text("Heap", "The heap in use, garbage included.", "bytes")
    pinned = Text("Pinned", "How often a second a virtual thread kept its carrier while it waited.", "cps")
    compiler = Text("JIT", "The CPU time that the just-in-time compiler used, in cores.", "suffix:cores")
    return Row(
        "What is the JVM doing?",
        [
            over_time(collecting, Query(chosen(gc))),
            over_time(pauses, Query(chosen(stopped))),
            over_time(used, Query(chosen(heap))),
            over_time(pinned, Query(chosen(rate("jvm_threads_virtual_pinned_seconds_count", APPROACH))), size=HALF),
            over_time(compiler, Query(chosen(rate("lab_jit_cpu_seconds_total", APPROACH))), size=HALF),
        ],
    )


def compare() -> Json:
    return build(
        "loomlab-compare",
        "Compare",
        "The approaches over each other: how fast they are, and what that costs in CPU, memory and threads.",
        [
            data_source(),
            many("experiment", "Experiment", "label_values(lab_run_info, experiment)"),
            many("approach", "Approach", 'label_values(up{job="approach"}, service)'),
            many("jdk", "JDK", "label_values(service:lab_run:info, jdk)"),
        ],
        [finished_runs('experiment=~"$experiment", approach=~"$approach"')],
        [_what_differs(), _is_it_fast(), _cpu(), _memory(), _threads(), _jvm()],
    )
