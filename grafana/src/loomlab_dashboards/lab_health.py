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
"""Of the verdict, as docs/tools/draw writes them from its rules."""
BUSY, THROTTLED, RATE_REACHED = LIMITS["BUSY_CPU"], LIMITS["THROTTLED_LIMIT"], 1 - LIMITS["RATE_LIMIT"]
LATE_MEAN, LATE_P99 = LIMITS["LATE_MEAN_LIMIT"], LIMITS["LATE_P99_LIMIT"]
"""Lateness is a share of the requests' latency."""
FOREIGN, MUCH_FOREIGN = LIMITS["FOREIGN_LIMIT"], LIMITS["MUCH_FOREIGN_LIMIT"]
WATCHING_LIMIT = 0.05
SCRAPE_TIMEOUT_S, SCRAPE_GAP_S = 1, 10
FIRING = 'alertstate="firing"'


def _share(title: str, sentence: str) -> Text:
    return Text(title, sentence, "percentunit")


def _trust() -> Row:
    alerts = Text("Alerts", "Alerts that fire now, reasons not to trust the run, which the next panel names.", "none")
    history = Text("Alerts over time", "Which alerts fired; the page How to fix a verdict has the cures.", "none")
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
            number(alerts, firing, bad_from=1, empty="No run in progress"),
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
    headroom = _share("Headroom", "CPU that generator and backend may use and do not: below the line, lower the load.")
    idle = _share("Idle CPUs", "Idle share of the CPUs of generator and backend: below the line, lower the load.")
    loop = _share("Backend's busiest loop", "Its share of one CPU: above the line, lower the load.")
    late = _share(
        "Backend lateness", "Share of latency that its late answers explain at most: above a line, lower the load."
    )
    reached = _share("Offered rate reached", "Ended ÷ offered requests: below the line, lower RATE.")
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
            over_time(reached, Query(share, "{{approach}}"), limits=[RATE_REACHED], empty="No rate is offered."),
        ),
    )


def _held_back() -> Row:
    stopped = rate("container_cpu_cfs_throttled_periods_total", LAB)
    periods = rate("container_cpu_cfs_periods_total", LAB)
    started = f'max by (service) (process_start_time_seconds{{job="java", {LAB}}})'
    throttled = _share("Throttled", "Periods in which a CPU quota stopped a container: above the line, use SIZE=auto.")
    age = Text("Age of the process", "A fall to 0 within a run is a crash: see the log in its raw/.", "s")
    killed = Text(
        "Killed for memory", "Processes killed a second: if any, raise the memory limit or lower the load.", "cps"
    )
    return Row(
        "Was a container held back?",
        line(
            over_time(throttled, Query(f"{stopped} / ({periods} > 0)"), limits=[THROTTLED], empty=NO_QUOTA),
            over_time(age, Query(f"time() - {started}")),
            over_time(killed, Query(rate("container_oom_events_total", LAB))),
        ),
    )


def _record() -> Row:
    gap = Text("Scrape gap", "Time since a target last answered: above the line, free CPU and measure again.", "s")
    duration = Text("Scrape duration", "At a second a scrape times out: free CPU and measure again.", "s")
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
    foreign = _share("Other programs", "Their share of the approach's CPUs: above a line, stop them.")
    stolen = _share("Steal", "CPU time given to other machines: above a line, measure again later.")
    memory = Text("Memory of the host", "The memory that everything on the host uses, and what there is.", "bytes")
    cost = _share("Cost of watching", "Prometheus' and cAdvisor's share of one CPU: above the line, close dashboards.")
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
