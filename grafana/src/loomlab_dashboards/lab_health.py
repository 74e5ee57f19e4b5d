"""Lab health: whether the run that goes on can be trusted."""

import json
from pathlib import Path

from loomlab_dashboards.frame import Json, Row, build, finished_runs, line, many
from loomlab_dashboards.palette import IDLE, INVALID, SUSPECT, UP
from loomlab_dashboards.panels import NO_QUOTA, Query, Text, number, over_time, states
from loomlab_dashboards.queries import APPROACH, rate, select, total

LAB = 'service=~"backend|loadgen|$approach"'
WATCHING = 'service=~"prometheus|cadvisor"'
LIMITS = json.loads((Path(__file__).parents[2] / "limits.json").read_text(encoding="utf-8"))
"""Of the verdict, as docs/draw writes them from its rules."""
BUSY, THROTTLED, RATE_REACHED = LIMITS["BUSY_CPU"], LIMITS["THROTTLED_LIMIT"], 1 - LIMITS["RATE_LIMIT"]
LATE_MEAN, LATE_P99 = LIMITS["LATE_MEAN_LIMIT"], LIMITS["LATE_P99_LIMIT"]
"""Lateness is a share of the requests' latency."""
FOREIGN, MUCH_FOREIGN = LIMITS["FOREIGN_LIMIT"], LIMITS["MUCH_FOREIGN_LIMIT"]
WATCHING_LIMIT = 0.05
SCRAPE_TIMEOUT_S, SCRAPE_GAP_S = 1, 10
FIRING = 'alertstate="firing"'


def _trust() -> Row:
    alerts = Text("Alerts", "The number of alerts that fire now, each a reason not to trust the current run.", "none")
    history = Text("Alerts over time", "Which alerts made the run invalid or suspect, and when.", "none")
    up = Text("Targets", "Which targets Prometheus could scrape; an approach that is not started is no target.", "none")
    firing = Query(f"count({select('ALERTS', FIRING)}) or 0 * max(lab_run_info)", "firing")
    invalid = select("ALERTS", FIRING, 'severity="invalid"')
    suspect = select("ALERTS", FIRING, 'severity="suspect"')
    worst = f"max by (alertname, service, approach) (2 * {invalid} or {suspect})"
    worst_of_each = Query(worst, "{{alertname}} {{service}}{{approach}}")
    levels = {"1": ("suspect", SUSPECT), "2": ("invalid", INVALID)}
    return Row(
        "Can this run be trusted?",
        line(
            number(alerts, firing, bad_from=1, empty="No run goes on."),
            states(history, worst_of_each, levels, empty="No alert fired."),
            states(
                up,
                Query('max by (service) (up{job!="java"} or process_start_time_seconds{job="java"} > bool 0)'),
                {"0": ("down", IDLE), "1": ("up", UP)},
            ),
            widths=(4, 10, 10),
        ),
    )


def _limits() -> Row:
    headroom = Text("Headroom", "The unused share of the CPUs that generator and backend may use.", "percentunit")
    idle = Text("Idle CPUs", "The idle share of the CPUs that generator and backend are bound to.", "percentunit")
    loop = Text("Backend's busiest loop", "The share of one CPU that the busiest event loop uses.", "percentunit")
    late = Text(
        "Backend lateness",
        "How much of the requests' latency the backend's late answers can explain at most, as a share.",
        "percentunit",
    )
    reached = Text("Offered rate reached", "Ended requests as a share of those offered.", "percentunit")
    share = "run:lab_requests_ended:rate10s / (run:lab_offered_rate_rps:max > 0)"
    mean = Query("service:backend_lateness_mean:ratio_rate10s", f"mean, limit {LATE_MEAN:.0%}")
    p99 = Query("service:backend_lateness_p99:ratio_rate10s", f"p99, limit {LATE_P99:.0%}")
    return Row(
        "Did generator or backend limit it?",
        line(
            over_time(headroom, Query("service:container_cpu_headroom:ratio"), limits=[1 - BUSY]),
            over_time(idle, Query("service:lab_idle_cpu:ratio_rate10s"), limits=[1 - BUSY]),
            over_time(loop, Query("service:backend_loop_busy:ratio_rate10s"), limits=[BUSY]),
        ),
        line(
            over_time(late, mean, p99, limits=[LATE_MEAN, LATE_P99]),
            over_time(reached, Query(share, "{{approach}}"), limits=[RATE_REACHED]),
        ),
    )


