"""What a request to an endpoint asks of the approach and of the backend, by its path and query."""

import re
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

from loomlab.records.delay import Delay
from loomlab.records.load import Target

AUTHORIZATION = "Authorization: Bearer loom-lab"
BLOCK = "/httpbin/block/"
IN_SERVER = ("/epoch-millis", "/movies", "/pinned")
DELAY_IN_MILLIS = re.compile(r"(?<![^&])delayInMillis=\d*")
CONSTANT_BODY = ("/meetings", "/movies", BLOCK)
"""Endpoints whose answers have the same number of bytes each time."""


@dataclass(frozen=True)
class Endpoint:
    """`label` is the metric label; `backend_calls` come one after another, each of `backend_delay_ms` on average; a
    correct answer takes `floor_ms` at least; `headers` are those a request must carry; `waits_as_configured`: how long
    its calls take is the backend's setting, not the request's."""

    label: str
    backend_calls: int
    backend_delay_ms: float
    floor_ms: int
    headers: tuple[str, ...] = ()
    constant_body: bool = False
    waits_as_configured: bool = False

    @property
    def mean_ms(self) -> float:
        """What a correct answer takes on average, without the work."""
        return max(self.backend_calls * self.backend_delay_ms, self.floor_ms)


def endpoint_of(target: str, delay: Delay) -> Endpoint:
    """Of a path and query, when the backend's own delays are `delay`; of an unknown path, one call."""
    path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
    constant = path.startswith(CONSTANT_BODY)
    if path.startswith(BLOCK):
        wait_ms = round(1000 * _number(path.removeprefix(BLOCK)))
        return Endpoint(f"{BLOCK}{{seconds}}", 1, wait_ms, wait_ms, constant_body=constant)
    if path in IN_SERVER:
        wait_ms = round(_number(query.get("delayInMillis", ["0"])[0]))
        return Endpoint(path, 0, 0, wait_ms, constant_body=constant)
    calls = 3 if path in {"/capabilities", "/meetings"} else 1
    headers = (AUTHORIZATION,) if path == "/meetings" else ()
    return Endpoint(path, calls, delay.mean_ms, calls * delay.floor_ms, headers, constant, waits_as_configured=True)


def with_wait(target: Target, wait_ms: int) -> Target:
    """The request that waits so long, where it says itself how long it waits; another one as it is."""
    path, mark, query = target.target.partition("?")
    if path.startswith(BLOCK):
        return replace(target, target=f"{BLOCK}{wait_ms / 1000:.3f}{mark}{query}")
    if path in IN_SERVER:
        query = DELAY_IN_MILLIS.sub(f"delayInMillis={wait_ms}", query)
        return replace(target, target=path + mark + query)
    return target


def completed(target: str, delay: Delay) -> str:
    """Path and query as they are sent: with the parameters that the endpoint needs and the query lacks."""
    path = target.partition("?")[0]
    needed = {"directorLastName": "Allen"} if path == "/movies" else {}
    if path in IN_SERVER:
        needed["delayInMillis"] = str(int(delay.middle_ms))
    for name, value in needed.items():
        if not re.search(rf"[?&]{name}=", target):
            mark = "" if target.endswith("?") else "&" if "?" in target else "?"
            target += f"{mark}{name}={value}"
    return target


def answer_ms(endpoint: Endpoint, delay: Delay) -> float:
    """What a correct answer takes, at the middle of the backend's delays."""
    return endpoint.backend_calls * delay.middle_ms if endpoint.waits_as_configured else endpoint.floor_ms


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
