"""Serves results/ to browsers and, at /metrics, the newest judged runs to Prometheus."""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import MetricsHandler

from loomlab.answer.figures import EVERY
from loomlab.answer.parity import what_differs
from loomlab.answer.text import load_cell
from loomlab.basics.errors import UsageError
from loomlab.records.files import read_record
from loomlab.records.models import Run, Summary

MOST_RUNS = 60
MOST_CONNECTIONS, TIMEOUT_S = 64, 10
LABELS = ("experiment", "run", "approach", "load", "jdk", "verdict")
NAMES = {"127.0.0.1", "localhost", "results"}
"""By which this server is asked, and that of its address: another one may be a stranger's page, rebound to here."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
NOWHERE = "/dev/null/nowhere"


def serve_results(
    url: Annotated[str, typer.Option(help="Where browsers find this server, for the links of the dashboards.")],
    results: Annotated[Path, typer.Option(help="Where the experiments are.")] = Path("/results"),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8080,
) -> None:
    """Serve the results to browsers, and the figures of the newest runs at /metrics."""
    server_of(url, results, port).serve_forever()


class Server(ThreadingHTTPServer):
    """Closes at once what would be one connection too many."""

    def __init__(self, port: int, handler: Callable[..., SimpleHTTPRequestHandler]) -> None:
        super().__init__(("", port), handler)
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        return self._free.acquire(blocking=False)

    def finish_request(self, request: Any, client_address: Any) -> None:
        try:
            super().finish_request(request, client_address)
        finally:
            self._free.release()


def server_of(url: str, results: Path, port: int) -> Server:
    """Not yet serving; raises UsageError for an address that no browser could open."""
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url {url} is no address of a web page: use for instance http://127.0.0.1:9080.")
    names = NAMES | {_without_port(urlsplit(url).netloc)}

    class Handler(SimpleHTTPRequestHandler, MetricsHandler):
        timeout = TIMEOUT_S
        index_pages = ()

        def parse_request(self) -> bool:
            known = super().parse_request()
            if known and _without_port(self.headers.get("Host", "")) not in names:
                self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
                return False
            return known

        def do_GET(self) -> None:
            if self.path == "/metrics":
                self.registry = metrics_of(results, url.rstrip("/"))
                MetricsHandler.do_GET(self)
            else:
                super().do_GET()

        def translate_path(self, path: str) -> str:
            """Of what is neither a file nor a folder below the results, wherever links lead, one that there is not."""
            found = super().translate_path(path)
            with suppress(OSError, ValueError):
                real = Path(found).resolve()
                if real.is_relative_to(results.resolve()) and (real.is_file() or real.is_dir()):
                    return found
            return NOWHERE

        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("X-Content-Type-Options", "nosniff")
            super().end_headers()

    return Server(port, partial(Handler, directory=str(results)))


def _without_port(host: str) -> str:
    return re.sub(r":\d*$", "", host.lower())


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
    unreadable = gauge("lab_results_unreadable", "Files and folders of the newest runs that cannot be read")

    def tell_run(experiment: str, run: Run) -> None:
        labels = (experiment, run.run, run.approach, load_cell(run.load), run.jdk, run.verdict)
        began = datetime.fromisoformat(run.started).timestamp()
        _labelled(info, *labels, " ".join(run.reasons)).set(1)
        started.labels(*labels).set(began)
        if run.finished:
            finished.labels(*labels).set(datetime.fromisoformat(run.finished).timestamp())
        for column, figure, scale in columns:
            if (value := figure.of(run)) is not None:
                column.labels(*labels).set(value * scale)

    def tell_contrasts(experiment: str) -> None:
        summary = _record(results / experiment / "summary.json", Summary)
        for one in summary.contrasts if summary else ():
            _labelled(contrasts, experiment, one.a, one.b, one.kind, what_differs(one)).set(1)

    found = Found(results)
    newest = [*islice(found.runs(), MOST_RUNS)]
    for one in newest:
        found.tried(tell_run, *one)
    for experiment in dict.fromkeys(experiment for experiment, _ in newest):
        found.tried(tell_contrasts, experiment)
    unreadable.set(len(found.unreadable))
    return registry


def _labelled(gauge: Gauge, *labels: object) -> Gauge:
    """Raises UnicodeEncodeError for what is not UTF-8, as a folder's name may be, which would end the page."""
    "".join(map(str, labels)).encode()
    return gauge.labels(*labels)


class Found:
    """What there is below the results; one file that cannot be read hides no other."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self.unreadable: set[str] = set()  # why each was not read

    def tried[**P, T](self, read: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T | None:
        """What it returns; None where there is nothing to read, or it cannot be read, which stderr tells once."""
        try:
            return read(*arguments, **named)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Exception as error:
            self.unreadable.add(str(error))
            _say(str(error))
            return None

    def runs(self) -> Iterator[tuple[str, Run]]:
        """Judged runs, the newest first, as their experiment's summary has them unless they were measured again."""
        for experiment in self.tried(_newest_first, self._results) or ():
            folders = self.tried(_newest_first, experiment / "runs") if experiment.match("*T*Z-*") else None
            summary = self.tried(_record, experiment / "summary.json", Summary) if folders else None
            summed_up = {(run.run, run.raw_sha256): run for run in summary.runs} if summary else {}
            for folder in folders or ():
                if run := self.tried(_record, folder / "run.json", Run):
                    yield experiment.name, summed_up.get((run.run, run.raw_sha256), run)


def _newest_first(folder: Path) -> list[Path]:
    """What is in it, by the time or the number that names begin with."""
    return sorted(folder.iterdir(), key=lambda path: (path.name.partition("-")[0].zfill(9), path.name), reverse=True)


def _record[R: (Run, Summary)](path: Path, record: type[R]) -> R | None:
    """Read again only when it has changed; raises OSError and ParseError."""
    known: R | None = _read(path, record, path.stat().st_ctime_ns)
    return known


@lru_cache(maxsize=4 * MOST_RUNS)
def _read(path: Path, record: type[Run | Summary], _changed_ns: int) -> Any:
    return read_record(path, record)


@lru_cache(maxsize=4 * MOST_RUNS)
def _say(error: str) -> None:
    print(f"loom-lab: {error}", file=sys.stderr)  # noqa: T201
