"""A load, and a Prometheus that answers what a test wants it to."""

import json
from urllib.parse import parse_qs

import httpx

from watching.load import Load
from watching.prometheus import Prometheus
from watching.series import Series

LOAD = Load(rate_rps=100, delay_seconds=0.3, error_share=0.01, connections=400, cpus=2)

type Answers = dict[str, object]


def steady(value: float, seconds: int = 20, start: float = 100, **labels: str) -> Series:
    return Series(tuple((start + second, value) for second in range(seconds)), labels)


def growing(per_second: float, seconds: int = 20, start: float = 100, **labels: str) -> Series:
    return Series(tuple((start + second, per_second * second) for second in range(seconds)), labels)


def prometheus_that(answers: Answers) -> Prometheus:
    """Answers a query, or the path of a GET, with the data given for it; refuses any other query."""

    def answer(request: httpx.Request) -> httpx.Response:
        sent = parse_qs(request.content.decode())
        key = sent.get("query", [request.url.path])[0]
        if key not in answers:
            return httpx.Response(400, text="parse error")
        return httpx.Response(200, content=json.dumps({"status": "success", "data": answers[key]}))

    return Prometheus("http://prometheus:9090", httpx.MockTransport(answer))
