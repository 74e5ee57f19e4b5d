"""One run: what was offered, what came back, and what it took."""

from collections.abc import Callable, Iterator
from functools import partial

from grafana_foundation_sdk.builders import dashboard

from loomlab_dashboards.frame import RUNS, Json, Row, annotation, build, finished_runs, line, newest
from loomlab_dashboards.palette import FINE, IDLE, SUSPECT
from loomlab_dashboards.panels import (
    AT_GENERATOR,
    LAST_VALUE,
    WHERE,
    Query,
    Text,
    density,
    over_time,
)
from loomlab_dashboards.queries import RUN, during_run, heap_limit, memory_limit, rate, total, while_run_goes
from loomlab_dashboards.runs_table import runs

NO_DATABASE = "No request asks the database."
LAB = 'service=~"backend|loadgen"'
PHASES = {"warm-up": SUSPECT, "measure": FINE, "collect": IDLE}
course = partial(over_time, calcs=LAST_VALUE)
"""Lines from the warm-up on: their mean would say nothing, and the table has the figures of the measured phase."""


def _run(rule: str) -> str:
    return f"{rule}{{{RUN}}}"


def _what_came_out() -> Row:
    table = Text("This run", "What was measured without the warm-up, and whether it can be trusted.", "none")
    return Row("What came out?", line(runs(table, RUN), height=5))


def _load() -> Row:
    what = "Requests a second: those offered, and those that ended, as generator and approach count them."
    errors = Text("Errors", "The share of requests that failed, as generator and approach count them.", "percentunit")
    offered = Query(_run("run:lab_offered_rate_rps:max"), "offered")
    return Row(
        "Did it get the load that was offered?",
        line(
            course(
                Text("Rate", what, "reqps"),
                offered,
                *_counted("run:lab_requests_ended:rate10s", "service:lab_requests:rate10s"),
            ),
            course(
                errors, *_counted("run:lab_requests_failed:ratio_rate10s", "service:lab_request_errors:ratio_rate10s")
            ),
            height=9,
        ),
    )


def _counted(by_generator: str, by_approach: str) -> tuple[Query, Query]:
    """A rule of the run, and one of services."""
    return Query(_run(by_generator), "by the generator"), Query(during_run(by_approach), "by the approach")


def _latency() -> Row:
    latency = Text("p50 and p99", f"Latency {WHERE}.", "s")
    served = Text("Latency in the server", "Requests a second by their latency in the server.", "s")
    in_server = _percentiles("service:lab_requests_seconds", during_run)
    at_generator = _percentiles("run:lab_request_seconds", _run, AT_GENERATOR)
    buckets = rate("lab_requests_seconds_bucket", by="service, le")
    return Row(
        "How long did requests take?",
        line(
            course(latency, *in_server, *at_generator),
            density(served, Query(f"sum by (le) ({during_run(buckets)})", "{{le}}"), "reqps"),
        ),
    )


def _percentiles(metric: str, select: Callable[[str], str], where: str = "") -> Iterator[Query]:
    return (Query(select(f"{metric}:{name}_rate10s"), f"{name}{where}") for name in ("p50", "p99"))


def _of_all_three(rule: str) -> tuple[Query, Query]:
    return Query(during_run(rule)), Query(while_run_goes(f"{rule}{{{LAB}}}"))


def _resources() -> Row:
    cores = Text("CPU", "The CPU time that approach, backend and load generator used, in cores.", "suffix:cores")
    memory = Text("RSS", "The anonymous memory of approach, backend and load generator.", "bytes")
    threads = Text("OS threads", "The threads of approach, backend and load generator.", "none")
    heap = Text("Heap", "The approach's heap in use, garbage included.", "bytes")
    connections = Text("Connections and requests", "What the approach has open and in flight.", "none")
    backend = Text("Backend lateness", "How late the backend answers, beyond its configured delay.", "s")
    used = total("jvm_memory_used_bytes", 'area="heap"')
    cpu_limit = during_run("service:container_cpu_limit_cores:sum")
    return Row(
        "What did it take?",
        line(
            course(cores, *_of_all_three("service:container_cpu_usage_seconds:rate10s"), limit=cpu_limit),
            course(memory, *_of_all_three("service:container_memory_rss_bytes:sum"), limit=during_run(memory_limit())),
            course(threads, *_of_all_three("service:container_threads:sum")),
        ),
        line(
            course(heap, Query(during_run(used)), limit=during_run(heap_limit())),
            course(
                connections,
                Query(during_run("service:lab_open_connections:sum"), "connections"),
                Query(during_run("service:lab_inflight_requests:sum"), "requests in flight"),
            ),
            course(backend, Query(while_run_goes("service:backend_lateness_seconds:p99_rate10s"), "p99")),
        ),
    )


def _database() -> Row:
    pool = Text("Database pool", "The approach's connections to the database, and requests that wait for one.", "none")
    wait = Text("Wait for the pool", "How long a request waited for a connection to the database, on average.", "s")
    inside = Text("In the database", "Connections in a statement, by what they wait for, a lock for instance.", "none")
    sizes = [Query(during_run(total(f"lab_database_{name}")), name) for name in ("connections", "active", "pending")]
    waited, got = (rate(f"lab_database_wait_seconds_{part}") for part in ("sum", "count"))
    active = 'sum by (wait_event_type) (pg_stat_activity_count{state="active", wait_event_type!=""})'
    return Row(
        "What did the database do?",
        line(
            course(pool, *sizes, empty=NO_DATABASE),
            course(wait, Query(during_run(f"{waited} / ({got} > 0)")), empty=NO_DATABASE),
            course(inside, Query(while_run_goes(active), "{{wait_event_type}}"), empty=NO_DATABASE),
        ),
    )


def _phase(name: str, colour: str) -> dashboard.AnnotationQuery:
    phase = f'lab_run_phase{{phase="{name}"}} * on (service) group_left (run) lab_run_info{{{RUN}}} == 1'
    return annotation(f"Phase: {name}", phase, name, "{{run}}", colour)


def one_run() -> Json:
    return build(
        "loomlab-one-run",
        "One run",
        "One run: its verdict, then load, latency and what they took, from the warm-up to the end.",
        [
            newest("experiment", "Experiment", f"label_values({{{RUNS}}}, experiment)"),
            newest("run", "Run", f'label_values({{{RUNS}, experiment=~"$experiment"}}, run)'),
        ],
        [*(_phase(name, colour) for name, colour in PHASES.items()), finished_runs(RUN)],
        [_what_came_out(), _load(), _latency(), _resources(), _database()],
    )
