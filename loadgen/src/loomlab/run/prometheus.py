"""Talks HTTP: to services of the lab, and to Prometheus for what it stored about a run."""

import math
import socket
import ssl
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from pydantic_core import from_json

from loomlab.run.console import Stop

TIMEOUT_S, QUERY_TIMEOUT_S = 5.0, 15.0  # an hour of samples is a large answer
MOST_BYTES, LARGEST = 2**22, 2**27  # of an answer; to a load, and of Prometheus: those samples have some 30 MB
PADDING_S = 10.0  # samples before and after the run, so that counters can be interpolated at its ends
WAIT_S = 10.0
RETRY_AFTER_S = (1.0, 2.0, 5.0)  # a busy host's Prometheus may be late once
CONTAINER_METRICS = (
    "cpu_usage_seconds_total", "cpu_cfs_periods_total", "cpu_cfs_throttled_periods_total", "memory_rss", "threads",
    "start_time_seconds", "spec_cpu_quota", "spec_cpu_period",
)  # fmt: skip
BESIDE = ("backend", "database", "database-exporter", "loadgen", "prometheus", "cadvisor")
OWN_METRICS = "(lab|backend|jvm|process)_.*"
FAILURES = (OSError, ValueError, HTTPException)  # ValueError: of a chunk of a negative size


class UnreachableError(Exception):
    """No answer, or not the expected one; the message says which."""


class LimitedSocket(socket.socket):
    """Reading it raises TimeoutError where an answer takes longer than is allowed, however it drips."""

    def allow(self, timeout_s: float) -> None:
        """From now on, for the next answer."""
        self.settimeout(timeout_s)
        self._deadline = time.monotonic() + timeout_s

    def limit(self) -> None:
        """What follows takes no longer than is left."""
        if (left_s := self._deadline - time.monotonic()) <= 0:
            raise TimeoutError("timed out")
        self.settimeout(left_s)

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        self.limit()
        return super().recv_into(buffer, nbytes or 0, flags)


class LimitedTls(LimitedSocket, ssl.SSLSocket):
    """The same over TLS."""


class Connection(HTTPConnection):
    """To where a URL is. Its time-out is of the whole answer; certificates are trusted by SSL_CERT_FILE."""

    sock: LimitedSocket
    timeout: float

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        super().__init__(parts.netloc, timeout=timeout)
        self.netloc, self._tls = parts.netloc, parts.scheme == "https"

    def connect(self) -> None:
        plain = socket.create_connection((self.host, self.port), self.timeout)
        if self._tls:
            context = ssl.create_default_context()
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which no tool is
            context.sslsocket_class = LimitedTls
            self.sock = cast("LimitedTls", context.wrap_socket(plain, server_hostname=self.host))
        else:
            self.sock = LimitedSocket(fileno=plain.detach())
        self.sock.allow(self.timeout)


def body_of(answer: HTTPResponse, most: int = LARGEST) -> bytes:
    """All of it; raises one of FAILURES, also where there is no end to it."""
    body = answer.read(most)
    if answer.length or len(body) == most:
        raise IncompleteRead(body, answer.length)
    return body


def answered(url: str, method: str = "GET", timeout_s: float = TIMEOUT_S) -> str:
    """The body of a 2xx answer, over a connection of its own; raises UnreachableError."""
    with closing(Connection(url, timeout_s)) as connection:
        return asked(connection, url, method).decode("utf-8", errors="replace")


def asked(connection: Connection, url: str, method: str = "GET", most: int = MOST_BYTES) -> bytes:
    """The body of a 2xx answer; raises UnreachableError."""
    address = url.partition("?")[0]
    try:
        connection.request(method, urlsplit(url)._replace(scheme="", netloc="").geturl())
        connection.sock.allow(connection.timeout)
        answer = connection.getresponse()
        body = body_of(answer, most)
    except FAILURES as error:
        connection.close()
        raise UnreachableError(f"{address} did not answer ({error})") from error
    if answer.status // 100 != 2:
        raise UnreachableError(f"{address} answered {answer.status}")
    return body


