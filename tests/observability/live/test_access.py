"""Prometheus can be read, by no page of another origin, and on its port nobody can write, wipe, stop or reload it."""

import pytest

from watching.prometheus import Prometheus


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/v1/admin/tsdb/snapshot", "admin APIs disabled"),
        ("/api/v1/admin/tsdb/delete_series?match[]=up", "admin APIs disabled"),
        ("/api/v1/write", "--web.enable-remote-write-receiver"),
        ("/-/quit", "Lifecycle API is not enabled"),
        ("/-/reload", "Lifecycle API is not enabled"),
    ],
)
def test_administration_is_refused(prometheus: Prometheus, path: str, words: str) -> None:
    answer = prometheus.post(path)
    assert answer.is_error
    assert words in answer.text


def test_a_page_of_another_origin_may_not_read(prometheus: Prometheus) -> None:
    answer = prometheus.post("/api/v1/query?query=up", {"Origin": "http://elsewhere.example.org"})
    assert answer.is_success
    assert "Access-Control-Allow-Origin" not in answer.headers
