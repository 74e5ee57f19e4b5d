"""What a request asks of approach and backend, by its path and query and by the delay of the backend's answers."""

import math
import re
from dataclasses import dataclass, replace
from random import Random
from urllib.parse import parse_qs, urlsplit

from loomlab.basics.errors import UsageError
from loomlab.records.load import Target

AUTHORIZATION = "Authorization: Bearer loom-lab"
FANNING_OUT, MEETINGS, BLOCK = "/capabilities", "/meetings", "/httpbin/block/"
CALLS = 3  # of a request to either of the first two; `calls` says how often the last of the first one's is made
IN_SERVER = ("/epoch-millis", "/movies", "/pinned")
ORDERS = "/orders"  # of the database, like all below it
WAIT = {"/orders/slow": "millis"} | dict.fromkeys(IN_SERVER, "delayInMillis")  # the parameter that says how long
WORKING = (FANNING_OUT, "/epoch-millis")  # endpoints that work as long as `cpuMicros` says
CONSTANT_BODY = (MEETINGS, "/movies", BLOCK)  # endpoints whose answers have the same number of bytes each time
LONGEST_MS = 60_000
NO_DELAY = "none"  # the backend's, where requests are of a service that does not ask it
NORMAL_P99 = 2.3263  # the standard normal distribution's 99th percentile (any table of its quantiles)


@dataclass(frozen=True)
class Delay:
    text: str  # as the backend itself writes it
    floor_ms: int  # the shortest it takes
    mean_ms: float
    middle_ms: float  # what half of the answers take at most

    def drawn_ms(self, draw: Random) -> float:
        """One that the backend may take."""
        kind, *bounds = self.text.split(":")
        low, high = map(int, bounds or (kind, kind))
        if kind == "lognormal":
            return draw.lognormvariate(math.log(low), math.log(high / low) / NORMAL_P99)
        return draw.uniform(low, high)


def delay_of(text: str) -> Delay:
    """The delay that a text means; raises UsageError for what is none. `lognormal` has its median and its p99."""
    if text == NO_DELAY:
        return Delay(text, 0, 0, 0)
    match = re.fullmatch(r"(?:(uniform|lognormal):(\d{1,5}):)?(\d{1,5})", text, re.ASCII)
    kind, first, last = match.groups() if match else (None, None, str(LONGEST_MS + 1))
    low, high = int(first or last), int(last)
    if high > LONGEST_MS or low > high or (kind == "lognormal" and not 0 < low < high):
        fact = f"The delay {text!r} is not valid: use milliseconds up to {LONGEST_MS} such as 300, uniform:200:400"
        raise UsageError(f"{fact} (from, to) or lognormal:300:900 (median, 99th percentile).")
    written = f"{kind}:{low}:{high}" if kind else str(low)
    if kind == "lognormal":
        sigma = math.log(high / low) / NORMAL_P99
        return Delay(written, 0, low * math.exp(sigma * sigma / 2), low)
    return Delay(written, low, (low + high) / 2, (low + high) / 2)


@dataclass(frozen=True)
class Endpoint:
    label: str  # the metric's label
    backend_calls: int
    backend_delay_ms: float  # of each call, on average
    floor_ms: int  # what a correct answer takes at least
    headers: tuple[str, ...] = ()  # those that a request must carry
    constant_body: bool = False
    waits_as_configured: bool = False  # how long its calls take is the backend's setting, not the request's
    at_once: int = 1  # how many of the calls, the last ones, are made at the same time
    work_ms: float = 0  # CPU that the request asks for
    database: bool = False  # whether it asks the database

    @property
    def rounds(self) -> int:
        """How often it waits for the backend, one wait after another."""
        return self.backend_calls - self.at_once + 1 if self.backend_calls else 0

    @property
    def connections_held(self) -> int:
        """The most backend connections that a request holds at once."""
        return self.at_once if self.backend_calls else 0

    @property
    def mean_ms(self) -> float:
        """What a correct answer takes on average, without the work; at least, if calls at once differ."""
        return max(self.rounds * self.backend_delay_ms, self.floor_ms)


def endpoint_of(target: str, delay: Delay) -> Endpoint:
    """The endpoint of a path and query, when the backend's own delays are `delay`; of an unknown path, one call."""
    path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
    if delay.text == NO_DELAY:
        return Endpoint(path, 0, 0, 0)
    database = f"{path}/".startswith(f"{ORDERS}/")
    constant = database or path.startswith(CONSTANT_BODY)
    work_ms = _number(query.get("cpuMicros", ["0"])[0]) / 1000 if path in WORKING else 0
    if path.startswith(BLOCK):
        wait_ms = round(1000 * _number(path.removeprefix(BLOCK)))
        return Endpoint(f"{BLOCK}{{seconds}}", 1, wait_ms, wait_ms, constant_body=constant)
    if path in WAIT or database:
        wait_ms = round(_number(query.get(WAIT.get(path, ""), ["0"])[0]))
        label = path if path in WAIT or path == ORDERS else f"{ORDERS}/{{id}}"
        return Endpoint(label, 0, 0, wait_ms, constant_body=constant, work_ms=work_ms, database=database)
    last_calls = max(round(_number(query.get("calls", ["1"])[0])), 1) if path == FANNING_OUT else 1
    at_once = last_calls if query.get("parallel") == ["true"] else 1
    calls = CALLS - 1 + last_calls if path in {FANNING_OUT, MEETINGS} else 1
    return Endpoint(
        path,
        calls,
        delay.mean_ms,
        (calls - at_once + 1) * delay.floor_ms,
        headers=(AUTHORIZATION,) if path == MEETINGS else (),
        constant_body=constant,
        waits_as_configured=True,
        at_once=at_once,
        work_ms=work_ms,
    )


def with_wait(target: Target, wait_ms: int) -> Target:
    """The request that waits so long, where it says itself how long it waits; another one as it is."""
    path, mark, query = target.target.partition("?")
    if path.startswith(BLOCK):
        path = f"{BLOCK}{wait_ms / 1000:.3f}"
    elif name := WAIT.get(path):
        query = re.sub(rf"(?<![^&]){name}=\d*", f"{name}={wait_ms}", query)
    return replace(target, target=path + mark + query)


def with_work(target: Target, micros: int) -> Target:
    """The request that asks for so much CPU work, where it asks for any; another one as it is."""
    return replace(target, target=re.sub(r"(?<=[?&])cpuMicros=\d*", f"cpuMicros={micros}", target.target))


def completed(target: str, delay: Delay) -> str:
    """Path and query as they are sent: with the parameters that the endpoint needs and the query lacks."""
    path = target.partition("?")[0]
    needed = {"/movies": {"directorLastName": "Allen"}, ORDERS: {"customer": "7"}}.get(path, {})
    if name := WAIT.get(path):
        needed[name] = str(int(delay.middle_ms))
    for parameter, value in needed.items():
        if not re.search(rf"[?&]{parameter}=", target):
            target += f"{'&' if '?' in target else '?'}{parameter}={value}"
    return target.replace("?&", "?")


def answer_ms(endpoint: Endpoint, delay: Delay) -> float:
    """What a correct answer takes, at the middle of the backend's delays."""
    return endpoint.rounds * delay.middle_ms if endpoint.waits_as_configured else endpoint.floor_ms


def _number(text: str) -> float:
    """The number, 0 for what is none, and for what no request asks for."""
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d+)?", text, re.ASCII) else 0.0
