"""What a waiting request held and a request allocated, from raw files."""

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.judge.judge import judge_run
from loomlab.records.memory import LiveBytes, MemoryAnswer
from loomlab.records.models import Run
from rawrun import RawRun, at, level, load, ramp
from saying import figures
from test_metrics import matrix

CONNECTIONS = 200
ALLOCATED_PER_S = 500_000
BEFORE: dict[str, Any] = {
    "heap_used_bytes": 30_000_000,
    "rss_anon_bytes": 200_000_000,
    "heap_rss_anon_bytes": 100_000_000,
    "threads": 30,
    "thread_stack_bytes": 1_000_000,
    "kernel_bytes": 8_000_000,
    "requests_in_flight": 0,
    "collection_ms": 40,
}
IDLE = BEFORE | {
    "heap_used_bytes": 50_000_000,
    "rss_anon_bytes": 703_000_000,
    "heap_rss_anon_bytes": 600_000_000,
    "thread_stack_bytes": 1_500_000,
    "kernel_bytes": 8_100_000,
}
LOADED = IDLE | {"rss_anon_bytes": 690_000_000}
WAITING = IDLE | {
    "heap_used_bytes": 58_000_000,
    "rss_anon_bytes": 914_500_000,
    "heap_rss_anon_bytes": 800_000_000,
    "thread_stack_bytes": 11_000_000,
    "kernel_bytes": 10_400_000,
    "requests_in_flight": CONNECTIONS,
}
"""A request: 40,000 of heap; 50,000 of stacks, which grew from 1 MB to 11, and 10,000 off-heap, which grew from 101.5
MB to 103.5; 12,000 of the kernel's."""


def answer(told: dict[str, Any] | None, error: str | None = None) -> dict[str, Any]:
    return {"asked": at(60), "answered": at(60.2), "answer": told, "error": error}


def memory(**changes: Any) -> dict[str, Any]:
    """raw/memory.json of a live set that was measured as it should be."""
    hold = {
        "connections": CONNECTIONS, "wait_ms": 2600, "started": at(55), "duration_s": 3.6, "requests": 200, "errors": 0,
    }  # fmt: skip
    told = {
        "before": answer(BEFORE),
        "loaded": answer(LOADED),
        "hold": hold,
        "waiting": answer(WAITING),
        "idle": answer(IDLE),
        "error": None,
    }
    return told | changes


def judged(folder: Path, **changes: Any) -> Run:
    return judge_run(RawRun(memory=memory(**changes)).write(folder / "1-app"))


@pytest.mark.parametrize(("shrunk_bytes", "heap"), [(800_000, 40_000), (800_001, None), (-9_000_000, 40_000)])
def test_the_heap_is_not_known_where_pools_gave_up_more_than_a_tenth_of_it_meanwhile(
    tmp_path: Path,
    shrunk_bytes: int,
    heap: float | None,
    snapshot: SnapshotAssertion,
) -> None:
    loaded = LOADED | {"heap_used_bytes": IDLE["heap_used_bytes"] + shrunk_bytes}

    run = judged(tmp_path, loaded=answer(loaded))

    assert run.live_bytes_per_request == LiveBytes(heap=heap, stacks_off_heap=60_000, kernel=12_000)
    assert run.notes == snapshot


def test_bytes_held_are_differences_by_the_requests_in_flight(tmp_path: Path) -> None:
    run = judged(tmp_path)

    assert run.live_bytes_per_request == LiveBytes(heap=40_000, stacks_off_heap=60_000, kernel=12_000)
    assert run.live_requests == CONNECTIONS
    assert run.heap_kept_bytes == 20_000_000
    assert (run.verdict, run.reasons, run.notes) == ("valid", [], [])
    written = json.loads((tmp_path / "1-app" / "run.json").read_text())
    assert written["live_bytes_per_request"] == {"heap": 40_000, "stacks_off_heap": 60_000, "kernel": 12_000}


def test_a_heap_that_is_touched_for_the_first_time_is_held_by_nobody(tmp_path: Path) -> None:
    touched = WAITING | {"rss_anon_bytes": 1_914_500_000, "heap_rss_anon_bytes": 1_800_000_000}

    held = judged(tmp_path, waiting=answer(touched)).live_bytes_per_request

    assert held.stacks_off_heap == 60_000


