"""Asking for new high-water marks, of a server that can, one that cannot, and nobody."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from loomlab.run.peaks import reset_peaks


@pytest.fixture(params=[200, 204, 404, 500])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[HTTPServer, int]]:
    """A server that answers PUT /peaks with that status."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_response(request.param if self.path == "/peaks" else 418)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    serving = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield serving, request.param
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_marks_begin_anew_only_where_the_approach_says_so(server: tuple[HTTPServer, int]) -> None:
    serving, status = server

    assert reset_peaks(f"http://127.0.0.1:{serving.server_port}") is (status == 200)


def test_nobody_there_is_no_error() -> None:
    assert reset_peaks("http://127.0.0.1:9") is False
