"""Holding requests and asking for the memory meanwhile, of a made-up approach that knows what it holds."""

import io
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from loomlab.records.about import platform_threads
from loomlab.records.delay import Delay, delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target
from loomlab.records.memory import MemoryAnswer, MemoryLog
from loomlab.records.warmup import Burst, Warmup
from loomlab.run.backend import Behaviour
from loomlab.run.liveset import LONGEST_WAIT_MS, SPARE_WAIT_MS, Crowd, LiveSet, crowd_of, hold_s, no_live_set, wait_ms
from loomlab.run.progress import Progress
from loomlab.run.prometheus import UnreachableError
from loomlab.run.stop import Stop
from loomlab.run.waits import Waits
from loomlab.run.warmup.process import Process
from loomlab.run.warmup.warmer import Subject
from loomlab.tools.ab import Ab

CONNECTIONS = 100
BEFORE = MemoryAnswer(asked=1, answered=2, answer={"heap_used_bytes": 1})
COLD = Warmup(cap_s=0, compiled=None, changing=None, failed=False, duration_s=0, compiling_s=0, bursts=[])


@dataclass
class Holding:
    """An approach whose requests are in flight, so many of them, for some seconds from when the tool starts; the tool
    waits for the file `over`, which is there once its time has passed, and time passes at once."""

    over: Path
    in_flight: int = CONNECTIONS
    backend_answers: bool = True
    tool_s: float = 1.2
    outlast_s: float = 0
    leftovers_s: float = 0
    backend_connections: float | None = None
    began: float | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    now_s: float = 0
    told: list[str] = field(default_factory=list)
    commands: list[Load] = field(default_factory=list)

    def clock(self) -> float:
        return self.now_s

    def at_work(self) -> bool:
        return self.began is not None and self.now_s - self.began < self.tool_s

    def waiting(self) -> int:
        if self.began is None:
            return 3 if self.now_s < self.leftovers_s else 0
        return self.in_flight if self.now_s - self.began < self.tool_s + self.outlast_s else 0

    def passes(self, seconds: float) -> None:
        before = self.at_work()
        self.now_s += seconds
        if before and not self.at_work():
            self.over.touch()

    def wait(self, ended: threading.Event, seconds: float) -> bool:
        self.begun.wait()
        self.passes(seconds)
        return not self.at_work() and ended.wait()

    def process(self) -> Process:
        return Process(inflight=self.waiting(), cpus=1)

    def backend(self) -> Process:
        return Process(backend_connections=self.backend_connections)

    def ask(self) -> MemoryAnswer:
        self.told.append("memory")
        answer = MemoryAnswer(asked=1, answered=2, answer={"requests_in_flight": self.waiting()})
        if self.at_work():
            self.passes(self.tool_s)
        return answer

    def lend(self, delay_ms: int, _lasting_ms: int) -> None:
        if not self.backend_answers:
            raise UnreachableError("http://backend did not answer")
        self.told.append(f"lend {delay_ms}")

    def set_delay(self, delay: Delay) -> None:
        self.told.append(f"set {delay.text}")


class Passing(Stop):
    """Its pauses are over at once."""

    def __init__(self, approach: Holding) -> None:
        super().__init__()
        self.pause = approach.passes  # type: ignore[method-assign]


class Lasting(Ab):
    """ab, but that its load only lasts."""

    def __init__(self, approach: Holding, program: str) -> None:
        self._approach = approach
        self._program = program

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:  # noqa: ARG002
        self._approach.began = self._approach.now_s
        self._approach.commands.append(load)
        self._approach.over.unlink(missing_ok=True)
        self._approach.begun.set()
        return [self._program, "-c", f"until [ -e '{self._approach.over}' ]; do sleep 0.01; done"]


type Make = Callable[..., Holding]


@pytest.fixture
def holding(tmp_path: Path) -> Make:
    return partial(Holding, tmp_path / "over")


def measured(
    approach: Holding,
    target: str = "/capabilities",
    program: str = "sh",
    busy: int = CONNECTIONS,
    delay_ms: int = 300,
    warmup: Warmup = COLD,
) -> MemoryLog:
    load = Load("http://127.0.0.1:1", (Target(target),), CONNECTIONS, Closed(1, 60), timeout_s=1)
    delay = delay_of(str(delay_ms))
    endpoint = endpoint_of(target, delay)
    progress = Progress(io.StringIO())
    waits = Waits(endpoint, delay, cast("Behaviour", approach), progress)
    subject = Subject(load, delay, approach.process)
    crowd = Crowd(busy, CONNECTIONS, threads=False, connections=True, backend=approach.backend)
    tool, stop, clock = Lasting(approach, program), Passing(approach), approach.clock
    live_set = LiveSet(tool, subject, crowd, waits, approach.ask, stop, progress, clock, approach.wait)
    return live_set.measure(BEFORE, warmup, endpoint)


