"""Grafana's HTTP API, as an anonymous viewer sees it."""

import time
from typing import Any

import httpx

DATA_SOURCE = "loomlab-prometheus"
READY_WITHIN_SECONDS = 60


class NotReadyError(Exception):
    """No healthy answer in time; the message holds the last one."""


class Grafana:
    """One server."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        self._http = httpx.Client(base_url=url, timeout=30, transport=transport)

    def wait(self, seconds: float = READY_WITHIN_SECONDS) -> None:
        """Until its database is up; raises NotReadyError."""
        deadline = time.monotonic() + seconds
        while (said := self._health()) != "ok":
            if time.monotonic() > deadline:
                raise NotReadyError(f"Grafana is not ready after {seconds:.0f} s ({said}): see its log.")
            time.sleep(0.5)

    def data_source_status(self) -> str:
        """Of the check that Grafana makes of the data source itself."""
        return str(self._get(f"/api/datasources/uid/{DATA_SOURCE}/health")["status"])

    def dashboards(self) -> set[str]:
        """The uids of all dashboards that may be seen."""
        return {found["uid"] for found in self._get("/api/search?type=dash-db")}

    def is_provisioned(self, uid: str) -> bool:
        """Whether the dashboard came from a file, and cannot be saved over."""
        return bool(self._get(f"/api/dashboards/uid/{uid}")["meta"]["provisioned"])

    def frames(self, expression: str, kind: str, start: float, end: float) -> int:
        """How many data frames a query of that kind (`range`, `instant`) gives; raises httpx.HTTPStatusError or
        ValueError with Grafana's words."""
        query = {
            "refId": "A",
            "datasource": {"type": "prometheus", "uid": DATA_SOURCE},
            "expr": expression,
            "range": kind == "range",
            "instant": kind == "instant",
            "intervalMs": 2000,
            "maxDataPoints": 600,
        }
        window = {"from": f"{1000 * start:.0f}", "to": f"{1000 * end:.0f}"}
        answer = self._http.post("/api/ds/query", json={"queries": [query], **window})
        result = answer.json().get("results", {}).get("A", {})
        if answer.is_error or "error" in result:
            raise ValueError(f"Grafana refused {expression}: {answer.text}")
        return len(result["frames"])

    def _health(self) -> str:
        try:
            return str(self._get("/api/health")["database"])
        except httpx.HTTPError as error:
            return str(error)

    def _get(self, path: str) -> Any:
        return self._http.get(path).raise_for_status().json()
