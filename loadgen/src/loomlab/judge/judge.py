"""From a run's raw files to run.json: figures and verdict; a pure function of the files."""

from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, harmonic_mean
from typing import Any

from loomlab.basics.errors import UsageError
from loomlab.judge import verdict
from loomlab.judge.containers import container_figures
from loomlab.judge.facts import Facts, facts_of
from loomlab.judge.memory import Pools, live_set_of
from loomlab.judge.outcome import outcome_of
from loomlab.judge.request_figures import request_figures
from loomlab.records.delay import delay_of
from loomlab.records.evidence import Evidence
from loomlab.records.files import RunFiles, checksum, read_record, write_json
from loomlab.records.load import Closed, OpenRate, Users
from loomlab.records.models import Request, Run, Step, WarmupDigest
from loomlab.records.warmup import Warmup


def judge_run(run_dir: Path) -> Run:
    """Writes run.json and returns it; raises UsageError when `run_dir` is not a run."""
    files = RunFiles(run_dir)
    request = read_record(files.request, Request)
    if request is None:
        raise UsageError(f"{run_dir} is not a run: it has no raw/request.json; name a folder below runs/.")
    run = _judged(facts_of(files, request))
    write_json(files.run, run)
    return run


def _judged(facts: Facts) -> Run:
    request = facts.request
    outcome = outcome_of(facts)
    shown = request_figures(facts, outcome)
    took = container_figures(facts, outcome, shown)
    connections = facts.metrics.backend_connections(facts.end)
    live_set = live_set_of(facts.memory, Pools(facts.endpoint, facts.about, connections))
    evidence = Evidence(
        **_asked(facts, shown.steps),
        **outcome.evidence(),
        **shown.evidence(outcome),
        **took.evidence(),
        warmup=facts.warmup,
    )
    judgement = verdict.judge(evidence)
    return Run(
        run=facts.files.run_dir.resolve().name,
        approach=request.name,
        twin_of=request.approach if request.twin else None,
        tool=request.tool,
        scenario=request.scenario,
        cell=request.cell,
        endpoint=request.endpoint,
        load=request.load,
        concurrency=request.load.connections,
        rate=request.load.rate_rps,
        repeat=request.repeat,
        jdk=request.jdk,
        gc_name=request.gc,
        http_client=request.http_client,
        style=request.style,
        delay=request.delay,
        start_s=request.start_s,
        waited_s=request.waited_s,
        warmup=facts.warmup and digest(facts.warmup),
        started=_iso(request.started),
        finished=_iso(facts.end) if request.finished else None,
        boot_id=facts.host.boot_id,
        verdict=judgement.verdict,
        reasons=judgement.reasons,
        notes=live_set.notes(),
        rules=judgement.rules,
        evidence=evidence,
        raw_sha256=checksum(facts.files.raw),
        **outcome.published(),
        **shown.published(),
        **took.published(evidence),
        **live_set.published(),
    )


def _asked(facts: Facts, steps: list[Step]) -> dict[str, Any]:
    """Fields of Evidence."""
    request, load, delay = facts.request, facts.request.load, delay_of(facts.request.delay)
    return {
        "concurrency": load.connections,
        "backend_calls": facts.endpoint.backend_calls,
        "at_once": facts.endpoint.at_once,
        "closed_model": load.closed_model,
        "steady": not steps and isinstance(load.shape, Closed | OpenRate) and not request.hangs,
        "tool": facts.driver.name,
        "tells_unended": facts.driver.tells_unended,
        "offered_rps": load.rate_rps,
        "delay_asked": delay.text if facts.endpoint.waits_as_configured else None,
        "finished": request.finished,
        "shortest_ms": _shortest_ms(facts),
        "think_s": load.shape.think_s[1] if isinstance(load.shape, Users) and not request.hangs else None,
    }


def _shortest_ms(facts: Facts) -> float:
    """Targets are dealt to users, whose throughputs add up, else to requests, whose times do."""
    floors = facts.floors_ms
    if not isinstance(facts.request.load.shape, Users):
        return fmean(floors)
    return harmonic_mean(floors) if all(floors) else 0.0


def digest(warmup: Warmup) -> WarmupDigest:
    return WarmupDigest(
        bursts=len(warmup.bursts),
        duration_s=warmup.duration_s,
        compiling_s=warmup.compiling_s,
        capped=warmup.capped,
        failed=warmup.failed,
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
