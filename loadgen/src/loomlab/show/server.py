"""Serves results/ to browsers and, at /metrics, the newest judged runs to Prometheus."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import read_record
from loomlab.records.models import Run, Summary

MOST_RUNS, MOST_BYTES = 60, 2**22
MOST_CONNECTIONS, TIMEOUT_S = 64, 10
LABELS = ("experiment", "run", "approach", "load", "jdk", "verdict")
NAMES = {"127.0.0.1", "localhost", "results"}
"""By which this server is asked, and that of its address: another one may be a stranger's page, rebound to here."""
CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'"


def serve_results(
    url: Annotated[str, typer.Option(help="Where browsers find this server, for the links of the dashboards.")],
    results: Annotated[Path, typer.Option(help="Where the experiments are.")] = Path("/results"),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8080,
) -> None:
    """Serve the results to browsers, and the figures of the newest runs at /metrics."""
    server_of(url, results, port).serve_forever()


class Server(ThreadingHTTPServer):
    """Closes at once what would be one connection too many."""

    def __init__(self, *address_and_handler: Any) -> None:
        super().__init__(*address_and_handler)
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def verify_request(self, *_: Any) -> bool:
        return self._free.acquire(blocking=False)

    def finish_request(self, *request_and_address: Any) -> None:
        try:
            super().finish_request(*request_and_address)
        finally:
            self._free.release()


def server_of(url: str, results: Path, port: int) -> Server:
    """Not yet serving; raises UsageError for an address that no browser could open."""
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url {url} is no address of a web page: use for instance http://127.0.0.1:9080.")
    names = NAMES | {urlsplit(url).hostname}

    class Handler(SimpleHTTPRequestHandler, MetricsHandler):
        timeout = TIMEOUT_S
        index_pages = ()

        def parse_request(self) -> bool:
            known = super().parse_request()
            if known and self.headers.get("Host", "").lower().rsplit(":", 1)[0] not in names:
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
            return "/dev/null/nowhere"

        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", CSP)
            self.send_header("X-Content-Type-Options", "nosniff")
            super().end_headers()

    return Server(("", port), partial(Handler, directory=str(results)))


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
    unreadable: set[str] = set()
    newest = [*islice(newest_runs(results, unreadable), MOST_RUNS)]
    for experiment, run in newest:
        with _noting(unreadable):
            labels = (experiment, run.run, run.approach, load_cell(run.load), run.jdk or "", run.verdict)
            info.labels(*labels, " ".join(run.reasons)).set(1)
            started.labels(*labels).set(datetime.fromisoformat(run.started).timestamp())
            if run.finished:
                finished.labels(*labels).set(datetime.fromisoformat(run.finished).timestamp())
            for column, figure, scale in columns:
                if (value := figure.of(run)) is not None:
                    column.labels(*labels).set(value * scale)
    for experiment in dict.fromkeys(experiment for experiment, _ in newest):
        with _noting(unreadable):
            for one in _record(results / experiment / "summary.json", Summary).contrasts:
                contrasts.labels(experiment, one.a, one.b, one.kind, what_differs(one)).set(1)
    gauge("lab_results_unreadable", "Files and folders of the newest runs that cannot be read").set(len(unreadable))
    return registry


def newest_runs(results: Path, unreadable: set[str]) -> Iterator[tuple[str, Run]]:
    """Judged runs, the newest first, as their experiment's summary has them unless they were measured again."""
    for experiment in sorted(results.glob("*T*Z-*"), reverse=True):
        folders, summed_up = list[Path](), dict[tuple[str, str | None], Run]()
        with _noting(unreadable):
            experiment.name.encode()  # another one than UTF-8 would end the page
            folders = sorted((experiment / "runs").iterdir(), key=lambda path: path.name.partition("-")[0].zfill(9))
            summary = _record(experiment / "summary.json", Summary)
            summed_up = {(run.run, run.raw_sha256): run for run in summary.runs}
        for folder in reversed(folders):
            with _noting(unreadable):
                run = _record(folder / "run.json", Run)
                yield experiment.name, summed_up.get((run.run, run.raw_sha256), run)


@contextmanager
def _noting(unreadable: set[str]) -> Iterator[None]:
    """What cannot be read within it is noted, and warned of; what there is not is no mistake."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        return
    except Exception as error:
        unreadable.add(str(error))
        warnings.warn(str(error), stacklevel=2)


def _record[R: (Run, Summary)](path: Path, record: type[R]) -> R:
    """Read again only when it has changed; raises OSError and ParseError, also for what is too large to keep."""
    if (now := path.stat()).st_size > MOST_BYTES:
        raise ParseError(f"{path} has more than {MOST_BYTES:,} bytes.")
    known: R | None = _read(path, record, now.st_ctime_ns)
    if known is None:
        raise ParseError(f"{path} is no file.")
    return known


@lru_cache(maxsize=4 * MOST_RUNS)
def _read(path: Path, record: type[Run | Summary], _changed_ns: int) -> Any:
    return read_record(path, record)
