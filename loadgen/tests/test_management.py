"""What a process tells over its management port: of its memory when it is asked, and on its metrics page."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from loomlab.run.management import memory_of
from loomlab.run.warmup.process import Process, process_of
from served import serving


@contextmanager
def answering(status: int, body: bytes) -> Iterator[tuple[str, list[str]]]:
    """A management port that answers POST /memory so, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as origin:
        yield origin, asked


def test_what_the_process_tells_is_kept_as_it_is_with_its_times() -> None:
    begun = time.time()
    with answering(200, b'{"heap_used_bytes": 5, "kernel_bytes": null, "new": "x"}') as (origin, asked):
        told = memory_of(origin)()

    assert asked == ["POST /memory"]
    assert told.answer == {"heap_used_bytes": 5, "kernel_bytes": None, "new": "x"}
    assert told.error is None
    assert begun <= told.asked <= told.answered <= time.time()


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (404, b"{}", "answered 404"),
        (200, b"process_cpu 3\n", "did not answer JSON (Expecting value"),
        (200, b"[]", "did not answer an object"),
    ],
)
def test_another_answer_is_none_and_says_why(status: int, body: bytes, why: str) -> None:
    with answering(status, body) as (origin, _):
        told = memory_of(origin)()

    assert told.answer is None
    assert told.error is not None
    assert why in told.error


def test_nobody_there_is_told_too() -> None:
    assert "did not answer" in (memory_of("http://127.0.0.1:9")().error or "")


def test_the_backend_tells_how_many_connections_to_it_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parent / "golden" / "backend-metrics.txt").read_text()
    monkeypatch.setattr("loomlab.run.warmup.process.answered", lambda _: page)

    told = process_of("backend")()

    assert told.cpu_s == pytest.approx(61.61)
    assert replace(told, cpu_s=None) == Process(
        jit_cpu_s=8.076305839, rss_bytes=292_814_848, cpus=1, backend_connections=2001
    )
