"""What the lab makes of a request on a host of two CPUs with 20,000 open files, and what it refuses."""

import shlex
from itertools import batched
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.capacity import APPROACH_MS, BUSY_LIMIT, Room
from loomlab.plan.planning import command_of, description, plan, shell_lines
from loomlab.plan.work import ladder
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.load import Closed
from loomlab.records.order import Order
from loomlab.tools.known import tool
from ordered import SETTINGS, STAMP, TWO_CPUS, lab_in, planned
from saying import figures

HEADLINE = ["tomcat-platform", "tomcat-virtual", "webflux-netty"]
IDIOMATIC = SETTINGS | {"STYLE": "idiomatic"}
SWEEP: dict[str, Any] = {"verb": "sweep", "connections": (500, 2000), "design": "alone"}
FANNING_OUT = "/capabilities?calls=5&parallel=true"
THIRTY_TWO = TWO_CPUS.model_copy(update={"cpus": 32, "cpu_order": list(range(32)), "open_files": 1_000_000})


def swept(folder: Path, **changes: Any) -> Order:
    return planned(folder, **(SWEEP | changes))


def connections_of(order: Order) -> list[int]:
    return list(dict.fromkeys(run.request.load.connections for run in order.runs))


def approaches_of(order: Order) -> list[str]:
    return [run.request.approach for run in order.runs]


def test_a_plain_request_has_the_documented_defaults(tmp_path: Path) -> None:
    order = planned(tmp_path)
    run = order.runs[0]

    assert order.experiment == "20260101T000000Z-ab-c1000"
    assert sorted(approaches_of(order)) == HEADLINE
    assert run.settings == {"PLATFORM_THREADS": "1000", "POOL": "1004"}
    assert run.request.load.shape == Closed(1000, 210)
    assert (run.request.fit_duration, run.request.fit_requests, run.request.warmup_cap_s) == (True, True, 140)
    assert order.settings.items() >= {"JDK": "25", "DELAY": "300", "GC": "parallel", "APPROACH_CPUSET": "0"}.items()
    assert (order.note, order.suspect, order.margin) == (None, [], None)


def test_a_limit_is_the_pool_of_platform_threads(tmp_path: Path) -> None:
    order = planned(tmp_path, limit=50)
    assert (order.settings["LIMIT"], order.runs[0].settings["PLATFORM_THREADS"]) == ("50", "50")
    with pytest.raises(UsageError, match="use one of them"):
        planned(tmp_path, limit=50, platform_threads=40)
    with pytest.raises(UsageError, match="use STYLE=lean"):
        planned(tmp_path, limit=50, settings={"STYLE": "idiomatic"})


