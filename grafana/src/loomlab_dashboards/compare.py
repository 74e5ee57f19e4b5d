"""Compare: a table of the runs, then the approaches over each other, a row a question."""

from collections.abc import Sequence

from loomlab_dashboards.frame import Json, Row, build, finished_runs, line, many, newest_of_many
from loomlab_dashboards.panels import (
    AT_GENERATOR,
    LAST_VALUE,
    NO_CONTAINERS,
    NO_QUOTA,
    WHERE,
    Panel,
    Query,
    Text,
    by_run_time,
    labels,
    over_time,
)
from loomlab_dashboards.queries import (
    APPROACH,
    JUDGED,
    OUTSIDE_MEASURE,
    at_generator,
    by_seconds,
    heap_limit,
    measured,
    memory_limit,
    rate,
    select,
    so_far,
    total,
)
from loomlab_dashboards.runs_table import runs

APPROACHES = '{__name__=~"lab_approach_info|lab_result_info"}'
EXPERIMENTS = '{__name__=~"service:lab_run:info|lab_result_info"}'
NOT_SUMMED_UP = (
    "No chosen experiment among the newest 60 runs has a summary with two of the chosen approaches, or the lab is down."
)
ALIGNED = "by seconds since the run began"
ABOUT = ("approach", "concurrency", "style", "server", "framework", "client", "sockets", "internals")
CONTRAST = ("kind", "a", "b", "experiment", "differs")


def _rule(name: str) -> str:
    return select(name, APPROACH)


def _measured(rule: str) -> Query:
    return Query(measured(_rule(rule)))


def _measured_level(rule: str) -> Query:
    """Of a rule that is no rate."""
    return Query(measured(_rule(rule), without=OUTSIDE_MEASURE))


def _each(columns: Sequence[str], expr: str, legend: str) -> Query:
    """A series for each combination of these labels' values."""
    return Query(f"group by ({', '.join(columns)}) ({expr})", legend)


def _what_came_out() -> Row:
    what = "What the newest judged runs measured without their warm-ups, and whether it can be trusted."
    return Row("What came out?", line(runs(Text("Runs", what, "none"), JUDGED), height=10))


def _what_differs() -> Row:
    what = Text("What is compared", "What each approach tells of itself in /about.", "none")
    measured_runs = 'service:lab_run:info{experiment=~"$experiment", jdk=~"$jdk"}'
    about = f"last_over_time(({_rule('lab_approach_info')} * on (service) group_left () {measured_runs})[$__range:1s])"
    contrasts = Text(
        "Contrasts",
        "Controlled: a and b differ in the concurrency model alone; stack: they differ in something else, so a"
        " difference in a figure is not due to the model alone.",
        "none",
    )
    pairs = select("lab_contrast_info", 'experiment=~"$experiment"', 'a=~"$approach"', 'b=~"$approach"')
    each_pair = _each(CONTRAST, pairs, "{{a}}, {{b}}")
    return Row(
        "What differs?",
        line(labels(what, _each(ABOUT, about, "{{approach}}"), ABOUT), height=7),
        line(labels(contrasts, each_pair, CONTRAST, wide="differs", empty=NOT_SUMMED_UP), height=7),
    )


def _is_it_fast() -> Row:
    throughput = Text("Throughput", "Requests answered a second, whatever their status.", "reqps")
    aligned = Text(f"Throughput, {ALIGNED}", "Requests answered a second, for runs made one after another.", "reqps")
    errors = Text("Errors", "The share of requests that were not answered 2xx.", "percentunit")
    aligned_p99 = Text(f"p99, {ALIGNED}", "The p99 over 10 s in the server, for runs made one after another.", "s")
    served = by_seconds(_rule("service:lab_requests_seconds:p99_rate10s"))
    return Row(
        "Is it fast?",
        line(over_time(throughput, _measured("service:lab_requests:rate10s")), _latency("p50"), _latency("p99")),
        line(
            by_run_time(aligned, by_seconds(_rule("service:lab_requests:rate10s"))),
            over_time(errors, _measured("service:lab_request_errors:ratio_rate10s")),
            by_run_time(aligned_p99, served),
        ),
    )


def _latency(name: str) -> Panel:
    sent = Query(measured(at_generator(f"run:lab_request_seconds:{name}_rate10s")), f"{{{{service}}}}{AT_GENERATOR}")
    text = Text(name, f"The time within which {name[1:]} % of the requests were answered, {WHERE}.", "s")
    return over_time(text, _measured(f"service:lab_requests_seconds:{name}_rate10s"), sent)