def _held_back() -> Row:
    stopped = rate("container_cpu_cfs_throttled_periods_total", LAB)
    periods = rate("container_cpu_cfs_periods_total", LAB)
    started = f'max by (service) (process_start_time_seconds{{job="java", {LAB}}})'
    throttled = Text("Throttled", "The share of the periods in which the CPU quota stopped a container.", "percentunit")
    age = Text("Age of the process", "How long a process has run, which falls to 0 when it is started again.", "s")
    killed = Text("Killed for memory", "How many processes a second the kernel killed because memory ran out.", "cps")
    return Row(
        "Was a container held back?",
        line(
            over_time(throttled, Query(f"{stopped} / ({periods} > 0)"), limits=[THROTTLED], empty=NO_QUOTA),
            over_time(age, Query(f"time() - {started}")),
            over_time(killed, Query(rate("container_oom_events_total", LAB))),
        ),
    )


def _record() -> Row:
    gap = Text("Scrape gap", "The time since a target last answered a scrape, for targets whose container runs.", "s")
    duration = Text("Scrape duration", "How long a scrape took; a scrape that takes a second times out.", "s")
    seconds = "max by (service) (scrape_duration_seconds and on (job, instance) up == 1)"
    return Row(
        "Are there holes in the record?",
        line(
            over_time(gap, Query("service:scrape_gap_seconds:max"), limits=[SCRAPE_GAP_S]),
            over_time(duration, Query(seconds), limits=[SCRAPE_TIMEOUT_S]),
        ),
    )


def _host() -> Row:
    cpu = Text("CPU of the host", "The CPU time that everything on the host used, in cores.", "suffix:cores")
    foreign = Text(
        "Other programs",
        "The share of the approach's CPUs that other programs used, without interrupts.",
        "percentunit",
    )
    stolen = Text(
        "Steal", "The share of the CPUs of each part that the hypervisor gave to other machines.", "percentunit"
    )
    memory = Text("Memory of the host", "The memory that everything on the host uses, and what there is.", "bytes")
    cost = Text("Cost of watching", "The share of one CPU that Prometheus and cAdvisor used.", "percentunit")
    each = rate("container_cpu_usage_seconds_total", WATCHING)
    used = Query(total("host_memory_working_set_bytes"), "used")
    limit = Query(total("host_spec_memory_limit_bytes"), "limit")
    return Row(
        "What does the host do, and what does watching cost?",
        line(
            over_time(foreign, Query("service:lab_foreign_cpu:ratio_rate10s"), limits=[FOREIGN, MUCH_FOREIGN]),
            over_time(stolen, Query("service:lab_stolen_cpu:ratio_rate10s"), limits=[FOREIGN, MUCH_FOREIGN]),
        ),
        line(
            over_time(cpu, Query(rate("host_cpu_usage_seconds_total"), "used")),
            over_time(memory, used, limit),
            over_time(cost, Query(each), Query(f"sum ({each})", "together"), limits=[WATCHING_LIMIT]),
        ),
    )


def lab_health() -> Json:
    return build(
        "loomlab-lab-health",
        "Lab health",
        "Whether the current run can be trusted: generator, backend, throttling, scrapes and host.",
        [many("approach", "Approach", "label_values(lab_approach_info, service)")],
        [finished_runs(APPROACH.replace("service", "approach"))],
        [_trust(), _limits(), _held_back(), _record(), _host()],
    )
