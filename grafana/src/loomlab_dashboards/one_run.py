"""One run: what was offered, what came back, and what it took."""

from functools import partial

from loomlab_dashboards.frame import RUNS, Annotation, Json, Row, build, finished_runs, newest
from loomlab_dashboards.palette import FINE, IDLE, SUSPECT
from loomlab_dashboards.panels import (
    AT_GENERATOR,
    IN_THE_SERVER,
    LAST,
    NOT_TOLD_LIVE,
    Query,
    Size,
    Text,
    density,
    over_time,
)
from loomlab_dashboards.queries import RUN, during_run, heap_limit, memory_limit, rate, total, while_run_goes
from loomlab_dashboards.runs_table import runs

HALF = Size(12, 9)
LAB = 'service=~"backend|loadgen"'
PHASES = {"warm-up": SUSPECT, "measure": FINE, "collect": IDLE}
course = partial(over_time, calcs=LAST)
"""Lines from the warm-up on: their mean would say nothing, and the table has the figures of the measured phase."""


def _run(rule: str) -> str:
    return f"{rule}{{{RUN}}}"


def _what_came_out() -> Row:
    table = Text("This run", "What was measured without the warm-up, and whether it can be trusted.", "none")
    return Row("What came out?", [runs(table, RUN, Size(24, 5))])


def _load() -> Row:
    rates = Text(
        "Rate", "Requests a second: those offered, and those that ended, as generator and approach count them.", "reqps"
    )
    errors = Text("Errors", "The share of requests that failed, as generator and approach count them.", "percentunit")
    return Row(
        "Did it get the load that was offered?",
        [
            course(
                rates,
                Query(_run("run:lab_offered_rate_rps:max"), "offered"),
                Query(_run("run:lab_requests_ended:rate10s"), "by the generator"),
                Query(during_run("service:lab_requests:rate10s"), "by the approach"),
                size=HALF,
            ),
            course(
                errors,
                Query(_run("run:lab_requests_failed:ratio_rate10s"), "by the generator"),
                Query(during_run("service:lab_request_errors:ratio_rate10s"), "by the approach"),
                size=HALF,
            ),
        ],
    )


def _latency() -> Row:
    p50, p99 = "run:lab_request_seconds:p50_rate10s", "run:lab_request_seconds:p99_rate10s"
    at_generator = Text("p50 and p99", f"Latency {AT_GENERATOR}.", "s")
    in_server = Text("p50 and p99 in the server", f"Latency {IN_THE_SERVER}.", "s")
    served = Text("Latency in the server", f"Requests a second by their latency, {IN_THE_SERVER}.", "s")
    buckets = rate("lab_requests_seconds_bucket", by="service, le")
    return Row(
        "How long did requests take?",
        [
            course(at_generator, Query(_run(p50), "p50"), Query(_run(p99), "p99"), empty=NOT_TOLD_LIVE),
            course(
                in_server,
                Query(during_run("service:lab_requests_seconds:p50_rate10s"), "p50"),
                Query(during_run("service:lab_requests_seconds:p99_rate10s"), "p99"),
            ),
            density(served, Query(f"sum by (le) ({during_run(buckets)})", "{{le}}"), "reqps"),
        ],
    )


def _of_all_three(rule: str) -> tuple[Query, Query]:
    return Query(during_run(rule)), Query(while_run_goes(f"{rule}{{{LAB}}}"))


def _resources() -> Row:
    cores = Text("CPU", "The CPU time that approach, backend and load generator used, in cores.", "suffix:cores")
    memory = Text("RSS", "The anonymous memory of approach, backend and load generator.", "bytes")
    threads = Text("OS threads", "The threads of approach, backend and load generator.", "none")
    heap = Text("Heap", "The approach's heap in use, garbage included.", "bytes")
    connections = Text("Connections and requests", "What the approach has open and in flight.", "none")
    backend = Text("Backend lateness", "How late the backend answers, beyond its configured delay.", "s")
    cpu_limit = during_run("service:container_cpu_limit_cores:sum")
    return Row(
        "What did it take?",
        [
            course(cores, *_of_all_three("service:container_cpu_usage_seconds:rate10s"), limit=cpu_limit),
            course(memory, *_of_all_three("service:container_memory_rss_bytes:sum"), limit=during_run(memory_limit())),
            course(threads, *_of_all_three("service:container_threads:sum")),
            course(
                heap,
                Query(during_run(total("jvm_memory_used_bytes", 'area="heap"'))),
                limit=during_run(heap_limit()),
            ),
            course(
                connections,
                Query(during_run("service:lab_open_connections:sum"), "connections"),
                Query(during_run("service:lab_inflight_requests:sum"), "requests in flight"),
            ),
            course(backend, Query(while_run_goes("service:backend_lateness_seconds:p99_rate10s"), "p99")),
        ],
    )


def _phases() -> list[Annotation]:
    of_run = f"* on (service) group_left (run) lab_run_info{{{RUN}}} == 1"
    return [
        Annotation(f"Phase: {phase}", f'lab_run_phase{{phase="{phase}"}} {of_run}', phase, "{{run}}", colour)
        for phase, colour in PHASES.items()
    ]


def one_run() -> Json:
    return build(
        "loomlab-one-run",
        "One run",
        "One run: its verdict, then load, latency and what they took, from the warm-up to the end.",
        [
            newest("experiment", "Experiment", f"label_values({{{RUNS}}}, experiment)"),
            newest("run", "Run", f'label_values({{{RUNS}, experiment=~"$experiment"}}, run)'),
        ],
        [*_phases(), finished_runs(RUN)],
        [_what_came_out(), _load(), _latency(), _resources()],
    )