def test_the_process_is_asked_while_all_requests_wait_and_when_none_does(holding: Make) -> None:
    approach = holding()

    log = measured(approach)

    assert log.before == BEFORE
    assert log.loaded is not None
    assert log.loaded.figure("requests_in_flight") == 0
    assert log.error is None
    assert log.waiting is not None
    assert log.waiting.figure("requests_in_flight") == CONNECTIONS
    assert log.idle is not None
    assert log.idle.figure("requests_in_flight") == 0
    assert log.hold is not None
    assert (log.hold.connections, log.hold.wait_ms) == (CONNECTIONS, SPARE_WAIT_MS)


def test_every_call_waits_longer_until_the_process_has_been_asked(holding: Make) -> None:
    approach = holding()

    measured(approach)

    assert approach.told == ["memory", f"lend {SPARE_WAIT_MS}", "memory", "lend 1", "set 300", "memory"]
    (load,) = approach.commands
    assert (load.shape, load.timeout_s) == (Closed(requests=CONNECTIONS, duration_s=9), 9)
    assert load.targets[0].target == "/capabilities"


def test_a_request_that_says_itself_how_long_it_waits_is_told_to(holding: Make) -> None:
    approach = holding()

    measured(approach, "/epoch-millis?delayInMillis=100")

    assert approach.told == ["memory"] * 3
    assert approach.commands[0].targets[0].target == f"/epoch-millis?delayInMillis={SPARE_WAIT_MS}"


@pytest.mark.parametrize("query", ["cpuMicros={}&calls=2", "calls=2&cpuMicros={}"])
def test_held_requests_ask_for_no_cpu_work(query: str, holding: Make) -> None:
    approach = holding()

    measured(approach, f"/capabilities?{query.format(50_000)}")

    assert approach.commands[0].targets[0].target == f"/capabilities?{query.format(0)}"


def test_requests_that_outlast_the_load_are_not_waited_for_long(holding: Make) -> None:
    approach = holding(outlast_s=10)

    log = measured(approach)

    assert log.idle is not None
    assert log.idle.figure("requests_in_flight") == CONNECTIONS


