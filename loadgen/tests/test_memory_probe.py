"""Holding requests and asking for the memory meanwhile, of a made-up approach that knows what it holds."""

import io
import threading
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from good import BURST
from loads import load_of, rate, request_of
from loomlab.basics.errors import CannotMeasureError
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.load import Closed, Load
from loomlab.records.raw import Burst, MemoryAnswer, MemoryLog, Warmup
from loomlab.run.console import Progress, Stop
from loomlab.run.management import Backend, Process, Waits
from loomlab.run.memory_probe import LEFTOVERS_S, LONGEST_WAIT_MS, SPARE_WAIT_MS, LiveSet, crowd_of, hold_s, wait_ms
from loomlab.run.process import Bursts
from loomlab.run.prometheus import UnreachableError
from loomlab.tools.ab import Ab

CONNECTIONS = 100
BEFORE = MemoryAnswer(asked=1, answered=2, answer={"heap_used_bytes": 1})
COLD = Warmup(cap_s=0, compiled=None, changing=None, failed=False, duration_s=0, compiling_s=0, bursts=[])
PLATFORM = {"concurrency": "platform-threads", "inbound": {"max_threads": 1500}}
VIRTUAL = {"concurrency": "virtual-threads", "inbound": {"max_threads": None}}


def warmed(cost_ms: float | None) -> Warmup:
    return COLD.model_copy(update={"bursts": [BURST.model_copy(update={"cpu_ms_per_request": cost_ms})]})


@dataclass
class Holding:
    """An approach, with its backend, whose requests are in flight, so many of them, for some seconds from when the tool
    starts; time passes at once."""

    in_flight: int = CONNECTIONS
    backend_answers: bool = True
    tool_starts: bool = True
    tool_s: float = 1.2
    outlast_s: float = 0
    leftovers_s: float = 0
    backend_connections: float | None = None
    began: float | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    now_s: float = 0
    told: list[str] = field(default_factory=list)
    sent: list[Load] = field(default_factory=list)

    def at_work(self) -> bool:
        return self.began is not None and self.now_s - self.began < self.tool_s

    def waiting(self) -> int:
        if self.began is None:
            return 3 if self.now_s < self.leftovers_s else 0
        return self.in_flight if self.now_s - self.began < self.tool_s + self.outlast_s else 0

    def serve(self, load: Load) -> Burst:
        self.began = self.now_s
        self.sent.append(load)
        self.begun.set()
        if not self.tool_starts:
            raise CannotMeasureError("The tool cannot be started.")
        assert self.over.wait(30)
        return BURST

    def passes(self, seconds: float) -> None:
        self.now_s += seconds
        if self.begun.is_set() and not self.at_work():
            self.over.set()

    def wait(self, ended: threading.Event, seconds: float) -> bool:
        self.begun.wait()
        self.passes(seconds)
        return not self.at_work() and ended.wait()

    def process(self) -> Process:
        """Of approach and backend."""
        return Process(inflight=self.waiting(), cpus=1, backend_connections=self.backend_connections)

    def memory(self) -> MemoryAnswer:
        self.told.append("memory")
        answer = MemoryAnswer(asked=1, answered=2, answer={"requests_in_flight": self.waiting()})
        if self.at_work():
            self.passes(self.tool_s)
        return answer

    def behave(self, delay: int | str, **lease: int) -> None:
        if not self.backend_answers:
            raise UnreachableError("http://backend did not answer")
        self.told.append(f"{'lend' if lease else 'set'} {delay}")


def measured(
    approach: Holding,
    target: str = "/capabilities",
    shape: Any = Closed(1, 60),  # noqa: B008 - it is frozen
    delay: str = "300",
    warmup: Warmup = COLD,
    about: Any = VIRTUAL,
    before: MemoryAnswer = BEFORE,
    **asked: Any,
) -> MemoryLog:
    class Served(Bursts):
        def run(self, _: Any, load: Load, *__: Any) -> Burst:
            return approach.serve(load)

    request = request_of(load_of(shape, CONNECTIONS, target), delay=delay, **asked)
    stop, progress = Stop(), Progress(io.StringIO())
    stop.pause = approach.passes  # type: ignore[method-assign]  # its pauses are over at once
    port = cast("Backend", approach)
    waits = Waits(endpoint_of(target, delay_of(delay)), delay_of(delay), port, progress)
    bursts = Served(Ab(), port, stop, LEFTOVERS_S, lambda: approach.now_s)
    return LiveSet(request, about, bursts, waits, approach.wait).measure(before, warmup)