def test_variables_become_an_order(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    variables = {"CONCURRENCY": "50", "DURATION": "2m", "WARMUP_CAP": "45", "GC": "zgc", "RATE": "", "MARGIN": "0.05",
                 "PLATFORM_THREADS": "4", "POOL": "10", "STYLE": "idiomatic"}  # fmt: skip
    order = plan(lab.asked("run-ab", variables), TWO_CPUS, lab, STAMP)
    run = order.runs[0]

    assert order.settings.items() >= (IDIOMATIC | {"GC": "zgc"}).items()
    assert "STYLE=idiomatic" in list(shell_lines(order))
    assert (order.margin, run.request.style, run.request.warmup_cap_s) == (0.05, "idiomatic", 45)
    assert run.request.load.shape == Closed(50, 120)
    assert run.settings == {"PLATFORM_THREADS": "4", "POOL": "10"}
    every = plan(lab.asked("run-hey", {"CONCURRENCY": "50", "APPROACH": "all"}), TWO_CPUS, lab, STAMP)
    assert sorted(approaches_of(every)) == sorted(lab.approaches)


def test_a_quota_is_of_as_many_cpus_as_the_set_would_have_and_on_all_of_them(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    order = plan(lab.asked("run-ab", {"CONCURRENCY": "50", "CPU_MODE": "quota"}), TWO_CPUS, lab, STAMP)

    assert order.settings.items() >= {"APPROACH_CPUS": "1", "APPROACH_CPUSET": "0,1", "BACKEND_CPUSET": "1"}.items()
    assert (order.runs[0].request.quota_cpus, order.runs[0].request.approach_cpus) == (1, "0,1")


def test_the_shell_reads_words_without_spaces(tmp_path: Path) -> None:
    lines = list(shell_lines(planned(tmp_path, approaches=["webflux-netty"], repeats=2)))

    assert lines[:5] == [
        "LAB_EXPERIMENT=20260101T000000Z-ab-c1000", "EXPECTED_S=276", "LONGEST_S=804", "BACKEND_WARMUP_S=30", "NOTE=",
    ]  # fmt: skip
    settings = "webflux-netty PLATFORM_THREADS=1000 POOL=1004"
    assert lines[-2:] == [
        f"run 1-webflux-netty {settings} EXPECTED_S=276 LONGEST_S=804",
        f"run 2-webflux-netty {settings} EXPECTED_S=138 LONGEST_S=402",
    ]


@pytest.mark.parametrize(("cap_s", "backend_s"), [(4, 0), (5, 5), (30, 30), (31, 30)])
def test_the_backend_is_warmed_up_where_the_approach_is(tmp_path: Path, cap_s: int, backend_s: int) -> None:
    assert f"BACKEND_WARMUP_S={backend_s}" in list(shell_lines(planned(tmp_path, warmup_cap_s=cap_s)))


def test_a_reader_is_told_block_by_block(tmp_path: Path) -> None:
    order = swept(tmp_path, repeats=2, seed=3)
    head, note, *blocks, last = description(order)

    most_min = -(-sum(run.longest_s for run in order.runs) // 60)
    assert head == f"{order.experiment}: 12 runs, about 28 min, {most_min} at most"
    assert note.startswith("note: REPEATS=2 ")
    assert [line.partition(":")[0] for line in blocks] == [
        f"block {repeat} at {load} connections" for repeat in (1, 2) for load in ("500", "2,000")
    ]
    assert blocks[0].endswith(": " + ", ".join(approaches_of(order)[:3]))
    assert last.startswith("SEED=3 ")


@pytest.mark.parametrize(
    ("changes", "delay", "told"),
    [
        ({"duration_s": 21}, "300", "DURATION=21s|use DURATION=35s"), ({"duration_s": 22}, "300", ""),
        ({"duration_s": 67}, "1000", "DURATION=67s|use DURATION=89s"), ({"duration_s": 68}, "1000", ""),
        ({"duration_s": 16}, "0", "DURATION=16s|use DURATION=35s"), ({"duration_s": 17}, "0", ""),
        ({}, "3000", ""), ({}, "5000", " 210 s|use DURATION=437s"),
        ({"requests": 2199}, "300", "REQUESTS=2199 |use REQUESTS=3900 "), ({"requests": 2200}, "300", ""),
        ({"requests": 2199}, "3000", "use REQUESTS=2900 "), ({"requests": 2199}, "0", "use REQUESTS=2900 "),
    ],
)  # fmt: skip
def test_what_makes_no_valid_run_has_a_cure(tmp_path: Path, changes: dict[str, Any], delay: str, told: str) -> None:
    note = planned(tmp_path, connections=100, delay=delay, **changes).note or ""
    assert (note == "") is (told == "")
    assert [part for part in told.split("|") if part not in note] == []


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({}, (138, 402)), ({"duration_s": 100, "warmup_cap_s": 30}, (158, 182)),
        ({"duration_s": 100, "warmup_cap_s": 4}, (126, 136)), ({"delay": "3000"}, (396, 490)),
        ({"endpoint": "/capabilities?cpuMicros=10000"}, (398, 402)),
        ({"tool": "vegeta", "connections": None, "rate_rps": 500.0}, (164, 271)),
    ],
)  # fmt: skip
def test_a_plan_tells_how_long_a_run_takes(tmp_path: Path, changes: dict[str, Any], seconds: tuple[int, int]) -> None:
    run = planned(tmp_path, **changes).runs[0]
    assert (run.expected_s, run.longest_s) == seconds


@pytest.mark.parametrize(
    ("endpoint", "sent"),
    [
        ("/meetings?x=1", "/meetings?x=1"),
        ("/epoch-millis?", "/epoch-millis?delayInMillis=250"),
        ("/pinned?delayInMillis=0", "/pinned?delayInMillis=0"),
        ("/movies", "/movies?directorLastName=Allen&delayInMillis=250"),
        ("/movies?delayInMillis=7", "/movies?delayInMillis=7&directorLastName=Allen"),
        ("/httpbin/block/20.000", "/httpbin/block/20.000"),
    ],
)
def test_an_endpoint_is_completed_by_what_it_needs_and_lacks(tmp_path: Path, endpoint: str, sent: str) -> None:
    assert planned(tmp_path, endpoint=endpoint, delay="250", connections=100).runs[0].request.endpoint == sent


@pytest.mark.parametrize(
    ("changes", "pool", "suspect"),
    [
        ({"connections": 100}, 104, ""),
        ({"connections": 100, "host": TWO_CPUS.model_copy(update={"cpus": 16, "cpu_order": list(range(16))})}, 116, ""),
        ({"connections": 100, "pool": 10}, 10, ""),
        ({"connections": 9_748}, 9_752, ""),
        ({"connections": 9_749}, 9_751, "20000"),
        ({"connections": 10_000}, 9_500, "20000"),
        ({"connections": 10_000, "endpoint": "/epoch-millis"}, 9_500, ""),
        ({"connections": 1_000, "endpoint": FANNING_OUT}, 5_004, ""),
        ({"connections": 5_000, "endpoint": FANNING_OUT}, 14_500, "20000"),
        ({"connections": 10_000, "endpoint": "/capabilities?calls=20&parallel=true", "host": THIRTY_TWO}, 64_511,
         "ports"),
    ],
)  # fmt: skip
def test_all_approaches_get_a_pool_that_holds_their_calls_or_it_is_told_why_not(
    tmp_path: Path, changes: dict[str, Any], pool: int, suspect: str
) -> None:
    order = planned(tmp_path, **changes)

    assert {run.settings["POOL"] for run in order.runs} == {f"{pool}"}
    assert (order.suspect == []) is (suspect == "")
    assert all(f" {pool} connections for " in reason and suspect in reason for reason in order.suspect)


@pytest.mark.parametrize(
    ("rate_rps", "connections", "given"), [(500, None, 1803), (200.5, None, 723), (0.5, None, 100), (0.5, 30, 30)]
)
def test_a_rate_gets_connections_to_spare(tmp_path: Path, rate_rps: float, connections: int | None, given: int) -> None:
    order = planned(tmp_path, tool="vegeta", rate_rps=rate_rps, connections=connections)
    assert (order.runs[0].request.load.rate_rps, connections_of(order)) == (rate_rps, [given])
    assert order.experiment.endswith(f"-vegeta-r{rate_rps}")


ASKING: dict[str, Any] = {"endpoint": "/orders/42", "approaches": ["tomcat-virtual", "webflux-netty"]}


def test_an_endpoint_of_the_database_starts_it_and_has_a_pool_of_its_own(tmp_path: Path) -> None:
    order = planned(tmp_path, **ASKING)

    assert "LAB_DATABASE=1" in list(shell_lines(order))
    assert {run.settings["POOL"] for run in order.runs} == {"20"}
    assert {run.settings["POOL"] for run in planned(tmp_path, **ASKING | {"pool": 100}).runs} == {"100"}
    assert "LAB_DATABASE" not in planned(tmp_path).settings


VEGETA: dict[str, Any] = {"tool": "vegeta", "connections": None}


@pytest.mark.parametrize(
    ("error", "changes", "parts"),
    [
        (UsageError, {"delay": "6667"}, "ENDPOINT=/capabilities DELAY=6667 20001 20000"),
        (UsageError, {"endpoint": "/httpbin/block/20.001"}, "ENDPOINT=/httpbin/block/20.001 20001"),
        (UsageError, {"connections": 100, "pool": 1}, "POOL=1 90 POOL=4"),
        (UsageError, {"approaches": ["helidon-virtual"], "settings": IDIOMATIC}, "helidon-virtual STYLE=lean"),
        (UsageError, {"settings": IDIOMATIC | {"HTTP_CLIENT": "reactor"}}, "HTTP_CLIENT=reactor STYLE=lean"),
        (UsageError, {"endpoint": "/orders/42"}, "ENDPOINT=/orders/42 APPROACH=tomcat-virtual,webflux-netty"),
        (UsageError, ASKING | {"pool": 201}, "POOL=201 200"),
        (UsageError, ASKING | SWEEP | {"connections": None}, "/orders/42 RATE=300 CONCURRENCY=20"),
        (UsageError, ASKING | {"settings": IDIOMATIC}, "ENDPOINT=/orders/42 STYLE=lean"),
        (UsageError, ASKING | {"endpoint": "/orders/slow?millis=1000"}, "50 POOL=34"),
        (UsageError, SWEEP | {"connections": (500, 30_000)}, "30000 20000"),
        (UsageError, SWEEP | {"connections": (*range(1, 30),), "repeats": 100}, "5,000 REPEATS"),
        (HostError, {"connections": 20_000}, "CONCURRENCY=20000 20501 20000 17500 -Hn"),
        (HostError, {"connections": 19_000}, "CONCURRENCY=19000 34 -Hn"),
        (HostError, {"tool": "users", "connections": 70_000}, "CONCURRENCY=70000 64511 GENERATORS"),
        (HostError, {"connections": 25_000, "generators": 2}, "CONCURRENCY=25000 25501 20000 17500 -Hn"),
        (UsageError, {"connections": 90_000, "generators": 4, "host": THIRTY_TWO}, "22500 20000 GENERATORS"),
        (UsageError, {"tool": "users", "connections": 100_000, "generators": 2, "host": THIRTY_TWO},
         "CONCURRENCY=100000 MAX_CONNECTIONS=65000"),
        (UsageError, SWEEP | {"generators": 2, "design": "slices"}, "GENERATORS=2 DESIGN=alone"),
        (HostError, SWEEP | VEGETA | {"rate_rps": (5.0, 30_000.0)}, "RATE=30000 RATE"),
        (HostError, {"scenario": "60k-vus-smooth-spike-get-post-movies", "tool": ""}, "60000 20000 SCALE=auto"),
        (HostError, {"size": "smoke", "host": TWO_CPUS.model_copy(update={"cpus": 1, "cpu_order": [0]})}, "SIZE=auto"),
        (HostError, {"host": TWO_CPUS.model_copy(update={"free_mb": 12})}, "results/ 12"),
        (UsageError, {"lab": "swarm", "cpus": 4}, "CPUS=4 LAB=swarm CPU_MODE=quota"),
        (UsageError, {"lab": "swarm", "jfr": "1"}, "JFR=1 LAB=swarm"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, error: type[Exception], changes: dict[str, Any], parts: str) -> None:
    with pytest.raises(error) as refused:
        planned(tmp_path, **changes)

    said = str(refused.value)
    assert [part for part in parts.split() if part not in figures(said) and part not in said] == []
    assert said.endswith(".")


def test_several_load_generators_hold_what_one_cannot(tmp_path: Path) -> None:
    order = planned(tmp_path, connections=25_000, generators=2, host=THIRTY_TWO)

    assert "GENERATORS=2" in list(shell_lines(order))
    assert {run.request.generators for run in order.runs} == {2}
    assert planned(tmp_path, connections=12_000, delay="3000", generators=2).suspect
    assert swept(tmp_path, **IN_TURN).runs[0].request.partner
    assert swept(tmp_path, **IN_TURN | {"generators": 2}).runs[0].request.partner is None
    assert "GENERATORS" not in planned(tmp_path).settings


def test_a_block_has_every_approach_once_at_one_load_in_an_order_drawn_from_the_seed(tmp_path: Path) -> None:
    order = swept(tmp_path, seed=7)
    blocks = list(batched(order.runs, 3, strict=True))

    assert order.experiment.endswith("-sweep-ab-c500-2000")
    assert all(sorted(run.request.approach for run in block) == HEADLINE for block in blocks)
    loads = [{(one.block, one.request.repeat, one.request.load.connections) for one in block} for block in blocks]
    cells = [(repeat, connections) for repeat in range(1, 6) for connections in (500, 2000)]
    assert loads == [{(number, *cell)} for number, cell in enumerate(cells, 1)]
    assert {block[0].request.approach for block in blocks} == set(HEADLINE)
    assert swept(tmp_path, seed=7) == order
    assert approaches_of(swept(tmp_path, seed=8)) != approaches_of(order)


@pytest.mark.parametrize(
    ("changes", "cure"), [({"repeats": 1}, "REPEATS=3"), ({"approaches": ["jetty-virtual"]}, "AA=1")]
)
def test_a_sweep_that_gives_no_answer_is_told_with_the_cure(tmp_path: Path, changes: dict[str, Any], cure: str) -> None:
    assert cure in (swept(tmp_path, **changes).note or "")
    assert cure not in (planned(tmp_path, **changes).note or "")


def test_a_twin_is_the_first_approach_once_more_in_every_block(tmp_path: Path) -> None:
    order = swept(tmp_path, twin=True, approaches=["tomcat-virtual", "webflux-netty"], seed=5)

    named = ["tomcat-virtual", "tomcat-virtual-twin", "webflux-netty"]
    assert all(sorted(run.request.name for run in block) == named for block in batched(order.runs, 3, strict=True))
    twins = [run for run in order.runs if run.request.side]
    assert {run.request.load.origin for run in twins} == {"http://tomcat-virtual-twin:8080"}
    assert all(run.run.endswith("-tomcat-virtual-twin") for run in twins)
    walked = next(line for line in shell_lines(order) if line.startswith(f"run {twins[0].run} "))
    assert walked.split()[2] == "tomcat-virtual-twin"
    in_turn = swept(tmp_path, **IN_TURN | {"approaches": ["tomcat-virtual"], "twin": True}).runs
    assert {(run.request.name, run.request.partner) for run in in_turn} == {(named[0], named[1]), (named[1], named[0])}
    alone = swept(tmp_path, twin=True, approaches=["tomcat-virtual"])
    assert (alone.note, len(alone.runs)) == (None, 20)


def test_the_command_makes_the_same_order_again(tmp_path: Path) -> None:
    lab = lab_in(tmp_path / "lab")
    variables = {"CONCURRENCY": "500,2000", "ENDPOINT": "/movies?a=b&delayInMillis=5", "MARGIN": "0.05", "PLAN": "1"}
    order = plan(lab.asked("sweep", variables), TWO_CPUS, lab, STAMP)

    make, verb, *words = shlex.split(command_of(order))
    assert (make, verb) == ("make", "sweep")
    again = dict(word.split("=", 1) for word in words)
    assert again == {name: variables[name] for name in variables if name != "PLAN"} | {"SEED": str(order.seed)}
    others = {"SHELL": "results/gift/sh", "PATH": "results/gift", "MAKEFLAGS": "--eval=x"}
    assert command_of(order.model_copy(update={"asked": others | order.asked})) == command_of(order)
    repeated = plan(lab.asked("sweep", again), TWO_CPUS, lab, STAMP)
    assert repeated.model_copy(update={"asked": order.asked}) == order


def test_a_sweep_without_loads_has_a_ladder_that_fits_the_host(tmp_path: Path) -> None:
    assert connections_of(swept(tmp_path, connections=None)) == [50, 200, 900]
    assert connections_of(swept(tmp_path, connections=None, host=THIRTY_TWO)) == [500, 2000, 9000]


@given(
    st.sampled_from(["ab", "hey", "users"]),
    st.builds(Room, *2 * [st.integers(1, 64)], st.booleans(), st.integers(256, 9_000), st.integers(1024, 1_000_000)),
    st.integers(0, 20_000),
)
def test_a_ladder_rises_and_leaves_the_approach_half_of_its_cpu(name: str, room: Room, delay_ms: int) -> None:
    levels = ladder(tool(name), room, endpoint_of("/capabilities", delay_of(str(delay_ms))), 3 * delay_ms)

    assert levels[0] >= 1
    assert levels == sorted({*levels})
    most_rps = 1000 * BUSY_LIMIT * room.approach_cpus / APPROACH_MS
    assert levels[-1] <= max(most_rps * 3 * delay_ms / 1000, 1)


PAIRED, NETTY = ("tomcat-platform", "tomcat-virtual"), ("webflux-netty", "virtual-netty")
SMALL_HOST = TWO_CPUS.model_copy(update={"memory_mb": 8_000})
IN_TURN: dict[str, Any] = SWEEP | {"tool": "users", "approaches": PAIRED, "design": None}


def test_a_block_of_a_pair_has_both_at_every_load_and_which_begins_alternates(tmp_path: Path) -> None:
    order = swept(tmp_path, **IN_TURN | {"repeats": 4})

    blocks = [*batched(order.runs, 4, strict=True)]
    assert [{run.block for run in block} for block in blocks] == [{1}, {2}, {3}, {4}]
    assert all([run.request.load.connections for run in block] == [500, 500, 2000, 2000] for block in blocks)
    assert all({run.request.approach for run in block} == {*PAIRED} for block in blocks)
    assert all(run.request.partner in {*PAIRED} - {run.request.approach} for run in order.runs)
    begins = [block[0].request.approach for block in blocks]
    assert begins == [*begins[:2], *begins[:2]]
    assert begins[0] != begins[1]
    assert {run.settings["PLATFORM_THREADS"] for run in order.runs} == {"2000"}
    (line, *_) = [one for one in shell_lines(order) if one.startswith("run ")]
    assert line.split()[2] == ",".join(run.request.name for run in blocks[0])
    assert len([one for one in shell_lines(order) if one.startswith("run ")]) == 4


def test_pairs_are_those_that_compose_yaml_holds_against_each_other(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    names = "tomcat-platform,virtual-netty,webflux-netty,tomcat-virtual"
    order = plan(lab.asked("sweep", {"CONCURRENCY": "100", "APPROACH": names}), TWO_CPUS, lab, STAMP)

    pairs = {frozenset((run.request.approach, run.request.partner)) for run in order.runs}
    assert pairs == {frozenset(PAIRED), frozenset(("webflux-netty", "virtual-netty"))}


def test_ab_is_not_used_with_a_server_that_does_not_speak_its_http(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"helidon-virtual does not: use run-hey .*APPROACH=jetty-virtual\."):
        planned(tmp_path, approaches=["jetty-virtual", "helidon-virtual"])
    assert planned(tmp_path, tool="hey", approaches=["helidon-virtual"]).runs


@pytest.mark.parametrize(
    ("error", "changes", "why"),
    [
        (UsageError, {"approaches": HEADLINE}, "webflux-netty has no partner"),
        (UsageError, {"tool": "ab"}, "ab connects anew"),
        (UsageError, {"tool": "vegeta", "connections": None, "rate_rps": (100.0, 200.0)}, "RATE=100 is offered"),
        (UsageError, {"requests": 60_000}, "REQUESTS"),
        (UsageError, {"twin": True}, "AA=1"),
        (HostError, {"connections": (500, 6_000)}, "6000 platform threads"),
        (HostError, {"connections": (100, 900), "endpoint": FANNING_OUT}, "5400 platform threads"),
        (HostError, {"connections": (500, 4_000), "host": SMALL_HOST}, "3024 MB need more"),
        (UsageError, {"endpoint": "/capabilities?cpuMicros=10000", "connections": (1, 500)}, "a slice would take 5"),
        (HostError, {"connections": (500, 12_000), "approaches": NETTY}, "24500 connections and files"),
    ],
)
def test_what_cannot_be_loaded_in_turn_is_measured_alone_or_refused_with_the_cure(
    tmp_path: Path, error: type[Exception], changes: dict[str, Any], why: str
) -> None:
    order = swept(tmp_path, **IN_TURN | changes)
    assert why in (order.note or "")
    assert all(run.request.partner is None for run in order.runs)

    with pytest.raises(error, match=r"DESIGN=slices.*DESIGN=alone\.$") as refused:
        swept(tmp_path, **IN_TURN | changes | {"design": "slices"})
    assert why in str(refused.value)
    assert swept(tmp_path, **IN_TURN | changes | {"design": "alone"}).note is None
