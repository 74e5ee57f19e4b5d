"""Talks HTTP: to services of the lab, and to Prometheus for what it stored about a run."""

import json
import math
import time
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from loomlab.run.console import Stop

TIMEOUT_S, QUERY_TIMEOUT_S = 5.0, 15.0  # an hour of samples is a large answer
PADDING_S = 10.0  # samples before and after the run, so that counters can be interpolated at its ends
WAIT_S = 10.0
RETRY_AFTER_S = (1.0, 2.0, 5.0)  # a busy host's Prometheus may be late once
CONTAINER_METRICS = (
    "cpu_usage_seconds_total", "cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total", "memory_rss", "threads",
    "oom_events_total", "start_time_seconds", "spec_cpu_quota", "spec_cpu_period",
)  # fmt: skip
OWN_METRICS = "(lab|backend|jvm|process)_.*"


class UnreachableError(Exception):
    """No answer, or not the expected one; the message says which."""


def answered(url: str, method: str = "GET", timeout_s: float = TIMEOUT_S) -> str:
    """The body of a 2xx answer, over a connection of its own; raises UnreachableError."""
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=timeout_s)) as connection:
        return _body(connection, url, method)


def _body(connection: HTTPConnection, url: str, method: str = "GET") -> str:
    address = url.partition("?")[0]
    try:
        connection.request(method, urlsplit(url)._replace(scheme="", netloc="").geturl())
        answer = connection.getresponse()
        body = answer.read().decode("utf-8", errors="replace")
    except (OSError, HTTPException) as error:
        connection.close()
        raise UnreachableError(f"{address} did not answer ({error})") from error
    if answer.status // 100 != 2:
        raise UnreachableError(f"{address} answered {answer.status}")
    return body


def json_object(url: str, method: str = "GET", timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """The JSON object that is answered; raises UnreachableError."""
    body = answered(url, method, timeout_s)
    with suppress(ValueError):
        if isinstance(value := json.loads(body), dict):
            return value
    raise UnreachableError(f"{url} did not answer a JSON object")


def samples_of(page: str) -> list[Sample]:
    """Of a page of metrics; raises UnreachableError for another page."""
    try:
        return [sample for family in text_string_to_metric_families(page) for sample in family.samples]
    except ValueError as error:
        raise UnreachableError(f"it does not hold metrics ({error})") from error


class Prometheus:
    """The query API of one server, over one connection that is kept: a run counts the connections that are opened."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=QUERY_TIMEOUT_S)

    def query(self, expression: str, at: float) -> list[dict[str, Any]]:
        """Of an instant query, or the stored samples of a range selector, as they are. Raises UnreachableError."""
        parameters = urlencode({"query": expression, "time": f"{at:.3f}"})
        try:
            answer = json.loads(_body(self._connection, f"{self._url}/api/v1/query?{parameters}"))
            result: list[dict[str, Any]] = answer["data"]["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise UnreachableError(f"{self._url} did not return a query result") from error
        return result

    def wait_for_samples(self, approach: str, past: float, stop: Stop) -> None:
        """Returns once the three containers and the processes of two have a sample past that time, or after 10 s."""
        cpu, process = "container_cpu_usage_seconds_total", "process_start_time_seconds"
        wanted = {(cpu, approach), (cpu, "backend"), (cpu, "loadgen"), (process, approach), (process, "backend")}
        expression = f'{{__name__=~"{cpu}|{process}",service=~"{approach}|backend|loadgen"}}[30s]'
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and not stop.requested:
            with suppress(UnreachableError):
                series = self.query(expression, time.time())
                recent = [one["metric"] for one in series if float(one["values"][-1][0]) > past]
                if wanted <= {(metric.get("__name__"), metric.get("service")) for metric in recent}:
                    return
            stop.pause(0.5)

    def collect(self, approach: str, start: float, end: float, partner: str | None = None) -> dict[str, Any]:
        """Raw samples from 10 s before the run to 20 s after it, or up to now; `error` says why there are none."""
        now = min(time.time(), end + 2 * PADDING_S)
        names = "|".join(CONTAINER_METRICS)
        services = "|".join([approach, *([partner] if partner else []), "backend", "loadgen", "prometheus", "cadvisor"])
        selectors = {
            "containers": f'{{__name__=~"container_({names})",service=~"{services}"}}',
            "approach": f'{{__name__=~"{OWN_METRICS}",service="{approach}"}}',
            "backend": f'{{__name__=~"{OWN_METRICS}",service="backend"}}',
        }
        record: dict[str, Any] = {"start": start, "end": end, "fetched": now, "error": None}
        for name, selector in selectors.items():
            try:
                record[name] = self._samples(f"{selector}[{math.ceil(now - start + PADDING_S)}s]", now)
            except UnreachableError as error:
                record |= {name: [], "error": str(error)}
        return record

    def _samples(self, expression: str, until: float) -> list[dict[str, Any]]:
        """Asked for up to four times."""
        for pause_s in RETRY_AFTER_S:
            with suppress(UnreachableError):
                return self.query(expression, until)
            time.sleep(pause_s)
        return self.query(expression, until)