def test_a_process_that_never_holds_all_is_asked_before_the_first_is_answered(holding: Make) -> None:
    log = measured(holding(in_flight=CONNECTIONS // 2, tool_s=2))

    assert log.waiting is not None
    assert log.waiting.figure("requests_in_flight") == CONNECTIONS // 2


@pytest.mark.parametrize(("in_flight", "asked"), [(97, False), (98, True)])
def test_the_process_is_not_asked_before_nearly_all_have_come(in_flight: int, asked: bool, holding: Make) -> None:
    """The wave is over before most of the first one's wait is."""
    assert (measured(holding(in_flight=in_flight)).waiting is not None) is asked


def test_a_load_that_never_comes_is_told(holding: Make) -> None:
    approach = holding(in_flight=0)

    log = measured(approach)

    assert log.waiting is None
    assert log.idle is not None
    assert approach.told[-2:] == ["set 300", "memory"]


def test_a_backend_that_takes_no_delay_leaves_no_load(holding: Make) -> None:
    approach = holding(backend_answers=False)

    log = measured(approach)

    assert log.error == "the backend accepts no other delay: http://backend did not answer"
    assert (log.hold, log.waiting, log.idle) == (None, None, None)
    assert approach.commands == []


def test_a_tool_that_cannot_be_started_does_not_cost_the_run(holding: Make) -> None:
    log = measured(holding(), program="no-such-tool")

    assert log.error is not None
    assert log.error.startswith("no-such-tool cannot be started")


def test_what_the_load_left_in_flight_is_waited_for_as_long_as_an_answer_takes(holding: Make) -> None:
    waited_for = measured(holding(leftovers_s=1.5), delay_ms=1000)
    left = measured(holding(leftovers_s=20), delay_ms=60)

    assert waited_for.loaded is not None
    assert waited_for.loaded.figure("requests_in_flight") == 0
    assert left.loaded is not None
    assert left.loaded.figure("requests_in_flight") == 3


def test_requests_wait_on_all_connections_that_a_pool_has_kept(holding: Make) -> None:
    approach = holding(in_flight=70, backend_connections=70)

    log = measured(approach, busy=20)

    (load,) = approach.commands
    assert (load.connections, load.shape) == (70, Closed(requests=70, duration_s=9))
    assert log.hold is not None
    assert log.hold.connections == 70
    assert log.waiting is not None


def test_the_process_is_not_asked_before_the_crowd_has_come(holding: Make) -> None:
    assert measured(holding(in_flight=30, backend_connections=70), busy=20).waiting is None


def test_the_crowd_waits_until_its_last_request_has_come(holding: Make) -> None:
    log = measured(holding(in_flight=70, backend_connections=70), busy=20, warmup=warmed(10))

    assert log.hold is not None
    assert log.hold.wait_ms == SPARE_WAIT_MS + 70 * 10


OPEN = Load("http://127.0.0.1:1", (Target("/capabilities"),), 2000, OpenRate((RateStep(200, 60),)), timeout_s=1)
PLATFORM = {"concurrency": "platform-threads", "inbound": {"max_threads": 1500}}
VIRTUAL = {"concurrency": "virtual-threads", "inbound": {"max_threads": None}}


@pytest.mark.parametrize(
    ("target", "about", "threads", "connections", "requests"),
    [
        ("/capabilities", VIRTUAL, 4, None, 180),
        ("/capabilities", VIRTUAL, 4, 180, 180),
        ("/capabilities", VIRTUAL, 4, 1250, 1250),
        ("/capabilities", VIRTUAL, 4, 3000, 2000),
        ("/capabilities", VIRTUAL, 400, 180, 180),
        ("/capabilities", PLATFORM, 315, 321, 321),
        ("/capabilities", PLATFORM, 340, 321, 340),
        ("/capabilities", PLATFORM, 340, 3000, 1500),
        ("/capabilities?calls=5&parallel=true", VIRTUAL, 4, 1250, 180),
        ("/epoch-millis?delayInMillis=900", VIRTUAL, 4, 1250, 180),
    ],
)
def test_as_many_requests_wait_as_fill_what_pools_have_kept(
    target: str, about: dict[str, Any], threads: int, connections: float | None, requests: int
) -> None:
    before, loaded = (MemoryAnswer(asked=1, answered=2, answer={"threads": told}) for told in (25, 25 + threads))
    backend = Process(backend_connections=connections)

    crowd = crowd_of(OPEN, endpoint_of(target, delay_of("300")), about, lambda: backend)

    assert crowd.busy == 180
    assert crowd.requests(before, loaded) == requests


def warmed(cost_ms: float | None) -> Warmup:
    last = Burst(
        phase="settle", start=0, duration_s=5, wait_ms=900, requests=9, errors=0, throughput_rps=1,
        mean_latency_ms=900, cpu_ms_per_request=cost_ms,
    )  # fmt: skip
    return COLD.model_copy(update={"bursts": [last]})


@pytest.mark.parametrize(
    ("connections", "cost_ms", "cpus", "work_ms", "expected_ms"),
    [
        (1000, 0.65, 1, 0, SPARE_WAIT_MS + 650),
        (10_000, 0.65, 1, 0, SPARE_WAIT_MS + 6500),
        (10_000, 0.65, 4, 0, SPARE_WAIT_MS + 1625),
        (1000, None, 1, 0, SPARE_WAIT_MS),
        (10_000, 9.0, 1, 0, LONGEST_WAIT_MS),
        (200, 50.65, 1, 50, SPARE_WAIT_MS + 130),
        (200, 49, 1, 50, SPARE_WAIT_MS),
        (200, 99, 1, 0, 7000),
    ],
)
def test_a_request_waits_until_all_others_have_come(
    connections: int, cost_ms: float | None, cpus: float, work_ms: float, expected_ms: int
) -> None:
    assert wait_ms(connections, warmed(cost_ms), cpus, work_ms) == expected_ms


@pytest.mark.parametrize("connections", [1, 200, 1000, 5000, 10_000])
def test_no_request_waits_longer_than_its_load_lasts(connections: int) -> None:
    assert wait_ms(connections, warmed(99), 1, 0) + SPARE_WAIT_MS <= 1000 * hold_s(connections)


KEPT_THREADS = "the platform threads that made the load's concurrent calls are kept for a minute, and would count"


@pytest.mark.parametrize(
    ("target", "connections", "jdk", "threads", "hindrance"),
    [
        ("/capabilities", 100, 25, 100, None),
        ("/capabilities", 101, 25, 100, "100 platform threads cannot hold 101 requests at once"),
        ("/capabilities?calls=5&parallel=true", 100, 25, 100, KEPT_THREADS),
        ("/capabilities?calls=5", 100, 25, 100, None),
        ("/capabilities?calls=5&parallel=true", 100, 25, None, None),
        ("/capabilities", 101, 25, None, None),
        ("/pinned?delayInMillis=9", 50, 21, None, "requests of /pinned wait one after another on JDK 21"),
        ("/pinned?delayInMillis=9", 50, 25, None, None),
    ],
)
def test_requests_that_cannot_wait_at_once_are_not_held(
    target: str, connections: int, jdk: int, threads: int | None, hindrance: str | None
) -> None:
    assert no_live_set(endpoint_of(target, delay_of("300")), connections, jdk, threads) == hindrance


@pytest.mark.parametrize(
    ("about", "threads"),
    [
        ({"concurrency": "platform-threads", "inbound": {"max_threads": 100}}, 100),
        ({"concurrency": "virtual-threads", "inbound": {"max_threads": None}}, None),
        ({"concurrency": "virtual-threads", "inbound": {"max_threads": 100}}, None),
        ({"error": "no answer"}, None),
        ({}, None),
    ],
)
def test_only_platform_threads_bound_how_many_requests_wait(about: dict[str, Any], threads: int | None) -> None:
    assert platform_threads(about) == threads
