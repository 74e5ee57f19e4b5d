"""Asking for new high-water marks, of a server that can, one that cannot, and nobody."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from loomlab.run.management import reset_peaks
from served import serving


@pytest.fixture(params=[200, 204, 404, 500])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """A server that answers PUT /peaks with that status."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_response(request.param if self.path == "/peaks" else 418)
            self.end_headers()

    with serving(Handler) as origin:
        yield origin, request.param


def test_marks_begin_anew_only_where_the_approach_says_so(server: tuple[str, int]) -> None:
    origin, status = server

    assert reset_peaks(origin) is (status < 300)


def test_nobody_there_is_no_error() -> None:
    assert reset_peaks("http://127.0.0.1:9") is False
