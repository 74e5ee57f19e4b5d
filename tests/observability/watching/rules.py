"""What each recording rule may say under the live test's load. A rule that is not here fails the test."""

from dataclasses import dataclass

from watching.check import Plausible
from watching.load import MIB, Load

NO_COLLECTION = "no garbage collection may fall into ten seconds of a small load"
WAITING = "virtual threads that wait are not known to the JDK, and a small load leaves no others"
ALONE = "nobody else may use the CPUs"
TAKEN = "other programs may take what is left"
MEASURED = "the measured phase has it in its first seconds only"
JUST_SCRAPED = "rules may be evaluated right after a scrape"


@dataclass(frozen=True)
class Expected:
    """`of` is whose series it is: "approach" (the one under test), "run" (the run's own labels), or a service. With
    `only`, the rule has series for these approaches and for no other. With `side_by_side`, what counts is the lab as
    `make up` starts it, before the experiment: runs limit CPU by cpusets, without quota periods."""

    plausible: Plausible
    of: str = "approach"
    only: tuple[str, ...] = ()
    side_by_side: bool = False


def expectations(load: Load) -> dict[str, list[Expected]]:
    """By the rule's name."""
    rate = Plausible(0.3 * load.rate_rps, 1.5 * load.rate_rps)
    latency = Plausible(0.7 * load.answer_seconds, 30 * load.answer_seconds)
    failing = Plausible(0.1 * load.failing_share, 5 * load.failing_share)
    in_flight = Plausible(0.3 * load.in_flight, 30 * load.in_flight)
    share = Plausible(0.002, 1)
    headroom = Plausible(0.01, 1)
    idle = Plausible(0.01, 1, zero=TAKEN)
    most_late = max(0.4, 2 * load.backend_late_seconds)
    return {
        "service:container_cpu_usage_seconds:rate10s": [Expected(Plausible(0.01, load.cpus))],
        "service:container_cpu_ms_per_request:rate10s": [Expected(Plausible(0.1, 50))],
        "service:container_memory_rss_bytes:sum": [Expected(Plausible(50 * MIB, 8192 * MIB))],
        "service:container_threads:sum": [Expected(Plausible(10, 10 * load.connections))],
        "service:container_cpu_cfs_throttled_periods:ratio_rate10s": [
            Expected(Plausible(0.002, 1, zero="idle containers are not throttled"), side_by_side=True)
        ],
        "service:jvm_virtual_threads:sum": [Expected(Plausible(1, load.connections, zero=WAITING))],
        "service:lab_requests:rate10s": [Expected(rate)],
        "service:lab_request_errors:ratio_rate10s": [Expected(failing)],
        "service:lab_requests_seconds:p50_rate10s": [Expected(latency)],
        "service:lab_requests_seconds:p99_rate10s": [Expected(latency)],
        "service:jvm_gc_pause_seconds:ratio_rate10s": [Expected(Plausible(0.0002, 0.19, zero=NO_COLLECTION))],
        "service:lab_gc_cpu:ratio_rate10s": [Expected(Plausible(0.0006, 0.5, zero=NO_COLLECTION))],
        "service:lab_open_connections:sum": [Expected(Plausible(0.3 * load.in_flight, 1.1 * load.connections))],
        "service:lab_inflight_requests:sum": [Expected(in_flight)],
        "service:container_memory_rss_bytes_per_inflight_request:ratio": [Expected(Plausible(MIB / 4, 100 * MIB))],
        "service:container_cpu_headroom:ratio": [Expected(headroom, of="backend"), Expected(headroom, of="loadgen")],
        "service:backend_lateness_seconds:p99_rate10s": [Expected(Plausible(most_late / 800, most_late), of="backend")],
        "service:backend_lateness_mean:ratio_rate10s": [Expected(Plausible(0.0005, 0.4), of="backend")],
        "service:backend_lateness_p99:ratio_rate10s": [Expected(Plausible(0.0011, 1), of="backend")],
        "service:backend_loop_busy:ratio_rate10s": [Expected(share, of="backend")],
        "service:container_cpu_limit_cores:sum": [
            Expected(Plausible(1, load.cpus), of="backend"),
            Expected(Plausible(1, load.cpus), of="loadgen"),
        ],
        "service:lab_idle_cpu:ratio_rate10s": [
            Expected(idle, of="backend"),
            Expected(idle, of="loadgen"),
        ],
        "service:lab_foreign_cpu:ratio_rate10s": [Expected(Plausible(0.001, 0.9, zero=ALONE))],
        "service:lab_stolen_cpu:ratio_rate10s": [Expected(Plausible(0.001, 0.9, zero=ALONE))],
        "service:scrape_gap_seconds:max": [Expected(Plausible(0.01, 5, zero=JUST_SCRAPED))],
        "service:lab_run:info": [Expected(Plausible(1, 1))],
        "service:lab_run_unmeasured:max": [Expected(Plausible(1, 1, empty=MEASURED))],
        "service:lab_run_outside_measure:max": [Expected(Plausible(1, 1, empty=MEASURED))],
        "run:lab_requests_ended:rate10s": [Expected(rate, of="run")],
        "run:lab_requests_failed:ratio_rate10s": [Expected(failing, of="run")],
        "run:lab_request_seconds:p50_rate10s": [Expected(latency, of="run")],
        "run:lab_request_seconds:p99_rate10s": [Expected(latency, of="run")],
        "run:container_cpu_usage_seconds:sum": [Expected(Plausible(1, 500), of="run")],
        "run:lab_requests:sum": [Expected(Plausible(load.rate_rps, 300 * load.rate_rps), of="run")],
        "run:container_cpu_ms_per_request:ratio": [Expected(Plausible(0.1, 50), of="run")],
        "run:lab_offered_rate_rps:max": [Expected(Plausible(load.rate_rps, load.rate_rps), of="run")],
        "run:lab_elapsed_seconds:max": [Expected(Plausible(5, 40), of="run")],
    }
