"""One run: what was offered, what came back, and what it took."""

from loomlab_dashboards.frame import Annotation, Json, Row, build, data_source, finished_runs, newest
from loomlab_dashboards.palette import FINE, IDLE, SUSPECT
from loomlab_dashboards.panels import IN_THE_SERVER, Query, Size, Text, density, over_time
from loomlab_dashboards.queries import ANY_RUN, RUN, during_run, error_share, quantile, rate, total, while_run_goes

HALF = Size(12, 9)
LAB = 'service=~"backend|loadgen"'
PHASES = {"warm-up": SUSPECT, "measure": FINE, "collect": IDLE}


def _run(rule: str) -> str:
    return f"{rule}{{{RUN}}}"


def _load() -> Row:
    rates = Text(
        "Rate", "Requests a second: those offered, and those that ended, as generator and approach count them.", "reqps"
    )
    errors = Text("Errors", "The share of requests that failed, as generator and approach count them.", "percentunit")
    return Row(
        "Did it get the load that was offered?",
        [
            over_time(
                rates,
                Query(_run("run:lab_offered_rate_rps:max"), "offered"),
                Query(_run("run:lab_requests_ended:rate10s"), "by the generator"),
                Query(during_run(rate("lab_requests_seconds_count")), "by the approach"),
                size=HALF,
            ),
            over_time(
                errors,
                Query(_run("run:lab_requests_failed:ratio_rate10s"), "by the generator"),
                Query(during_run(error_share()), "by the approach"),
                size=HALF,
            ),
        ],
    )


def _latency() -> Row:
    p50 = during_run(quantile(0.5, "lab_requests_seconds"))
    p99 = during_run(quantile(0.99, "lab_requests_seconds"))
    quantiles = Text("p50 and p99", f"Latency as the generator sees it, and {IN_THE_SERVER}.", "s")
    served = Text("Latency in the server", f"How many requests a second took how long, {IN_THE_SERVER}.", "s")
    seen = Text("Latency at k6", "How many requests a second took how long, as k6 saw it.", "s")
    buckets = rate("lab_requests_seconds_bucket", by="service, le")
    return Row(
        "How long did requests take?",
        [
            over_time(
                quantiles,
                Query(_run("run:lab_request_seconds:p50_rate10s"), "p50, generator"),
                Query(p50, "p50, server"),
                Query(_run("run:lab_request_seconds:p99_rate10s"), "p99, generator"),
                Query(p99, "p99, server"),
            ),
            density(served, Query(f"sum by (le) ({during_run(buckets)})", "{{le}}"), "reqps"),
            density(
                seen, Query(f"sum (rate(k6_http_req_duration_seconds[$__rate_interval])) and on () {ANY_RUN}"), "reqps"
            ),
        ],
    )


def _of_all_three(approach: str, others: str) -> tuple[Query, Query]:
    return Query(during_run(approach)), Query(while_run_goes(others))


def _resources() -> Row:
    cpu = "container_cpu_usage_seconds_total"
    cores = Text("CPU", "The CPU time that approach, backend and load generator used, in cores.", "suffix:cores")
    memory = Text("RSS", "The anonymous memory of approach, backend and load generator.", "bytes")
    threads = Text("OS threads", "The threads of approach, backend and load generator.", "none")
    connections = Text("Connections and requests", "What the approach has open and in flight.", "none")
    backend = Text("Backend lateness", "How late the backend answers, beyond the delay it was told.", "s")
    return Row(
        "What did it take?",
        [
            over_time(cores, *_of_all_three(rate(cpu), rate(cpu, LAB))),
            over_time(memory, *_of_all_three(total("container_memory_rss"), total("container_memory_rss", LAB))),
            over_time(threads, *_of_all_three(total("container_threads"), total("container_threads", LAB))),
            over_time(
                connections,
                Query(during_run(total("lab_open_connections")), "connections"),
                Query(during_run(total("lab_inflight_requests")), "requests in flight"),
                size=HALF,
            ),
            over_time(backend, Query(while_run_goes(quantile(0.99, "backend_lateness_seconds")), "p99"), size=HALF),
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
        "One run from its warm-up to its end: load, latency and what they took.",
        [
            data_source(),
            newest("experiment", "Experiment", "label_values(lab_run_info, experiment)"),
            newest("run", "Run", 'label_values(lab_run_info{experiment=~"$experiment"}, run)'),
        ],
        [*_phases(), finished_runs(RUN)],
        [_load(), _latency(), _resources()],
    )
