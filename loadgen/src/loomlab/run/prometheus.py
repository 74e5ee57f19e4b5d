"""Talks HTTP to Prometheus and to the services' own metrics page."""

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

TIMEOUT_S = 5.0


class UnreachableError(Exception):
    """No answer, or not the expected one; the message says which."""


def answered(url: str, method: str = "GET", timeout_s: float = TIMEOUT_S) -> str:
    """The body of a 2xx answer; raises UnreachableError."""
    address = url.partition("?")[0]
    try:
        request = urllib.request.Request(url, method=method)  # noqa: S310 - http URLs of the lab
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310
            return str(answer.read().decode("utf-8", errors="replace"))
    except urllib.error.HTTPError as error:
        raise UnreachableError(f"{address} answered {error.code}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise UnreachableError(f"{address} did not answer ({error})") from error


def get_json(url: str, timeout_s: float = TIMEOUT_S) -> Any:
    """The parsed body; raises UnreachableError."""
    try:
        return json.loads(answered(url, timeout_s=timeout_s))
    except ValueError as error:
        raise UnreachableError(f"{url} did not return JSON") from error


def exposed_values(page: str) -> dict[str, float]:
    """The metrics of a text-format page by name, each the sum over all of its label sets; raises UnreachableError for
    another page."""
    values: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                values[sample.name] = values.get(sample.name, 0.0) + sample.value
    except ValueError as error:
        raise UnreachableError(f"the page does not hold metrics ({error})") from error
    return values


class Prometheus:
    """The query API of one server, over one connection that is kept: a run counts the connections that are opened."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        parts = urllib.parse.urlsplit(self._url)
        self._path = parts.path
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)

    def query(self, expression: str, at: float) -> list[dict[str, Any]]:
        """Raw result of an instant query; of a range selector, the stored samples with their own timestamps. Raises
        UnreachableError."""
        parameters = urllib.parse.urlencode({"query": expression, "time": f"{at:.3f}"})
        try:
            self._connection.request("GET", f"{self._path}/api/v1/query?{parameters}")
            answer = self._connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise UnreachableError(f"{self._url} did not answer ({error})") from error
        if answer.status // 100 != 2:
            raise UnreachableError(f"{self._url}/api/v1/query answered {answer.status}")
        try:
            result: list[dict[str, Any]] = json.loads(body)["data"]["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise UnreachableError(f"{self._url} did not return a query result") from error
        return result