def test_stacks_that_a_pool_keeps_count_and_so_does_what_the_kernel_keeps_for_them(tmp_path: Path) -> None:
    kept = {"thread_stack_bytes": 11_000_000, "rss_anon_bytes": 712_500_000, "kernel_bytes": 10_400_000}

    held = judged(tmp_path, idle=answer(IDLE | kept)).live_bytes_per_request

    assert (held.stacks_off_heap, held.kernel) == (60_000, 12_000)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("heap_used_bytes", "heap"),
        ("rss_anon_bytes", "stacks_off_heap"),
        ("heap_rss_anon_bytes", "stacks_off_heap"),
        ("thread_stack_bytes", "stacks_off_heap"),
        ("kernel_bytes", "kernel"),
    ],
)
def test_what_the_process_does_not_tell_is_null_and_said(tmp_path: Path, name: str, left: str) -> None:
    untold = {when: answer(told | {name: None}) for when, told in (("before", BEFORE), ("waiting", WAITING))}

    run = judged(tmp_path, **untold)

    held = run.live_bytes_per_request.model_dump()
    assert {part for part, value in held.items() if value is None} == {left}
    (note,) = run.notes
    assert left in note
    assert name in note
    assert run.verdict == "valid"


@pytest.mark.parametrize(
    "changes",
    [
        {"error": "4 platform threads cannot hold 200 requests at once"},
        {"waiting": None},
        {"waiting": answer(None, "http://app:8081/memory did not answer")},
        {"idle": answer(None, "http://app:8081/memory did not answer")},
        {"idle": answer(IDLE | {"requests_in_flight": 3})},
        {"waiting": answer(WAITING | {"requests_in_flight": 179})},
        {"waiting": answer(WAITING | {"requests_in_flight": 0})},
        {"waiting": answer(WAITING | {"requests_in_flight": None})},
        {"waiting": answer(WAITING | {"requests_in_flight": "many"})},
        {"hold": None},
        {"loaded": answer(LOADED | {"requests_in_flight": 21})},
        {"waiting": answer(WAITING | {"requests_in_flight": 201})},
    ],
)
def test_without_requests_that_wait_nothing_is_known_of_them(
    tmp_path: Path, changes: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    run = judged(tmp_path, **changes)

    assert run.live_bytes_per_request == LiveBytes()
    assert run.live_requests is None
    assert run.notes == snapshot
    assert run.verdict == "valid"


PLATFORM = {"concurrency": "platform-threads", "inbound": {"max_threads": 400}, "jvm": {"available_processors": 2}}
VIRTUAL = PLATFORM | {"concurrency": "virtual-threads"}
CALLS, NO_CALLS = "/capabilities", "/epoch-millis?delayInMillis=300"


@pytest.mark.parametrize(
    ("about", "target", "threads", "connections", "unknown"),
    [
        (PLATFORM, CALLS, 30 + 234, 234, set()),
        (PLATFORM, CALLS, 30 + 235, 234, {"stacks_off_heap", "kernel"}),
        (VIRTUAL, CALLS, 30 + 235, 234, set()),
        (PLATFORM, CALLS, None, 234, set()),
        (PLATFORM, CALLS, 30 + 234, 235, {"kernel"}),
        (VIRTUAL, CALLS, 30, 235, {"kernel"}),
        (VIRTUAL, CALLS, 30, None, {"kernel"}),
        (VIRTUAL, NO_CALLS, 30, 235, set()),
        (VIRTUAL, NO_CALLS, 30, None, set()),
        (VIRTUAL, f"{CALLS}?calls=5&parallel=true", 30, 200, {"kernel"}),
        ({"error": "no answer"}, CALLS, 30, 230, set()),
        ({"error": "no answer"}, CALLS, 30, 235, {"kernel"}),
    ],
)
def test_what_pools_keep_beyond_the_waiting_requests_is_not_counted_to_them(
    tmp_path: Path, about: Any, target: str, threads: int | None, connections: int | None, unknown: set[str]
) -> None:
    raw = RawRun(memory=memory(waiting=answer(WAITING | {"threads": threads})), about=about)
    raw.request["load"] = load(target)
    raw.metrics["backend"] = [
        one for one in raw.metrics["backend"] if one["metric"]["__name__"] != "backend_open_connections"
    ]
    if connections is not None:
        raw.metrics["backend"].append(matrix("backend_open_connections", level(connections)))

    run = judge_run(raw.write(tmp_path / "1-app"))

    held = run.live_bytes_per_request.model_dump()
    assert {part for part, value in held.items() if value is None} == unknown
    assert held["heap"] == 40_000
    assert bool(run.notes) == bool(unknown)


def test_what_requests_of_the_load_before_held_is_not_taken_for_what_pools_gave_up(tmp_path: Path) -> None:
    left = {"requests_in_flight": 20, "heap_used_bytes": IDLE["heap_used_bytes"] + 1_600_000}

    known = judged(tmp_path, loaded=answer(LOADED | left))
    more = judged(tmp_path, loaded=answer(LOADED | left | {"heap_used_bytes": left["heap_used_bytes"] + 1}))

    assert (known.live_bytes_per_request.heap, more.live_bytes_per_request.heap) == (40_000, None)


def test_without_the_reading_before_the_requests_it_is_not_known_what_pools_gave_up(tmp_path: Path) -> None:
    run = judged(tmp_path, loaded=answer(None, "http://app:8081/memory did not answer"))

    assert run.live_bytes_per_request == LiveBytes(heap=None, stacks_off_heap=60_000, kernel=12_000)
    (note,) = run.notes
    assert "heap_used_bytes" in note


@pytest.mark.parametrize(("loaded", "kept"), [({}, 25_000_000), ({"requests_in_flight": 1}, 20_000_000)])
def test_the_heap_that_is_kept_is_read_before_the_lab_sends_requests_of_its_own(
    tmp_path: Path, loaded: dict[str, Any], kept: float
) -> None:
    run = judged(tmp_path, loaded=answer(LOADED | {"heap_used_bytes": 55_000_000} | loaded))

    assert run.heap_kept_bytes == kept


@pytest.mark.parametrize(("earlier", "known"), [(20, True), (21, False)])
def test_a_few_requests_of_the_load_may_still_be_in_flight_before(tmp_path: Path, earlier: int, *, known: bool) -> None:
    run = judged(tmp_path, loaded=answer(LOADED | {"requests_in_flight": earlier}))

    assert (run.live_requests is not None) is known


def test_nine_tenths_of_the_requests_are_enough(tmp_path: Path) -> None:
    run = judged(tmp_path, waiting=answer(WAITING | {"requests_in_flight": 180}))

    assert run.live_requests == 180
    assert run.live_bytes_per_request.heap == pytest.approx(8_000_000 / 180)


@pytest.mark.parametrize(("waiting", "unknown"), [(100, set()), (99, {"stacks_off_heap", "kernel"})])
def test_few_requests_are_not_charged_what_the_process_grew_by(tmp_path: Path, waiting: int, unknown: set[str]) -> None:
    hold = memory()["hold"] | {"connections": 105, "requests": 105}

    run = judged(tmp_path, hold=hold, waiting=answer(WAITING | {"requests_in_flight": waiting}))

    held = run.live_bytes_per_request.model_dump()
    assert {part for part, value in held.items() if value is None} == unknown
    assert held["heap"] == pytest.approx(8_000_000 / waiting)
    assert all({"99", "100"} <= figures(note) for note in run.notes)
    assert bool(run.notes) == bool(unknown)


def test_a_run_of_an_earlier_version_has_neither_figures_nor_a_note(run_dir: Path) -> None:
    run = judge_run(run_dir)

    assert run.live_bytes_per_request == LiveBytes()
    assert run.allocated_bytes_per_request is run.heap_kept_bytes is None
    assert run.notes == []


def test_allocation_is_counted_on_the_interior_as_cpu_is(tmp_path: Path) -> None:
    raw = RawRun()
    raw.metrics["approach"].append(matrix("lab_allocated_bytes_total", ramp(ALLOCATED_PER_S)))

    run = judge_run(raw.write(tmp_path))

    assert run.throughput_rps is not None
    assert run.allocated_bytes_per_request == pytest.approx(ALLOCATED_PER_S / run.throughput_rps)


def test_a_counter_that_does_not_span_the_interior_tells_nothing(tmp_path: Path) -> None:
    raw = RawRun()
    early = [sample for sample in ramp(ALLOCATED_PER_S) if sample[0] < at(20)]
    raw.metrics["approach"].append(matrix("lab_allocated_bytes_total", early))

    assert judge_run(raw.write(tmp_path)).allocated_bytes_per_request is None


@pytest.mark.parametrize("value", [True, "1", None, [1]])
def test_only_a_number_is_a_figure(value: Any) -> None:
    told = MemoryAnswer(asked=1, answered=2, answer={"threads": value, "heap_used_bytes": 7})

    assert told.figure("threads") is None
    assert told.figure("heap_used_bytes") == 7
    assert MemoryAnswer(asked=1, answered=2).figure("threads") is None