def _cpu() -> Row:
    cores = Text("CPU", "The CPU time that the container used, in cores.", "suffix:cores")
    cost = Text(
        "CPU per request",
        "The container's CPU time divided by the requests it answered: of a run in its measured phase up to then, after"
        " that as judged of the newest run that is not invalid (of a pair in slices without compilers and idle time);"
        " without a run over 10 s.",
        "ms",
    )
    quota = Text("Throttled", "The share of the periods in which the CPU quota stopped the container.", "percentunit")
    aligned = Text(f"CPU per request, {ALIGNED}", "CPU per request over 10 s, for runs made one after another.", "ms")
    used, limit = "service:container_cpu_usage_seconds:rate10s", "service:container_cpu_limit_cores:sum"
    throttled = "service:container_cpu_cfs_throttled_periods:ratio_rate10s"
    per_request = _rule("service:container_cpu_ms_per_request:rate10s")
    of_runs = so_far("run:container_cpu_ms_per_request:ratio", "lab_result_cpu_ms_per_request", per_request)
    return Row(
        "What does it cost in CPU?",
        line(
            over_time(cores, _measured(used), limit=measured(_rule(limit)), empty=NO_CONTAINERS),
            over_time(cost, Query(of_runs), calcs=LAST_VALUE),
            over_time(quota, _measured(throttled), empty=NO_QUOTA),
            by_run_time(aligned, by_seconds(per_request)),
        ),
    )


def _memory() -> Row:
    rss = Text("RSS", "The anonymous memory of the container's processes, heap included.", "bytes")
    waiting = Text(
        "RSS per request in flight",
        "RSS divided by the requests being answered at that moment, where there are at least ten.",
        "bytes",
    )
    aligned = Text(f"RSS, {ALIGNED}", "The container's RSS, for runs made one after another.", "bytes")
    per_request = "service:container_memory_rss_bytes_per_inflight_request:ratio"
    rule = "service:container_memory_rss_bytes:sum"
    limit = measured(memory_limit(APPROACH), OUTSIDE_MEASURE)
    return Row(
        "What does it cost in memory?",
        line(
            over_time(rss, _measured_level(rule), limit=limit, empty=NO_CONTAINERS),
            over_time(waiting, _measured_level(per_request), empty="Fewer than ten requests are in flight."),
            by_run_time(aligned, by_seconds(_rule(rule), since_s=0)),
        ),
    )


def _threads() -> Row:
    threads = Text("OS threads", "The threads of the container, carrier threads of virtual threads included.", "none")
    runnable = Text(
        "Runnable virtual threads",
        "Virtual threads that run or are queued for a carrier thread; the JDK does not report how many wait.",
        "none",
    )
    inflight = Text(
        "Requests in flight",
        "Requests being answered; with virtual threads, also the number of virtual threads that serve them.",
        "none",
    )
    aligned = Text(f"OS threads, {ALIGNED}", "The container's threads, for runs made one after another.", "none")
    rule = "service:container_threads:sum"
    return Row(
        "What does it cost in threads?",
        line(
            over_time(threads, _measured_level(rule), empty=NO_CONTAINERS),
            over_time(runnable, _measured("service:jvm_virtual_threads:sum")),
            over_time(inflight, _measured("service:lab_inflight_requests:sum")),
            by_run_time(aligned, by_seconds(_rule(rule), since_s=0)),
        ),
    )


def _jvm() -> Row:
    heap = Query(measured(total("jvm_memory_used_bytes", APPROACH, 'area="heap"')))
    collecting = Text("GC, share of CPU", "The collector's share of the container's CPU time.", "percentunit")
    pauses = Text("GC, share of time", "The share of time in which the collector stopped the approach.", "percentunit")
    used = Text("Heap", "The heap in use, garbage included.", "bytes")
    pinned = Text("Pinned", "How often a second a virtual thread was pinned to its carrier while it waited.", "cps")
    compiler = Text("JIT", "The CPU time that the just-in-time compiler used, in cores.", "suffix:cores")
    return Row(
        "What is the JVM doing?",
        line(
            over_time(collecting, _measured("service:lab_gc_cpu:ratio_rate10s")),
            over_time(pauses, _measured("service:jvm_gc_pause_seconds:ratio_rate10s")),
            over_time(used, heap, limit=measured(heap_limit(APPROACH))),
        ),
        line(
            over_time(pinned, Query(measured(rate("jvm_threads_virtual_pinned_seconds_count", APPROACH)))),
            over_time(compiler, Query(measured(rate("lab_jit_cpu_seconds_total", APPROACH)))),
        ),
    )


def compare() -> Json:
    return build(
        "loomlab-compare",
        "Compare",
        "The runs in a table, and the approaches over each other: how fast they are, and what that costs.",
        [
            newest_of_many("experiment", "Experiment", f"label_values({EXPERIMENTS}, experiment)"),
            many("approach", "Approach", f"label_values({APPROACHES}, approach)"),
            many("jdk", "JDK", f"label_values({EXPERIMENTS}, jdk)"),
        ],
        [finished_runs('experiment=~"$experiment", approach=~"$approach"')],
        [_what_came_out(), _what_differs(), _is_it_fast(), _cpu(), _memory(), _threads(), _jvm()],
    )
