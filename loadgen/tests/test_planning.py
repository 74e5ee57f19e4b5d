"""What the lab makes of a request on a host of two CPUs with 20,000 open files, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.limits import pool_of
from loomlab.plan.walk import lines_of
from loomlab.records.load import Closed
from loomlab.records.order import Order, PlannedRun
from ordered import SETTINGS, TWO_CPUS, lab_in, planned
from saying import figures


def first(order: Order) -> PlannedRun:
    return order.runs[0]


def refused(error: type[Exception], tmp_path: Path, **changes: Any) -> str:
    with pytest.raises(error) as refusal:
        planned(tmp_path, **changes)
    return str(refusal.value)


def test_a_plain_request_has_the_documented_defaults(tmp_path: Path) -> None:
    order = planned(tmp_path)
    run = first(order)

    assert order.experiment == "20260101T000000Z-ab-c1000"
    assert sorted(one.request.approach for one in order.runs) == ["tomcat-platform", "tomcat-virtual", "webflux-netty"]
    assert {one.state for one in order.runs} == {"planned"}
    assert run.settings == {"PLATFORM_THREADS": "1000", "BACKEND_CONNECTIONS": "1004"}
    assert run.request.load.origin == f"http://{run.request.approach}:8080"
    assert run.request.load.shape == Closed(1000, 210)
    assert (run.request.fit_duration, run.request.fit_requests, run.request.warmup_cap_s) == (True, True, 140)
    assert order.settings.items() >= {"JDK": "25", "DELAY": "300", "GC": "parallel", "APPROACH_CPUSET": "0"}.items()
    assert (order.note, order.suspect) == (None, [])


def test_the_shell_reads_words_without_spaces(tmp_path: Path) -> None:
    lines = list(lines_of(planned(tmp_path, approaches=["webflux-netty"], repeats=2)))

    assert lines[0] == "LAB_EXPERIMENT=20260101T000000Z-ab-c1000"
    assert lines[1:3] == ["EXPECTED_S=276", "LONGEST_S=804"]
    settings = "webflux-netty PLATFORM_THREADS=1000 BACKEND_CONNECTIONS=1004"
    assert lines[-2:] == [
        f"run 1-webflux-netty {settings} EXPECTED_S=276 LONGEST_S=804",
        f"run 2-webflux-netty {settings} EXPECTED_S=138 LONGEST_S=402",
    ]


def test_variables_become_a_request(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    given = {"CONCURRENCY": "50", "DURATION": "2m", "WARMUP_CAP": "45", "APPROACH": "all", "GC": "zgc", "RATE": ""}
    asked = lab.asked("run-ab", given)

    assert (asked.connections, asked.duration_s, asked.warmup_cap_s, asked.rates_rps) == ([50], 120, 45, [])
    assert asked.approach == lab.approaches
    assert asked.settings == SETTINGS | {"GC": "zgc"}


def test_the_style_goes_to_the_container_and_into_the_request(tmp_path: Path) -> None:
    order = planned(tmp_path, settings=SETTINGS | {"STYLE": "idiomatic"})

    assert "STYLE=idiomatic" in list(lines_of(order))
    assert {run.request.style for run in order.runs} == {"idiomatic"}


def test_a_style_that_an_approach_does_not_have_is_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    said = refused(
        UsageError,
        tmp_path,
        approaches=["webflux-netty", "helidon-virtual"],
        settings=SETTINGS | {"STYLE": "idiomatic"},
    )

    assert said == snapshot


def test_another_client_is_refused_in_the_idiomatic_style(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    said = refused(UsageError, tmp_path, settings=SETTINGS | {"STYLE": "idiomatic", "HTTP_CLIENT": "reactor"})

    assert said == snapshot


def test_a_missing_concurrency_names_the_cure(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    said = refused(UsageError, tmp_path, connections=None)

    assert said == snapshot


def test_more_connections_than_ab_opens_are_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    said = refused(UsageError, tmp_path, connections=20_001)

    assert said == snapshot


def test_fewer_requests_than_connections_are_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    said = refused(UsageError, tmp_path, connections=100, requests=99)

    assert said == snapshot


@pytest.mark.parametrize(
    ("duration_s", "delay", "enough_s"),
    [
        (20, "300", 35), (21, "300", 35), (22, "300", None), (60, "1000", 89), (67, "1000", 89), (68, "1000", None),
        (16, "0", 35), (17, "0", None), (None, "3000", None), (None, "5000", 437),
    ],
)  # fmt: skip
def test_a_duration_that_cannot_hold_a_valid_run_is_told_with_one_that_can(
    tmp_path: Path, duration_s: int | None, delay: str, enough_s: int | None
) -> None:
    note = planned(tmp_path, connections=100, duration_s=duration_s, delay=delay).note

    if enough_s is None:
        assert note is None
    else:
        assert note is not None
        assert (f"DURATION={duration_s}s" if duration_s else " 210 s") in note
        assert f"use DURATION={enough_s}s" in note


@pytest.mark.parametrize(
    ("requests", "delay", "enough"),
    [
        (1000, "300", 3900),
        (2199, "300", 3900),
        (2200, "300", None),
        (2199, "3000", 2900),
        (2199, "0", 2900),
    ],
)
def test_requests_that_cannot_make_a_valid_run_are_told_with_a_number_that_can(
    tmp_path: Path, requests: int, delay: str, enough: int | None
) -> None:
    note = planned(tmp_path, connections=100, requests=requests, delay=delay).note

    if enough is None:
        assert note is None
    else:
        assert note is not None
        assert note.startswith(f"REQUESTS={requests} ")
        assert f"use REQUESTS={enough} " in note


def test_a_plan_tells_how_long_a_run_takes_and_how_long_at_most(tmp_path: Path) -> None:
    plain = planned(tmp_path)
    short = planned(tmp_path, duration_s=100, warmup_cap_s=30)

    assert (plain.expected_s, plain.longest_s) == (138, 402)
    assert (short.expected_s, short.longest_s) == (158, 182)
    assert first(planned(tmp_path, delay="3000")).request.warmup_cap_s == 220


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("/capabilities", "/capabilities"),
        ("/meetings?x=1", "/meetings?x=1"),
        ("/epoch-millis", "/epoch-millis?delayInMillis=250"),
        ("/pinned?delayInMillis=0", "/pinned?delayInMillis=0"),
        ("/movies", "/movies?directorLastName=Allen&delayInMillis=250"),
        ("/movies?directorLastName=Kubrick", "/movies?directorLastName=Kubrick&delayInMillis=250"),
        ("/movies?delayInMillis=7", "/movies?delayInMillis=7&directorLastName=Allen"),
        ("/movies?directorLastName=Allen&delayInMillis=250", "/movies?directorLastName=Allen&delayInMillis=250"),
        ("/epoch-millis?", "/epoch-millis?delayInMillis=250"),
        ("/httpbin/block/20.000", "/httpbin/block/20.000"),
    ],
)
def test_an_endpoint_is_completed_by_what_it_needs_and_lacks(tmp_path: Path, asked: str, sent: str) -> None:
    assert first(planned(tmp_path, endpoint=asked, delay="250", connections=100)).request.endpoint == sent


@pytest.mark.parametrize(
    ("changes", "shown", "after"),
    [
        ({"delay": "6667"}, "ENDPOINT=/capabilities with DELAY=6667", "20001"),
        ({"endpoint": "/httpbin/block/20.001"}, "ENDPOINT=/httpbin/block/20.001 with DELAY=300", "20001"),
        ({"endpoint": "/pinned?delayInMillis=20001"}, "ENDPOINT=/pinned?delayInMillis=20001", "20001"),
    ],
)
def test_an_answer_later_than_tools_would_wait_for_is_refused(
    tmp_path: Path, changes: dict[str, str], shown: str, after: str
) -> None:
    said = refused(UsageError, tmp_path, connections=100, **changes)

    assert shown in said
    assert f"{after} ms" in said
    assert "20000 ms" in said


def test_threads_are_as_many_as_connections_and_backend_connections_a_few_more_unless_asked_for(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    plain = first(planned(tmp_path, connections=100)).settings
    asked = first(planned(tmp_path, connections=100, platform_threads=4, backend_connections=10)).settings

    assert plain == {"PLATFORM_THREADS": "100", "BACKEND_CONNECTIONS": "104"}
    assert asked == {"PLATFORM_THREADS": "4", "BACKEND_CONNECTIONS": "10"}
    assert planned(tmp_path, connections=100, backend_connections=10).suspect == []
    said = refused(UsageError, tmp_path, connections=100, backend_connections=1)
    assert said == snapshot


def test_calls_at_once_need_a_pool_that_holds_them_all(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    fanning_out = "/capabilities?calls=5&parallel=true"
    order = planned(tmp_path, connections=1000, endpoint=fanning_out)
    cut = planned(tmp_path, connections=5000, endpoint=fanning_out)

    assert first(order).settings["BACKEND_CONNECTIONS"] == "5004"
    assert order.suspect == []
    assert first(cut).settings["BACKEND_CONNECTIONS"] == "14500"
    assert cut.suspect == snapshot
    in_turn = planned(tmp_path, connections=1000, endpoint="/capabilities?calls=5")
    assert first(in_turn).settings["BACKEND_CONNECTIONS"] == "1004"


def test_a_pool_is_no_larger_than_one_address_has_ports(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    host = TWO_CPUS.model_copy(update={"open_files": 500_000})
    order = planned(tmp_path, host=host, connections=10_000, endpoint="/capabilities?calls=20&parallel=true")

    assert first(order).settings["BACKEND_CONNECTIONS"] == "64511"
    assert order.suspect == snapshot


def test_work_that_requests_ask_for_is_in_the_time_of_a_wave(tmp_path: Path) -> None:
    plain = planned(tmp_path)
    working = planned(tmp_path, endpoint="/capabilities?cpuMicros=10000")

    assert working.expected_s > plain.expected_s + 200


def test_an_endpoint_that_needs_no_backend_does_not_queue_for_its_connections(tmp_path: Path) -> None:
    assert planned(tmp_path, connections=10_000, endpoint="/epoch-millis").suspect == []


def test_a_rate_gets_connections_to_spare_unless_they_are_asked_for(tmp_path: Path) -> None:
    spare = planned(tmp_path, tool="vegeta", rate_rps=500, connections=None)
    asked = planned(tmp_path, tool="vegeta", rate_rps=0.5, connections=30)

    assert first(spare).request.load.connections == 1803
    assert first(spare).request.load.rate_rps == 500
    assert first(asked).request.load.connections == 30
    assert spare.experiment.endswith("-vegeta-r500")


def test_hey_gets_no_more_requests_than_it_remembers(tmp_path: Path) -> None:
    assert planned(tmp_path, tool="hey", connections=9000)
    said = refused(UsageError, tmp_path, tool="hey", connections=100, requests=1_000_001)
    assert {"1000001", "1000000"} <= figures(said)


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "ab", "rate_rps": 500},
        {"tool": "hey", "rate_rps": 500},
        {"tool": "users", "rate_rps": 500},
        {"tool": "vegeta"},
        {"tool": "vegeta", "rate_rps": 500, "requests": 100},
    ],
)
def test_a_rate_is_refused_where_the_tool_has_none_and_asked_for_where_it_has_nothing_else(
    tmp_path: Path, changes: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert refused(UsageError, tmp_path, **changes) == snapshot


def test_a_size_larger_than_the_host_is_the_hosts_lack(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    one = TWO_CPUS.model_copy(update={"cpus": 1, "cpu_order": [0]})

    said = refused(HostError, tmp_path, host=one, size="smoke")
    assert said == snapshot


def test_the_flagship_fits_under_20000_open_files_with_one_smaller_pool_for_all_and_says_so(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    order = planned(tmp_path, connections=10_000)

    assert [run.settings for run in order.runs] == 3 * [{"PLATFORM_THREADS": "10000", "BACKEND_CONNECTIONS": "9500"}]
    assert order.suspect == snapshot


def test_backend_connections_to_spare_are_as_many_as_cpus(tmp_path: Path) -> None:
    host = TWO_CPUS.model_copy(update={"cpus": 16, "cpu_order": list(range(16))})

    assert first(planned(tmp_path, host=host, connections=100)).settings["BACKEND_CONNECTIONS"] == "116"


@pytest.mark.parametrize(("connections", "suspect"), [(9_748, 0), (9_749, 1), (9_751, 1)])
def test_connections_that_are_not_to_spare_are_told(tmp_path: Path, connections: int, suspect: int) -> None:
    assert len(planned(tmp_path, connections=connections).suspect) == suspect


@pytest.mark.parametrize(
    ("connections", "said"),
    [(20_000, "20501 20000"), (19_000, "34")],
)
def test_more_connections_than_open_files_allow_are_the_hosts_lack(tmp_path: Path, connections: int, said: str) -> None:
    problem = refused(HostError, tmp_path, connections=connections)

    assert problem.startswith(f"CONCURRENCY={connections} ")
    assert set(said.split()) <= figures(problem)
    assert "ulimit -Hn" in problem


@pytest.mark.parametrize(("connections", "open_files"), [(60_000, 20_000), (19_000, 20_000), (64_500, 200_000)])
def test_a_scenario_that_is_too_large_for_the_host_is_cured_by_its_scale(connections: int, open_files: int) -> None:
    host = TWO_CPUS.model_copy(update={"open_files": open_files})

    with pytest.raises(HostError, match=rf"^NAME=sixty with {connections} connections .*use SCALE=auto\.$"):
        pool_of(host, connections, None, 900, "NAME=sixty")


def test_connections_beyond_the_ports_of_one_address_are_the_hosts_lack(tmp_path: Path) -> None:
    said = refused(HostError, tmp_path, tool="users", connections=70_000)

    assert {"70000", "64511"} <= figures(said)


def test_results_without_room_are_the_hosts_lack(tmp_path: Path) -> None:
    full = TWO_CPUS.model_copy(update={"free_mb": 12})

    assert refused(HostError, tmp_path, host=full).startswith("results/ has 12 MB free")


def test_room_for_results_is_that_of_the_runs_asked_for(tmp_path: Path) -> None:
    some = TWO_CPUS.model_copy(update={"free_mb": 400})

    assert planned(tmp_path, host=some)
    assert "may need 3384 MB" in refused(HostError, tmp_path, host=some, repeats=100)
    assert planned(tmp_path, host=some, connections=None, scenario="smoketest")
    assert "free the disk" in refused(HostError, tmp_path, host=some, delay="0", connections=9_000)
    assert planned(tmp_path, host=some, tool="vegeta", connections=None, rate_rps=1000.0, duration_s=60)
    assert "free the disk" in refused(HostError, tmp_path, host=some, tool="vegeta", rate_rps=1000.0, duration_s=3600)


def order_of(order: Order) -> list[str]:
    return [run.request.approach for run in order.runs]


def test_every_block_has_every_approach_once_in_an_order_drawn_from_the_seed(tmp_path: Path) -> None:
    order = planned(tmp_path, repeats=20, seed=7)
    blocks = [order_of(order)[start : start + 3] for start in range(0, 60, 3)]

    assert [run.block for run in order.runs] == [1 + place // 3 for place in range(60)]
    assert [run.request.repeat for run in order.runs] == [1 + place // 3 for place in range(60)]
    assert all(sorted(block) == sorted(blocks[0]) for block in blocks)
    assert {block[0] for block in blocks} == set(blocks[0])
    assert order_of(planned(tmp_path, repeats=20, seed=7)) == order_of(order)
    assert order_of(planned(tmp_path, repeats=20, seed=8)) != order_of(order)
    assert len({tuple(order_of(planned(tmp_path, seed=seed))) for seed in range(20)}) > 2
