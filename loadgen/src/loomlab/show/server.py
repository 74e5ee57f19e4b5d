"""Serves results/ to browsers, and /metrics of the newest runs to Prometheus."""

import json
from dataclasses import asdict
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any

import typer
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from loomlab.answer.figures import EVERY
from loomlab.basics.errors import UsageError
from loomlab.show.figures import Results
from loomlab.show.judged import Judged

PORT = 8080


def serve_results(
    url: Annotated[str, typer.Option(help="Where browsers find this server, for the links of the dashboards.")],
    results: Annotated[Path, typer.Option(help="Where the experiments are.")] = Path("/results"),
    port: Annotated[int, typer.Option(min=0, max=65535)] = PORT,
) -> None:
    """Serve the results to browsers, and the figures of the newest runs at /metrics."""
    server_of(url, results, port).serve_forever()


def figures() -> None:
    """Print grafana/figures.json, from which the dashboards know the figures that are exported."""
    told = [asdict(figure.exported) for figure in EVERY if figure.exported]
    print(json.dumps(told, indent=1))  # noqa: T201


def server_of(url: str, results: Path, port: int) -> ThreadingHTTPServer:
    """Not yet serving; raises UsageError for an address that no browser could open, and for a folder that is none."""
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url {url} is no address of a web page: use for instance http://127.0.0.1:9080.")
    if not results.is_dir():
        raise UsageError(f"--results {results} is no folder: name the one that holds the experiments.")
    registry = CollectorRegistry()
    registry.register(Results(Judged(results), url.rstrip("/")))
    return ThreadingHTTPServer(("", port), partial(Handler, registry=registry, directory=str(results)))


class Handler(SimpleHTTPRequestHandler):
    """The files of a folder, and /metrics."""

    def __init__(self, *given: Any, registry: CollectorRegistry, **named: Any) -> None:
        self._registry = registry  # the base class answers while it is made
        super().__init__(*given, **named)

    def do_GET(self) -> None:
        if self.path != "/metrics":
            super().do_GET()
            return
        encode, content_type = choose_encoder(self.headers.get("Accept", ""))
        page = encode(self._registry)
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """A line a request, but for Prometheus, which asks every few seconds."""
        if self.path != "/metrics":
            super().log_request(code, size)
