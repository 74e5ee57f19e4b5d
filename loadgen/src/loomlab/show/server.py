"""Serves results/ to browsers and, at /metrics, the newest judged runs to Prometheus."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

import typer
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import MetricsHandler
from pydantic import ValidationError
from pydantic_core import from_json

from loomlab.answer.figures import EVERY
from loomlab.answer.parity import what_differs
from loomlab.answer.text import load_cell
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.contrasts import Contrast, Difference
from loomlab.records.files import newest_first, values_in
from loomlab.records.models import Run
from loomlab.run.prometheus import LimitedSocket

MOST_RUNS, MOST_FOLDERS = 60, 1000  # that are told; experiments, and of each the runs, among which these are
MOST_BYTES, MOST_VALUES, MOST_TOLD = 2**22, 2**17, 2**18  # of a file; and of all that a page is made of
FEWEST_VALUES, BYTES_PER_VALUE = 512, 32  # that a file counts for, so that there are not too many, nor too long texts
MOST_LETTERS = 4000  # of a label
MOST_CONNECTIONS, TIMEOUT_S, ANSWER_S = 64, 10, 60  # to ask, and to take the answer
UNTOLD: dict[str, Any] = {
    "rules": [],
    "kinds": [],
    "steps": [],
    "slices": [],
    "episodes": [],
    "notes": [],
    "failures": {},
    "capacity": None,
}
"""The larger part of a run."""
LABELS = ("experiment", "run", "approach", "load", "jdk", "verdict")
NAMES = {"127.0.0.1", "localhost", "results"}
"""By which this server is asked, and that of its address: another one may be a stranger's page, rebound to here."""
CSP = (
    "sandbox allow-downloads; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; "
    "frame-ancestors 'none'"
)


def serve_results(
    url: Annotated[str, typer.Option(help="Where browsers find this server, for the links of the dashboards.")],
) -> None:
    """Serve the results to browsers, and the figures of the newest runs at /metrics."""
    server_of(url, Path("/results"), 8080).serve_forever()


class Asking(LimitedSocket):
    """What is answered must be taken in time, too."""

    def sendall(self, data: Any, flags: int = 0) -> None:
        self.limit()
        super().sendall(data, flags)


class Server(ThreadingHTTPServer):
    """Closes at once what would be one connection too many, and those that take too long, however they drip."""

    def __init__(self, *address_and_handler: Any) -> None:
        super().__init__(*address_and_handler)
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def get_request(self) -> tuple[Asking, Any]:
        plain, address = super().get_request()
        asking = Asking(fileno=plain.detach())
        asking.allow(TIMEOUT_S)
        return asking, address

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
        index_pages = ()
        connection: Asking

        def parse_request(self) -> bool:
            known = super().parse_request()
            self.connection.allow(ANSWER_S)
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
    files = Files()
    newest = [*islice(newest_runs(results, files), MOST_RUNS)]
    for experiment, run, verdict, reasons in newest:
        with files.noting():
            labels = short(experiment, run.run, run.approach, load_cell(run.load), run.jdk or "", verdict)
            info.labels(*labels, *short(reasons)).set(1)
            started.labels(*labels).set(datetime.fromisoformat(run.started).timestamp())
            if run.finished:
                finished.labels(*labels).set(datetime.fromisoformat(run.finished).timestamp())
            for column, figure, scale in columns:
                if (value := figure.of(run)) is not None:
                    column.labels(*labels).set(value * scale)
    for experiment in dict.fromkeys(experiment for experiment, *_ in newest):
        with files.noting():
            for contrast in files.read(results / experiment / "summary.json", summed_up)[1]:
                contrasts.labels(experiment, *short(*contrast)).set(1)
    unreadable = gauge("lab_results_unreadable", "Files and folders of the newest runs that cannot be read")
    unreadable.set(len(files.unreadable))
    Files.earlier = files.kept
    return registry


def short(*values: object) -> list[str]:
    """As labels: an approach's name stands in each of its figures."""
    return [f"{value}"[:MOST_LETTERS] for value in values]


