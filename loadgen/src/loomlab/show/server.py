"""Serves results/ to browsers and, at /metrics, the newest judged runs to Prometheus."""

import sys
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import MetricsHandler

from loomlab.answer.figures import EVERY
from loomlab.answer.parity import what_differs
from loomlab.answer.text import load_cell
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import read_record
from loomlab.records.models import Run, Summary

MOST_RUNS = 60
LABELS = ("experiment", "run", "approach", "load", "jdk", "verdict")


def serve_results(
    url: Annotated[str, typer.Option(help="Where browsers find this server, for the links of the dashboards.")],
    results: Annotated[Path, typer.Option(help="Where the experiments are.")] = Path("/results"),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8080,
) -> None:
    """Serve the results to browsers, and the figures of the newest runs at /metrics."""
    server_of(url, results, port).serve_forever()


def server_of(url: str, results: Path, port: int) -> ThreadingHTTPServer:
    """Not yet serving; raises UsageError for an address that no browser could open."""
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url {url} is no address of a web page: use for instance http://127.0.0.1:9080.")

    class Handler(SimpleHTTPRequestHandler, MetricsHandler):
        def do_GET(self) -> None:
            if self.path == "/metrics":
                self.registry = metrics_of(results, url.rstrip("/"))
                MetricsHandler.do_GET(self)
            else:
                super().do_GET()

    return ThreadingHTTPServer(("", port), partial(Handler, directory=str(results)))


def metrics_of(results: Path, url: str) -> CollectorRegistry:
    """Verdicts, reasons and figures of the newest runs, and what their approaches differ in, from their files."""
    registry = CollectorRegistry()
    gauge = partial(Gauge, registry=registry)
    gauge("lab_results_info", "Where the results can be looked at", ["url"]).labels(url).set(1)
    info = gauge("lab_result_info", "The verdict on a run", [*LABELS, "reasons"])
    started = gauge("lab_result_started_seconds", "when the run began, its warm-up included", LABELS)
    finished = gauge("lab_result_finished_seconds", "when its measured phase ended", LABELS)
    columns = [
        (gauge(f"lab_result_{exported.name}", figure.meaning, LABELS), figure, exported.scale)
        for figure in EVERY
        if (exported := figure.exported)
    ]
    contrasts = gauge("lab_contrast_info", "What two approaches differ in", ["experiment", "a", "b", "kind", "differs"])
    newest = [*islice(newest_runs(results), MOST_RUNS)]
    for experiment, run in newest:
        labels = (experiment, run.run, run.approach, load_cell(run.load), run.jdk, run.verdict)
        info.labels(*labels, " ".join(run.reasons)).set(1)
        started.labels(*labels).set(datetime.fromisoformat(run.started).timestamp())
        if run.finished:
            finished.labels(*labels).set(datetime.fromisoformat(run.finished).timestamp())
        for column, figure, scale in columns:
            if (value := figure.of(run)) is not None:
                column.labels(*labels).set(value * scale)
    for experiment in dict.fromkeys(experiment for experiment, _ in newest):
        summary = _record(results / experiment / "summary.json", Summary)
        for one in summary.contrasts if summary else ():
            contrasts.labels(experiment, one.a, one.b, one.kind, what_differs(one)).set(1)
    return registry


def newest_runs(results: Path) -> Iterator[tuple[str, Run]]:
    """Judged runs, the newest first, as their experiment's summary has them unless they were measured again."""
    for runs in sorted(results.glob("*T*Z-*/runs"), reverse=True):
        summary = _record(runs.with_name("summary.json"), Summary)
        summed_up = {(run.run, run.raw_sha256): run for run in summary.runs} if summary else {}
        paths = sorted(runs.glob("*/run.json"), key=lambda path: path.parent.name.partition("-")[0].zfill(9))
        for path in reversed(paths):
            if run := _record(path, Run):
                yield runs.parent.name, summed_up.get((run.run, run.raw_sha256), run)


def _record[R: (Run, Summary)](path: Path, record: type[R]) -> R | None:
    """None where there is none; read again only when it has changed. A damaged one is named on stderr once."""
    known: R | None = _read(path, record, path.stat().st_mtime_ns) if path.exists() else None
    return known


@lru_cache(maxsize=4 * MOST_RUNS)
def _read(path: Path, record: type[Run | Summary], _changed_ns: int) -> Any:
    try:
        return read_record(path, record)
    except ParseError as error:
        print(f"loom-lab: {error}", file=sys.stderr)  # noqa: T201
        return None