def json_object(url: str, method: str = "GET", timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """The JSON object that is answered; raises UnreachableError."""
    body = answered(url, method, timeout_s)
    with suppress(ValueError):
        if isinstance(value := from_json(body, allow_inf_nan=False), dict):
            return value
    raise UnreachableError(f"{url} did not answer a JSON object")


def samples_of(page: str) -> list[Sample]:
    """Of a page of metrics; raises UnreachableError for another page."""
    try:
        every = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
        return [sample._replace(value=float(sample.value)) for sample in every]
    except (ValueError, LookupError, OverflowError) as error:  # LookupError: of a label without a name
        raise UnreachableError(f"it does not hold metrics ({error})") from error


class Prometheus:
    """The query API of one server, over one connection that is kept: a run counts the connections that are opened."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._connection = Connection(url, QUERY_TIMEOUT_S)

    def query(self, expression: str, at: float | None) -> list[dict[str, Any]]:
        """Of an instant query, or the stored samples of a range selector, as they are; None: by the server's clock.
        Raises UnreachableError."""
        parameters = urlencode({"query": expression} | ({} if at is None else {"time": f"{at:.3f}"}))
        try:
            url = f"{self._url}/api/v1/query?{parameters}"
            answer = from_json(asked(self._connection, url, most=LARGEST))
            result: list[dict[str, Any]] = answer["data"]["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise UnreachableError(f"{self._url} did not return a query result") from error
        return result

    def wait_for_samples(self, approach: str, past: float, stop: Stop, *, tells: bool = True) -> None:
        """Returns once the three containers and the processes of two have a sample past that time, or after 10 s; of
        one that tells nothing of itself, its container alone."""
        cpu, process = "container_cpu_usage_seconds_total", "process_start_time_seconds"
        wanted = {(cpu, approach), (cpu, "backend"), (cpu, "loadgen"), (process, "backend")}
        wanted |= {(process, approach)} if tells else set()
        expression = f'{{__name__=~"{cpu}|{process}",service=~"{approach}|backend|loadgen"}}[30s]'
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and not stop.requested:
            with suppress(UnreachableError):
                series = self.query(expression, time.time())
                recent = [one["metric"] for one in series if float(one["values"][-1][0]) > past]
                if wanted <= {(metric.get("__name__"), metric.get("service")) for metric in recent}:
                    return
            stop.pause(0.5)

    def collect(self, approach: str, start: float, end: float, beside: Sequence[str] = ()) -> dict[str, Any]:
        """Raw samples from 10 s before the run to 20 s after it, or up to now; `error` says why there are none; and by
        how much this clock differs from that of the samples, at least."""
        now = min(time.time(), end + 2 * PADDING_S)
        names = "|".join(CONTAINER_METRICS)
        services = "|".join([approach, *beside, *BESIDE])
        selectors = {
            "containers": f'{{job="cadvisor",__name__=~"container_({names})",service=~"{services}"}}',
            "approach": f'{{__name__=~"{OWN_METRICS}",service="{approach}"}}',
            "backend": f'{{__name__=~"{OWN_METRICS}",service="backend"}}',
            "database": '{job="database"}',
            "nodes": '{job="cadvisor",__name__="host_cpu_seconds_total"}',
        }
        record: dict[str, Any] = {"start": start, "end": end, "fetched": now, "error": None}
        for name, selector in selectors.items():
            try:
                record[name] = self._samples(f"{selector}[{math.ceil(now - start + PADDING_S)}s]", now)
            except UnreachableError as error:
                record |= {name: [], "error": str(error)}
        # Last: a step until here has moved what was asked for.
        with suppress(UnreachableError, LookupError, TypeError, ValueError):
            before, told = time.time(), float(self.query("vector(time())", None)[0]["value"][1])
            record["clock_off_s"] = max(before - told, told - time.time(), 0)
        return record

    def _samples(self, expression: str, until: float) -> list[dict[str, Any]]:
        for pause_s in RETRY_AFTER_S:
            with suppress(UnreachableError):
                return self.query(expression, until)
            time.sleep(pause_s)
        return self.query(expression, until)
