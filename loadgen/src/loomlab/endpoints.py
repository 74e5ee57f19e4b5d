"""What a request to an endpoint asks of the approach and of the backend, by its path and query."""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from loomlab.delay import Delay

AUTHORIZATION = "Authorization: Bearer loom-lab"
BLOCK = "/httpbin/block/"
IN_SERVER = ("/epoch-millis", "/movies", "/pinned")
CONSTANT_BODY = ("/meetings", "/movies", BLOCK)
"""Endpoints whose answers have the same number of bytes each time."""


@dataclass(frozen=True)
class Endpoint:
    """`label` is the metric label; `backend_calls` come one after another, each of `backend_delay_ms` on average; a
    correct answer takes `floor_ms` at least; `headers` are those a request must carry."""

    label: str
    backend_calls: int
    backend_delay_ms: float
    floor_ms: int
    headers: tuple[str, ...] = ()
    constant_body: bool = False

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
    return Endpoint(path, calls, delay.mean_ms, calls * delay.floor_ms, headers, constant)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
