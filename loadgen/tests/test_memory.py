"""What a waiting request held and a request allocated, from raw files."""

import json
from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.errors import ParseError
from loomlab.records.models import Run
from loomlab.records.raw import LiveBytes
from rawrun import RawRun, at, level, load, matrix

CONNECTIONS = 200
MOMENTS = ("before", "loaded", "waiting", "idle")
FIGURES: dict[str, tuple[int, ...]] = {
    "heap_used_bytes": (30_000_000, 50_000_000, 58_000_000, 50_000_000),
    "rss_anon_bytes": (200_000_000, 690_000_000, 914_500_000, 703_000_000),
    "heap_rss_anon_bytes": (100_000_000, 600_000_000, 800_000_000, 600_000_000), "threads": (30, 30, 30, 30),
    "thread_stack_bytes": (1_000_000, 1_500_000, 11_000_000, 1_500_000),
    "kernel_bytes": (8_000_000, 8_100_000, 10_400_000, 8_100_000), "requests_in_flight": (0, 0, CONNECTIONS, 0),
}  # fmt: skip
"""A request: 40,000 of heap; 50,000 of stacks, which grew from 1 MB to 11, and 10,000 off-heap, which grew from 101.5
MB to 103.5; 12,000 of the kernel's."""
READINGS = {when: {name: row[column] for name, row in FIGURES.items()} for column, when in enumerate(MOMENTS)}


def answer(told: dict[str, Any] | None, error: str | None = None) -> dict[str, Any]:
    return {"asked": at(60), "answered": at(60.2), "answer": told, "error": error}


HOLD = {
    "connections": CONNECTIONS, "wait_ms": 2600, "started": at(55), "duration_s": 3.6, "requests": 200, "errors": 0,
}  # fmt: skip
ALL = {"heap": 40_000, "stacks_off_heap": 60_000, "kernel": 12_000}
UNANSWERED = "http://app:8081/memory did not answer"


def memory(**changes: Any) -> dict[str, Any]:
    """raw/memory.json of a live set that was measured as it should be."""
    return {when: answer(figures) for when, figures in READINGS.items()} | {"hold": HOLD, "error": None} | changes


def reading(when: str, **figures: Any) -> dict[str, Any]:
    """A change of one answer."""
    return {when: answer(READINGS[when] | figures)}


def judged(folder: Path, **changes: Any) -> Run:
    return RawRun(memory=memory(**changes)).judged(folder)


def test_what_no_process_holds_is_refused_and_of_no_request_nothing_is_known(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="which no run has"):
        judged(tmp_path, **reading("waiting", rss_anon_bytes=1e30))
    run = judged(tmp_path, **reading("waiting", requests_in_flight=0), hold=HOLD | {"connections": 0})
    assert run.live_bytes_per_request == LiveBytes()


def test_bytes_held_are_differences_by_the_requests_in_flight(tmp_path: Path) -> None:
    run = judged(tmp_path)

    assert run.live_bytes_per_request == LiveBytes(**ALL)
    assert run.live_requests == CONNECTIONS
    assert (run.verdict, run.reasons, run.notes) == ("valid", [], [])
    assert json.loads((tmp_path / "1-app" / "run.json").read_text())["live_bytes_per_request"] == ALL


def shrunk(by_bytes: int, **figures: Any) -> dict[str, Any]:
    """The heap was so much larger before the requests than after them."""
    return reading("loaded", heap_used_bytes=50_000_000 + by_bytes, **figures)


def untold(name: str) -> dict[str, Any]:
    return reading("before", **{name: None}) | reading("waiting", **{name: None})


