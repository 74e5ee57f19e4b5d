"""The HTTP API of Prometheus, as far as the checks need it."""

import math
from dataclasses import dataclass
from typing import Any

import httpx

from watching.series import Series


class RefusedError(Exception):
    """Prometheus did not take a query; the message holds the query and its answer."""


@dataclass(frozen=True)
class Rule:
    """A recording or alerting rule as it is loaded."""

    name: str
    kind: str
    health: str
    last_error: str


class Prometheus:
    """One server."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        self._http = httpx.Client(base_url=url, timeout=30, transport=transport)

    def instant(self, expression: str, at: float) -> list[Series]:
        """Of a range selector, the stored samples with their own times."""
        return self._query("/api/v1/query", {"query": expression, "time": f"{at:.3f}"})

    def range(self, expression: str, start: float, end: float, step_seconds: float) -> list[Series]:
        window = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step_seconds:g}"}
        return self._query("/api/v1/query_range", {"query": expression, **window})

    def rules(self) -> list[Rule]:
        groups = self._http.get("/api/v1/rules").raise_for_status().json()["data"]["groups"]
        return [
            Rule(rule["name"], rule["type"], rule["health"], rule.get("lastError", ""))
            for group in groups
            for rule in group["rules"]
        ]

    def post(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        """What a POST without a body is answered, whatever its status."""
        return self._http.post(path, headers=headers)

    def _query(self, path: str, parameters: dict[str, str]) -> list[Series]:
        answer = self._http.post(path, data=parameters)
        if answer.is_error:
            raise RefusedError(f"{parameters['query']}: {answer.text}")
        data = answer.json()["data"]
        if data["resultType"] == "scalar":
            return [_series({"metric": {}, "value": data["result"]})]
        return [_series(entry) for entry in data["result"]]


def _series(entry: dict[str, Any]) -> Series:
    pairs = entry.get("values") or [entry["value"]]
    samples = [(float(time), float(value)) for time, value in pairs]
    return Series(tuple(sorted(sample for sample in samples if math.isfinite(sample[1]))), entry["metric"])