def newest_runs(results: Path, files: "Files") -> Iterator[tuple[str, Run, str, str]]:
    """Experiment, run, verdict and reasons: of judged runs, the newest first, as their experiment's summary has them
    unless they were measured again."""
    for experiment in newest_first(results.glob("*T*Z-*"))[:MOST_FOLDERS]:
        folders, summed = list[Path](), dict[Any, tuple[str, str]]()
        with files.noting():
            experiment.name.encode()  # another one than UTF-8 would end the page
            some = islice((experiment / "runs").iterdir(), MOST_FOLDERS)
            folders = sorted(some, key=lambda path: path.name.partition("-")[0].zfill(9))[-MOST_RUNS:]
            summed, _ = files.read(experiment / "summary.json", summed_up)
        for folder in reversed(folders):
            with files.noting():
                run = files.read(folder / "run.json", run_of)
                own = (run.verdict, " ".join(run.reasons))
                yield experiment.name, run, *summed.get((run.run, run.raw_sha256), own)


def run_of(value: Any) -> Run:
    """What a run.json holds, without what no page tells; raises ParseError."""
    try:
        load = value["load"] | {"targets": value["load"]["targets"][:1]}
        return Run.model_validate(value | UNTOLD | {"load": load}, extra="ignore")
    except ValidationError as error:  # of which there may be as many as values
        raise ParseError(f"it has {error.error_count():,} mistakes.") from None


def summed_up(value: Any) -> tuple[dict[Any, tuple[str, str]], list[tuple[str, ...]]]:
    """What a summary.json says of its runs, verdict and reasons by name and checksum, and of its contrasts."""
    runs = {(run["run"], run.get("raw_sha256")): (run["verdict"], " ".join(run["reasons"])) for run in value["runs"]}
    contrasts = (
        Contrast.model_construct(**one | {"differs": [Difference.model_construct(**part) for part in one["differs"]]})
        for one in value["contrasts"]
    )
    return runs, [(one.a, one.b, one.kind, what_differs(one)) for one in contrasts]


class Files:
    """What one page is made of; each is read once, and again when it has changed, and no more than so many values."""

    earlier: ClassVar[dict[tuple[Path, int], tuple[int, Any]]] = {}
    """What the last page was made of, by path and time of change: its number of values, and what it says or why not."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Path, int], tuple[int, Any]] = {}
        self.unreadable: set[str] = set()
        self._left = MOST_TOLD

    @contextmanager
    def noting(self) -> Iterator[None]:
        """What cannot be read within it is noted, and warned of; what there is not is no mistake."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            return
        except Exception as error:
            self.unreadable.add(str(error))
            warnings.warn(str(error), stacklevel=2)

    def read[T](self, path: Path, told: Callable[[Any], T]) -> T:
        """What a JSON file says; raises OSError, and ParseError where it says nothing, or too much for the page."""
        key = (path, path.stat().st_ctime_ns)
        if key not in self.kept:
            count, value = self.earlier.get(key) or _read(path, told, self._left)
            if count > self._left:
                raise ParseError(f"{path} has more than there is room for beside newer runs.")
            self._left -= count
            self.kept[key] = count, value
        value = self.kept[key][1]
        if isinstance(value, str):
            raise ParseError(f"{path} cannot be read: {value}")
        known: T = value
        return known


def _read(path: Path, told: Callable[[Any], Any], most: int) -> tuple[int, Any]:
    """How many values a file counts for, and what it says, unless these are more; a text: why it says nothing."""
    if not path.is_file():
        return FEWEST_VALUES, "it is no file."
    with path.open("rb") as source:
        content = source.read(MOST_BYTES + 1)
    count = FEWEST_VALUES + max(values_in(content), len(content) // BYTES_PER_VALUE)
    if len(content) > MOST_BYTES or count > MOST_VALUES:
        return FEWEST_VALUES, f"it has more than {MOST_BYTES:,} bytes or {MOST_VALUES:,} values."
    try:
        return count, told(from_json(content, allow_inf_nan=False)) if count <= most else None
    except Exception as error:
        return count, f"{error!r:.200}"
