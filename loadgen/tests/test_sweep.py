"""A sweep: several loads in one experiment, in blocks."""

import shlex
from itertools import batched, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.levels import ladder
from loomlab.plan.planning import plan
from loomlab.plan.scenarios.capacity import APPROACH_MS, BUSY_LIMIT, Room
from loomlab.plan.walk import lines_of, told_of
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.order import Order
from ordered import STAMP, TWO_CPUS, lab_in, planned

THREE = ["tomcat-platform", "tomcat-virtual", "webflux-netty"]


def swept(folder: Path, **changes: Any) -> Order:
    return planned(folder, **({"verb": "sweep", "connections": (500, 2000)} | changes))


def connections_of(order: Order) -> list[int]:
    return list(dict.fromkeys(run.request.load.connections for run in order.runs))


def test_a_block_has_every_approach_once_at_one_load_and_is_made_five_times_at_each(tmp_path: Path) -> None:
    order = swept(tmp_path, seed=7)
    blocks = list(batched(order.runs, 3, strict=True))

    assert order.experiment.endswith("-sweep-ab-c500-2000")
    assert len(blocks) == 10
    assert all(sorted(run.request.approach for run in block) == THREE for block in blocks)
    assert [{run.block for run in block} for block in blocks] == [{number} for number in range(1, 11)]
    told = [{(run.request.cell, run.request.repeat, run.request.load.connections) for run in block} for block in blocks]
    assert told == [{(cell, repeat, 500 if cell == 1 else 2000)} for repeat in range(1, 6) for cell in (1, 2)]
    assert swept(tmp_path, seed=7) == order
    assert len({tuple(run.request.approach for run in block) for block in blocks}) > 2


def test_a_rate_has_the_connections_that_it_keeps_busy_and_vegeta_as_its_tool(tmp_path: Path) -> None:
    asked = lab_in(tmp_path / "lab").asked("sweep", {"RATE": "100,200.5"})
    order = swept(tmp_path, tool="vegeta", connections=None, rate_rps=(100.0, 200.5))

    assert (asked.tool, asked.rates_rps, asked.sweep) == ("vegeta", [100.0, 200.5], True)
    assert {(run.request.load.rate_rps, run.request.load.connections) for run in order.runs} == {
        (100.0, 363), (200.5, 723),
    }  # fmt: skip
    assert order.experiment.endswith("-sweep-vegeta-r100-200.5")
    assert lab_in(tmp_path / "lab").asked("sweep", {"CONCURRENCY": "500"}).tool == "ab"


def test_the_time_told_is_that_of_all_runs_and_of_those_that_are_left(tmp_path: Path) -> None:
    order = swept(tmp_path, connections=(500, 8000), repeats=1)
    lines = list(lines_of(order))
    each = [run.expected_s or 0 for run in order.runs]

    assert f"EXPECTED_S={sum(each)}" in lines
    left = [int(line.partition("EXPECTED_S=")[2].split()[0]) for line in lines if line.startswith("run ")]
    assert left == [sum(each[place:]) for place in range(6)]
    assert each[0] < each[3] == order.expected_s


def test_a_plan_is_told_block_by_block(tmp_path: Path) -> None:
    order = swept(tmp_path, repeats=2, seed=3)
    first, *lines, last = told_of(order)

    assert first == f"{order.experiment}: 12 runs, about 28 min, {-(-12 * order.longest_s // 60)} at most"
    assert lines[0].startswith("note: REPEATS=2 ")
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "block 1 at 500 connections",
        "block 1 at 2,000 connections",
        "block 2 at 500 connections",
        "block 2 at 2,000 connections",
    ]
    assert lines[1].endswith(": " + ", ".join(run.request.approach for run in order.runs[:3]))
    assert last.startswith("SEED=3 ")


@pytest.mark.parametrize(
    ("changes", "cure"),
    [({"repeats": 1}, "REPEATS=3"), ({"approaches": ["jetty-virtual"]}, "AA=1")],
)
def test_what_gives_no_answer_is_told_with_the_cure(
    tmp_path: Path, changes: dict[str, Any], cure: str, snapshot: SnapshotAssertion
) -> None:
    note = swept(tmp_path, **changes).note or ""

    assert cure in note
    assert note == snapshot
    assert cure not in (planned(tmp_path, **changes).note or "")


