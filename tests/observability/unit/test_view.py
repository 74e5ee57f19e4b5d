"""A viewer asks what a dashboard asks."""

from urllib.parse import parse_qs

import httpx

from watching.panels import PanelQuery
from watching.prometheus import Prometheus
from watching.view import look


def test_a_look_is_every_query_once_over_the_last_hour() -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        asked.append((request.url.path, sent))
        return httpx.Response(200, json={"data": {"resultType": "vector", "result": []}})

    prometheus = Prometheus("http://prometheus:9090", httpx.MockTransport(answer))
    queries = [
        PanelQuery("Compare", "Throughput", "range", "rate(x[8s])", "reqps", "{{service}}"),
        PanelQuery("Compare", "Runs", "instant", "y", "none", "p99"),
    ]
    look(prometheus, queries, 10_000)
    assert asked == [
        ("/api/v1/query_range", {"query": "rate(x[8s])", "start": "6400.000", "end": "10000.000", "step": "6"}),
        ("/api/v1/query", {"query": "y", "time": "10000.000"}),
    ]