@pytest.mark.parametrize(
    ("changes", "unknown"),
    [
        (shrunk(800_000), set()), (shrunk(800_001), {"heap"}), (shrunk(-9_000_000), set()),
        # Of what pools gave up, what requests of the load before held is not part.
        (shrunk(1_600_000, requests_in_flight=20), set()), (shrunk(1_600_001, requests_in_flight=20), {"heap"}),
        ({"loaded": answer(None, UNANSWERED)}, {"heap"}),
        # A heap that is touched for the first time is held by nobody.
        (reading("waiting", rss_anon_bytes=1_914_500_000, heap_rss_anon_bytes=1_800_000_000), set()),
        # Stacks that a pool keeps count, and so does what the kernel keeps for them.
        (reading("idle", thread_stack_bytes=11_000_000, rss_anon_bytes=712_500_000, kernel_bytes=10_400_000), set()),
        (untold("heap_used_bytes"), {"heap"}), (untold("rss_anon_bytes"), {"stacks_off_heap"}),
        (untold("heap_rss_anon_bytes"), {"stacks_off_heap"}), (untold("thread_stack_bytes"), {"stacks_off_heap"}),
        (untold("kernel_bytes"), {"kernel"}),
    ],
)  # fmt: skip
def test_a_part_that_is_not_known(tmp_path: Path, changes: dict[str, Any], unknown: set[str]) -> None:
    run = judged(tmp_path, **changes)

    assert run.live_bytes_per_request.model_dump() == ALL | dict.fromkeys(unknown)
    assert len(run.notes) == len(unknown)
    assert all(part in note for note, part in zip(run.notes, unknown, strict=True))
    assert run.verdict == "valid"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"error": "4 platform threads cannot hold 200 requests at once"}, "4 platform threads cannot hold"),
        ({"waiting": None}, "did not report"),
        ({"waiting": answer(None, UNANSWERED)}, UNANSWERED),
        ({"idle": answer(None, UNANSWERED)}, UNANSWERED),
        (reading("idle", requests_in_flight=3), "200 of 200 requests were in flight, and 3 before or after"),
        (reading("waiting", requests_in_flight=179), "179 of 200"),
        (reading("waiting", requests_in_flight=201), "201 of 200"),
        (reading("waiting", requests_in_flight=None), "did not report"),
        (reading("waiting", requests_in_flight="many"), "did not report"),
        (reading("loaded", requests_in_flight=21), "200 of 200 requests were in flight, and 21 before or after"),
    ],
)
def test_without_requests_that_wait(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    run = judged(tmp_path, **changes)

    assert (run.live_bytes_per_request, run.live_requests) == (LiveBytes(), None)
    assert len(run.notes) == 1 and said in run.notes[0]
    assert run.verdict == "valid"


@pytest.mark.parametrize(
    ("connections", "left", "waiting", "unknown"),
    [(200, 20, 180, set()), (105, 0, 100, set()), (105, 0, 99, {"stacks_off_heap", "kernel"})],
)
def test_how_many_must_wait(connections: int, left: int, waiting: int, unknown: set[str], tmp_path: Path) -> None:
    """Requests of the load may be left, a tenth of them."""
    flights = reading("waiting", requests_in_flight=waiting) | reading("loaded", requests_in_flight=left)

    run = judged(tmp_path, hold=HOLD | {"connections": connections}, **flights)

    held = run.live_bytes_per_request.model_dump()
    assert run.live_requests == waiting
    assert {part for part, value in held.items() if value is None} == unknown
    assert held["heap"] == pytest.approx(8_000_000 / waiting)
    assert bool(run.notes) == bool(unknown)


PLATFORM = {"concurrency": "platform-threads", "inbound": {"max_threads": 400}, "jvm": {"available_processors": 2}}
VIRTUAL = PLATFORM | {"concurrency": "virtual-threads"}
CALLS, NO_CALLS = "/capabilities", "/epoch-millis?delayInMillis=300"


@pytest.mark.parametrize(
    ("about", "target", "threads", "connections", "unknown"),
    [
        (PLATFORM, CALLS, 30 + 234, 234, set()), (PLATFORM, CALLS, 30 + 235, 234, {"stacks_off_heap", "kernel"}),
        (VIRTUAL, CALLS, 30 + 235, 234, set()), (PLATFORM, CALLS, None, 234, set()),
        (PLATFORM, CALLS, 30 + 234, 235, {"kernel"}), (VIRTUAL, CALLS, 30, 235, {"kernel"}),
        (VIRTUAL, CALLS, 30, None, {"kernel"}), (VIRTUAL, NO_CALLS, 30, 235, set()),
        (VIRTUAL, NO_CALLS, 30, None, set()), (VIRTUAL, f"{CALLS}?calls=5&parallel=true", 30, 200, {"kernel"}),
        ({"error": "no answer"}, CALLS, 30, 230, set()), ({"error": "no answer"}, CALLS, 30, 235, {"kernel"}),
    ],
)  # fmt: skip
def test_what_pools_keep_beyond_the_waiting_requests_is_not_counted_to_them(
    tmp_path: Path, about: Any, target: str, threads: int | None, connections: int | None, unknown: set[str]
) -> None:
    raw = RawRun(memory=memory(**reading("waiting", threads=threads)), about=about)
    raw.request["load"] = load(target)
    open_ones = [] if connections is None else level(connections)
    raw.put("backend", matrix("backend_open_connections", open_ones))

    run = raw.judged(tmp_path)

    assert run.live_bytes_per_request.model_dump() == ALL | dict.fromkeys(unknown)
    assert bool(run.notes) == bool(unknown)