def in_flight(answer: MemoryAnswer | None) -> float | None:
    """When the process was asked; None: it was not."""
    return None if answer is None else answer.figure("requests_in_flight")


def test_the_process_is_asked_while_all_requests_wait_and_when_none_does() -> None:
    approach = Holding()

    log = measured(approach)

    assert (log.before, log.error) == (BEFORE, None)
    assert [in_flight(answer) for answer in (log.loaded, log.waiting, log.idle)] == [0, CONNECTIONS, 0]
    assert log.hold is not None
    assert (log.hold.connections, log.hold.wait_ms) == (CONNECTIONS, SPARE_WAIT_MS)
    assert approach.told == ["memory", f"lend {SPARE_WAIT_MS}", "memory", "lend 1", "set 300", "memory"]
    (load,) = approach.sent
    assert (load.shape, load.timeout_s) == (Closed(requests=CONNECTIONS, duration_s=9), 9)
    assert load.targets[0].target == "/capabilities"


@pytest.mark.parametrize(
    ("asked", "sent", "backend_told"),
    [
        ("/epoch-millis?delayInMillis=100", f"/epoch-millis?delayInMillis={SPARE_WAIT_MS}", False),
        ("/capabilities?cpuMicros=50000&calls=2", "/capabilities?cpuMicros=0&calls=2", True),
        ("/capabilities?calls=2&cpuMicros=50000", "/capabilities?calls=2&cpuMicros=0", True),
    ],
)
def test_held_requests_say_how_long_they_wait_and_ask_no_work(asked: str, sent: str, backend_told: bool) -> None:
    approach = Holding()

    measured(approach, asked)

    assert approach.sent[0].targets[0].target == sent
    assert (approach.told != ["memory"] * 3) is backend_told


@pytest.mark.parametrize(
    ("changes", "waiting", "idle"),
    [
        ({"outlast_s": 10}, CONNECTIONS, CONNECTIONS), ({"in_flight": 50, "tool_s": 2}, 50, 0),
        ({"in_flight": 98}, 98, 0),
        # The wave is over before most of the first one's wait is.
        ({"in_flight": 97}, None, 0), ({"in_flight": 0}, None, 0),
    ],
)  # fmt: skip
def test_the_process_is_asked_when_nearly_all_have_come_or_before_the_first_is_answered(
    changes: dict[str, Any], waiting: int | None, idle: int
) -> None:
    """And soon after the load, even if requests outlast it."""
    approach = Holding(**changes)

    log = measured(approach)

    assert (in_flight(log.waiting), in_flight(log.idle)) == (waiting, idle)
    assert approach.told[-2:] == ["set 300", "memory"]


@pytest.mark.parametrize(
    ("changes", "error", "loads"),
    [
        ({"backend_answers": False}, "the backend accepts no other delay: http://backend did not answer", 0),
        ({"tool_starts": False}, "The tool cannot be started", 1),
    ],
)
def test_what_cannot_be_had_is_told_and_does_not_cost_the_run(changes: dict[str, Any], error: str, loads: int) -> None:
    approach = Holding(**changes)

    log = measured(approach)

    assert (log.error, log.hold, log.waiting, log.idle) == (error, None, None, None)
    assert len(approach.sent) == loads


@pytest.mark.parametrize(("leftovers_s", "delay", "left"), [(1.5, "1000", 0), (20, "60", 3)])
def test_what_the_load_left_in_flight_is_waited_for(leftovers_s: float, delay: str, left: int) -> None:
    assert in_flight(measured(Holding(leftovers_s=leftovers_s), delay=delay).loaded) == left


def test_requests_wait_on_all_connections_that_a_pool_has_kept() -> None:
    approach = Holding(in_flight=70, backend_connections=70)

    log = measured(approach, shape=rate(20), warmup=warmed(10))

    (load,) = approach.sent
    assert (load.connections, load.shape) == (70, Closed(requests=70, duration_s=9))
    assert log.hold is not None
    assert (log.hold.connections, log.hold.wait_ms) == (70, SPARE_WAIT_MS + 70 * 10)
    assert in_flight(log.waiting) == 70