@pytest.mark.parametrize(
    ("verb", "given", "cure"),
    [
        ("sweep", "CONCURRENCY=2000,500", "500,2000."),
        ("sweep", "CONCURRENCY=500,500", "500."),
        ("sweep", "RATE=20,3.5", "3.5,20."),
        ("sweep", "RATE=20,20.0", "20."),
        ("run-ab", "CONCURRENCY=5,9", "sweep CONCURRENCY=5,9."),
        ("run-vegeta", "RATE=5,9", "sweep RATE=5,9."),
    ],
)
def test_loads_that_do_not_rise_or_are_too_many_are_refused(
    tmp_path: Path, verb: str, given: str, cure: str, snapshot: SnapshotAssertion
) -> None:
    name, _, value = given.partition("=")

    with pytest.raises(UsageError) as refusal:
        lab_in(tmp_path / "lab").asked(verb, {name: value})

    assert str(refusal.value).endswith(f" {cure}")
    assert str(refusal.value) == snapshot


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"connections": (500, 30_000)}, UsageError),
        ({"connections": (500, 19_999)}, HostError),
        ({"tool": "vegeta", "connections": None, "rate_rps": (5.0, 30_000.0)}, HostError),
        ({"tool": "vegeta"}, UsageError),
        ({"tool": "ab", "rate_rps": (5.0, 9.0)}, UsageError),
        ({"tool": "vegeta", "rate_rps": 5.0}, UsageError),
        ({"tool": "users", "connections": None, "rate_rps": 5.0}, UsageError),
    ],
)
def test_a_load_that_tool_or_host_cannot_hold_is_refused(
    tmp_path: Path, changes: dict[str, Any], error: type[Exception], snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(error) as refusal:
        swept(tmp_path, **changes)
    assert str(refusal.value) == snapshot


def test_without_loads_there_is_a_ladder_that_fits_the_host(tmp_path: Path) -> None:
    assert connections_of(swept(tmp_path, connections=None)) == [50, 200, 900]
    large = TWO_CPUS.model_copy(update={"cpus": 32, "cpu_order": list(range(32)), "open_files": 1_000_000})
    assert connections_of(swept(tmp_path, connections=None, host=large)) == [900, 3000, 10_000]


CPUS, MEMORY_MB, FILES = st.integers(1, 64), st.integers(256, 9_000), st.integers(1024, 1_000_000)


@given(
    st.sampled_from(["ab", "hey", "users"]),
    st.builds(Room, CPUS, CPUS, st.booleans(), MEMORY_MB, FILES),
    st.integers(0, 20_000),
)
def test_a_ladder_rises_and_leaves_the_approach_half_of_its_cpu(tool: str, room: Room, delay_ms: int) -> None:
    endpoint = endpoint_of("/capabilities", delay_of(str(delay_ms)))
    levels = ladder(tool, room, endpoint, 3 * delay_ms)

    assert levels[0] >= 1
    assert all(low < high for low, high in pairwise(levels))
    most_rps = 1000 * BUSY_LIMIT * room.approach_cpus / APPROACH_MS
    assert levels[-1] <= max(most_rps * 3 * delay_ms / 1000, 1)


def test_a_twin_is_the_first_approach_once_more_in_every_block(tmp_path: Path) -> None:
    order = swept(tmp_path, twin=True, approaches=["tomcat-virtual", "webflux-netty"], seed=5)
    blocks = list(batched(order.runs, 3, strict=True))

    named = ["tomcat-virtual", "tomcat-virtual-twin", "webflux-netty"]
    assert all(sorted(run.request.name for run in block) == named for block in blocks)
    twins = [run for run in order.runs if run.request.twin]
    assert {run.request.approach for run in twins} == {"tomcat-virtual"}
    assert {run.request.load.origin for run in twins} == {"http://tomcat-virtual:8080"}
    assert all(run.run.endswith("-tomcat-virtual-twin") for run in twins)
    walked = next(line for line in lines_of(order) if line.startswith(f"run {twins[0].run} "))
    assert walked.split()[2] == "tomcat-virtual"
    alone = swept(tmp_path, twin=True, approaches=["tomcat-virtual"])
    assert (alone.note, len(alone.runs)) == (None, 20)


def test_a_margin_is_declared_with_the_plan(tmp_path: Path) -> None:
    asked = lab_in(tmp_path / "lab").asked("sweep", {"MARGIN": "0.05", "AA": "1"})
    order = swept(tmp_path, margin=0.05)

    assert (asked.margin, asked.twin) == (0.05, True)
    assert order.margin == 0.05
    assert swept(tmp_path).margin is None


def test_the_command_makes_the_same_order_again(tmp_path: Path) -> None:
    lab = lab_in(tmp_path / "lab")
    given = {"CONCURRENCY": "500,2000", "ENDPOINT": "/movies?a=b&delayInMillis=5", "MARGIN": "0.05", "PLAN": "1"}
    order = plan(lab.asked("sweep", given), TWO_CPUS, lab, STAMP)

    make, verb, *words = shlex.split(order.command)
    assert (make, verb) == ("make", "sweep")
    again = dict(word.split("=", 1) for word in words)
    assert again == {name: given[name] for name in given if name != "PLAN"} | {"SEED": str(order.seed)}
    repeated = plan(lab.asked("sweep", again), TWO_CPUS, lab, STAMP)
    assert repeated.model_copy(update={"asked": order.asked}) == order
