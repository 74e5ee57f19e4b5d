"""From a run's raw files to run.json: figures and verdict; a pure function of the files."""

from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, harmonic_mean

from pydantic import ValidationError

from loomlab.basics.errors import ParseError, UsageError
from loomlab.judge import rules
from loomlab.judge.containers import container_figures, live_set_of
from loomlab.judge.facts import Facts, tool_figures
from loomlab.judge.request_figures import request_figures, slice_figures
from loomlab.records.capacity import Capacity
from loomlab.records.endpoints import delay_of
from loomlab.records.files import RunFiles, check_links, checksum, read_record, settle, write_json, write_sums
from loomlab.records.load import Users
from loomlab.records.models import Request, Run

ISO = "%Y-%m-%dT%H:%M:%SZ"
AS_ASKED = (
    "tool", "scenario", "partner", "cell", "endpoint", "load", "delay", "repeat", "jdk", "http_client", "style",
    "start_s", "waited_s", "quota_cpus", "capacity_share", "pool_asked", "generators",
)  # fmt: skip
"""Fields of Run that Request has, too."""


def judge_run(run_dir: Path) -> Run:
    """The judged run, which it writes to run.json; raises UsageError as `judged` and `check_links`."""
    check_links(run_dir)
    files = RunFiles(run_dir)
    run = judged(files)
    settle(run_dir)  # so that what run.json is made of is on the disk before it
    write_json(files.run, run)
    trials = sorted((run_dir / "trials").rglob("*"))
    write_sums(run_dir, [*sorted(files.raw.rglob("*")), *trials, files.run])
    return run


def judged(files: RunFiles) -> Run:
    """The run by its raw files; raises UsageError where there are none, ParseError where they give what no run has."""
    request = read_record(files.request, Request)
    if request is None:
        raise UsageError(f"{files.run_dir} is not a run: it has no raw/request.json; name a folder below runs/.")
    facts = Facts(files, request)
    of_tool, log = tool_figures(facts)
    if log is not None and facts.slices and facts.slices.slices:
        of_requests, counted = slice_figures(facts.slices, log, request.load, facts.floors_ms)
    else:
        of_requests, counted = request_figures(facts, log, of_tool["requests"], of_tool["duration_s"])
    figures = of_tool | container_figures(facts, counted) | of_requests | live_set_of(facts)
    load, shape = request.load, request.load.shape
    # Targets are dealt to users, whose throughputs add up, else to requests, whose times do.
    mean = harmonic_mean if isinstance(shape, Users) else fmean
    asked = {name: getattr(request, name) for name in AS_ASKED} | {
        "run": files.run_dir.resolve().name,
        "approach": request.name,
        "twin_of": request.approach if request.side else None,
        "sight": facts.sight,
        "concurrency": load.connections,
        "rate": load.rate_rps,
        "offered_rps": load.rate_rps,
        "closed_model": load.closed_model,
        "steady": facts.steady,
        "think_s": shape.think_s[1] if isinstance(shape, Users) else None,
        "backend_hangs": bool(request.hangs),
        "backend_calls": facts.endpoint.backend_calls,
        "at_once": facts.endpoint.at_once,
        "database": facts.endpoint.database,
        "tells_unended": facts.driver.tells_unended,
        "delay_asked": delay_of(request.delay).text if facts.endpoint.waits_as_configured else None,
        "shortest_ms": mean(facts.floors_ms),
        "gc_name": request.gc,
        "warmup": facts.warmup and facts.warmup.digest,
        "started": datetime.fromtimestamp(request.started, UTC).strftime(ISO),
        "finished": datetime.fromtimestamp(facts.end, UTC).strftime(ISO) if request.finished else None,
        "interrupted": not request.finished,
        "capacity": read_record(files.capacity, Capacity),
        "boot_id": facts.host.boot_id,
        "raw_sha256": checksum(files.raw),
    }
    try:
        run = Run.model_validate(asked | figures)
    except ValidationError as error:
        wrong = error.errors()[0]
        what = f"{'.'.join(map(str, wrong['loc']))} {wrong['input']!r:.40}"
        raise ParseError(f"{files.run_dir}: its raw files give {what}, which no run has; measure again.") from None
    return run.model_copy(update=rules.judge(run))