@pytest.mark.parametrize(
    ("target", "about", "threads", "connections", "requests"),
    [
        ("/capabilities", VIRTUAL, 4, None, 180), ("/capabilities", VIRTUAL, 4, 180, 180),
        ("/capabilities", VIRTUAL, 4, 1250, 1250), ("/capabilities", VIRTUAL, 4, 3000, 2000),
        ("/capabilities", VIRTUAL, 400, 180, 180), ("/capabilities", PLATFORM, 315, 321, 321),
        ("/capabilities", PLATFORM, 340, 321, 340), ("/capabilities", PLATFORM, 340, 3000, 1500),
        ("/capabilities?calls=5&parallel=true", VIRTUAL, 4, 1250, 180),
        ("/epoch-millis?delayInMillis=900", VIRTUAL, 4, 1250, 180),
    ],
)  # fmt: skip
def test_as_many_requests_wait_as_fill_what_pools_have_kept(
    target: str, about: dict[str, Any], threads: int, connections: float | None, requests: int
) -> None:
    before, loaded = (MemoryAnswer(asked=1, answered=2, answer={"threads": told}) for told in (25, 25 + threads))
    backend = cast("Backend", Holding(backend_connections=connections))
    load, endpoint = load_of(rate(200), 2000), endpoint_of(target, delay_of("300"))

    assert crowd_of(load, endpoint, about, before, loaded, backend) == requests


@pytest.mark.parametrize(
    ("connections", "cost_ms", "cpus", "work_ms", "expected_ms"),
    [
        (1000, 0.65, 1, 0, SPARE_WAIT_MS + 650), (10_000, 0.65, 1, 0, SPARE_WAIT_MS + 6500),
        (10_000, 0.65, 4, 0, SPARE_WAIT_MS + 1625), (1000, None, 1, 0, SPARE_WAIT_MS),
        (10_000, 9.0, 1, 0, LONGEST_WAIT_MS), (200, 50.65, 1, 50, SPARE_WAIT_MS + 130), (200, 49, 1, 50, SPARE_WAIT_MS),
        (200, 99, 1, 0, 7000),
    ],
)  # fmt: skip
def test_requests_wait(connections: int, cost_ms: float | None, cpus: float, work_ms: float, expected_ms: int) -> None:
    assert wait_ms(connections, warmed(cost_ms), cpus, work_ms) == expected_ms


@pytest.mark.parametrize("connections", [1, 200, 1000, 5000, 10_000])
def test_no_request_waits_longer_than_its_load_lasts(connections: int) -> None:
    assert wait_ms(connections, warmed(99), 1, 0) + SPARE_WAIT_MS <= 1000 * hold_s(connections)


KEPT_THREADS = "the platform threads that made the load's concurrent calls are kept for a minute, and would count"
NO_WARMUP = "there was no warm-up, so the memory of the process itself still grows"
FEW = PLATFORM | {"inbound": {"max_threads": CONNECTIONS}}
FEWER = PLATFORM | {"inbound": {"max_threads": CONNECTIONS - 1}}


@pytest.mark.parametrize(
    ("target", "about", "asked", "hindrance"),
    [
        ("/capabilities", FEW, {}, None),
        ("/capabilities", FEWER, {}, "99 platform threads cannot hold 100 requests at once"),
        ("/capabilities", VIRTUAL | {"inbound": {"max_threads": 99}}, {}, None),
        ("/capabilities?calls=5&parallel=true", FEW, {}, KEPT_THREADS),
        ("/capabilities?calls=5", FEW, {}, None),
        ("/capabilities?calls=5&parallel=true", VIRTUAL, {}, None),
        ("/pinned?delayInMillis=9", VIRTUAL, {"jdk": 21}, "requests of /pinned wait one after another on JDK 21"),
        ("/pinned?delayInMillis=9", VIRTUAL, {"jdk": 25}, None),
        ("/capabilities", VIRTUAL, {"warmup_cap_s": 4}, NO_WARMUP),
        ("/capabilities", VIRTUAL, {"before": MemoryAnswer(asked=1, answered=2, error="a 404")}, "a 404"),
    ],
)
def test_what_cannot_wait_is_not_held(target: str, about: Any, asked: dict[str, Any], hindrance: str | None) -> None:
    approach = Holding()

    log = measured(approach, target, about=about, **asked)

    assert log.error == hindrance
    assert len(approach.sent) == (hindrance is None)
