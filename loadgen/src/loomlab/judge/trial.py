"""Whether a process held a rate, and what was at its limit where it did not."""

import math
from collections.abc import Iterator

import numpy as np

from loomlab.basics.format import percent
from loomlab.judge.facts import Facts, tool_figures
from loomlab.judge.judge import judge_run
from loomlab.judge.limits import RATE_LIMIT
from loomlab.judge.series import ratio
from loomlab.records.capacity import PERCENT, Objective, Search, Trial
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Request, RuleResult, Run
from loomlab.records.requestlog import Numbers, percentile

FULL, COLLECTING = 0.9, 0.3  # of its CPUs, and of its CPU time
FILES = ("too many open files", "cannot assign")
GONE = ("connection refused", "no address", "no route to host")
FEWEST_GROWN = 5  # requests more in flight at the end than at the beginning, that are no chance


def assess(files: RunFiles, search: Search) -> Trial:
    """The judged trial. It held where objectives are met, requests in flight did not grow, and it is not *invalid*."""
    run = judge_run(files.run_dir)
    request = read_record(files.request, Request)
    assert request
    facts = Facts(files, request)
    failures = [rule for rule in run.rules if rule.outcome == "failed" and rule.level == "invalid"]
    beside = next((rule for rule in failures if _limited_by(rule)), None)
    trial = Trial(
        rate_rps=run.rate or 0,
        outcome="held",
        started=facts.start,
        cpu_share=ratio(run.cpus_used, run.cpus_given),
    )
    if spoilt := next((rule for rule in failures if rule.host_cause and not _limited_by(rule)), None):
        return trial.model_copy(update={"outcome": "spoilt", "why": spoilt.reason})
    why = next(_not_held(run, facts, search), None) or next((rule.reason for rule in failures), None)
    if why is None:
        return trial
    gave_out = _limited_by(beside) if beside else next(at_limit(run), None)
    more = {"outcome": "failed", "why": why, "gave_out": gave_out, "elsewhere": beside is not None}
    return trial.model_copy(update=more)


def _limited_by(rule: RuleResult) -> str | None:
    """What beside the service a rule found at its limit."""
    parts = {"generator": "the load generator", "backend": "the backend", "database": "the database"}
    return None if rule.rule == "backend_delay_other" else parts.get(rule.rule.partition("_")[0])


def _not_held(run: Run, facts: Facts, search: Search) -> Iterator[str]:
    _, log = tool_figures(facts)
    if log is None or run.interior is None or run.interior.whole_run:
        yield "it had no interior to judge"
        return
    start, end = run.interior.start, run.interior.start + run.interior.seconds
    inside, starts_s = log.between(start, end), log.starts_s
    # Of those that failed or were not sent at unknown times, as many as the interior is a part of the run.
    share = run.interior.seconds / max(float(np.ptp(starts_s)), run.interior.seconds)
    lost = len(inside.failed_start_s) + round(share * (log.untimed + log.unsent))
    yield from (said for one in search.objectives if (said := _unmet(one, inside.from_due_ms, lost)))
    ends_s = starts_s + log.latencies_ms / 1000
    before, after = (int((starts_s < time).sum() - (ends_s < time).sum()) for time in (start, end))  # in flight
    if after - before > max(RATE_LIMIT * (len(inside) + lost), FEWEST_GROWN):
        yield f"requests in flight grew by {after - before:,}"


def _unmet(objective: Objective, took_ms: Numbers, lost: int) -> str | None:
    """Why it is not met, in a few words; those lost, which failed or were not sent, were longer than any limit."""
    if not len(took_ms):
        return "nothing was answered"
    if not objective.of_latency:
        share = lost / (len(took_ms) + lost)
        return None if share < objective.below else f"{percent(share)} errors"
    if objective.figure == "mean":
        mean_ms = float(took_ms.mean())
        return None if mean_ms < objective.below else f"the mean was {mean_ms:,.0f} ms"
    most = PERCENT.get(objective.figure, 100)
    value_ms = percentile(np.sort(np.concatenate([took_ms, np.full(lost, math.inf)])), most)
    if value_ms < objective.below:
        return None
    return f"{objective.name} was {f'{value_ms:,.0f} ms' if math.isfinite(value_ms) else 'beyond any answer'}"


def at_limit(run: Run) -> Iterator[str]:
    """What of the service was, the likeliest cause first."""
    if any(word in reason.lower() for reason in run.failures for word in GONE):
        yield "its process (connections were refused)"
    if run.cpus_used and run.cpus_given and run.cpus_used >= FULL * run.cpus_given:
        collecting = run.gc.cpu_share or 0
        yield "its CPU" if collecting < COLLECTING else f"its CPU, {percent(collecting)} of it for garbage collection"
    if any(word in reason.lower() for reason in run.failures for word in FILES):
        yield "open files or ports"
    if run.limit and run.in_flight >= FULL * run.limit:
        yield f"its limit of {run.limit:,} requests at once"
    if run.platform_threads and run.in_flight >= FULL * run.platform_threads:
        yield f"its pool of {run.platform_threads:,} threads"
    if run.backend_pool and run.backend_calls and run.in_flight * run.at_once >= FULL * run.backend_pool:
        yield f"its pool of {run.backend_pool:,} connections to the backend"
    if run.database_pool and run.in_flight >= FULL * run.database_pool:
        yield f"its pool of {run.database_pool:,} connections to the database"
