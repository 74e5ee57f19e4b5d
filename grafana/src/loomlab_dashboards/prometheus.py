"""Prometheus' HTTP API, as far as drawing a dashboard needs it."""

from typing import Any

import httpx

from loomlab_dashboards.substitute import Window

Series = dict[str, Any]
"""`metric` (labels) with `values` over a range, with `value` at one time."""


class QueryError(Exception):
    """What Prometheus said of a query, with the query."""


class Prometheus:
    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=30)

    def over(self, window: Window, expr: str) -> list[Series]:
        """The series of a range query, a sample every step of the window."""
        times = {"start": window.start, "end": window.end, "step": window.step_s}
        return self._get("/api/v1/query_range", {"query": expr, **times})

    def at(self, time: float, expr: str) -> list[Series]:
        """The series of an instant query."""
        return self._get("/api/v1/query", {"query": expr, "time": time})

    def _get(self, path: str, parameters: dict[str, str | float]) -> list[Series]:
        try:
            answer = self._http.get(path, params=parameters).json()
        except (httpx.HTTPError, ValueError) as error:
            raise QueryError(f"Prometheus at {self._http.base_url} does not answer ({error}): is it up?") from error
        if answer["status"] != "success":
            raise QueryError(f"Prometheus refuses {parameters['query']!r}: {answer['error']}.")
        series: list[Series] = answer["data"]["result"]
        return series
