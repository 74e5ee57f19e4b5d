"""What the page begins with says what its figures say."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.contrasts import unknown_notes
from loomlab.answer.figures import CPU, P50, P99, THROUGHPUT, WAITING, Figure, number
from loomlab.answer.loads import loads_of
from loomlab.records.contrasts import Contrast, Kind
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency, Run, Summary
from loomlab.records.order import Order
from loomlab.report.comparisons import comparisons
from loomlab.report.folder import Experiment
from loomlab.report.opening import opening_of
from ordered import planned
from saying import figures
from test_summary import run as run_record

NAMES = ("tomcat-virtual", "tomcat-platform")
LOAD = Load("", (Target("/capabilities"),), 2000, Closed(120_000, 60), 30)


def made(approach: str, repeat: int = 1, p50: float | None = 905, **changes: Any) -> Run:
    """At 2,000 connections, with three calls of 300 ms."""
    told = {
        "load": LOAD,
        "concurrency": 2000,
        "latency_ms": Latency(min=p50, p50=p50),
        "repeat": repeat,
        "approach": approach,
        "run": f"{2 * repeat + NAMES.index(approach)}-{approach}",
    }
    return run_record(1, **(told | changes))


def experiment(
    runs: list[Run], kind: Kind | None = "controlled", order: Order | None = None, **told: Any
) -> Experiment:
    contrasts = [] if kind is None else [Contrast(a=NAMES[0], b=NAMES[1], kind=kind, differs=[])]
    summary = Summary(
        experiment="sweep", started=None, finished="then", notes=[], environment={}, contrasts=contrasts, runs=runs
    )
    return Experiment("mine", summary.model_copy(update=told), order, loads_of(runs))


def said(found: Experiment) -> list[str]:
    opening = opening_of(found)
    return [*opening.answers, *opening.more]


def blocks(count: int, **changes: Any) -> list[Run]:
    return [made(name, repeat, **changes) for repeat in range(1, count + 1) for name in NAMES]


def compared_in(found: Experiment, *figures: Figure) -> list[str]:
    return [held.sentence for figure in figures for held in comparisons(found, figure, math.inf)]


def causes(found: Experiment) -> list[str]:
    """What is said to set the throughput."""
    return [one for one in said(found) if "throughput" in one and one not in compared_in(found, THROUGHPUT)]


@pytest.mark.parametrize("kind", ["stack", "unknown", None])
def test_without_a_controlled_contrast_it_says_whether_there_is_none_or_none_is_known(kind: Kind | None) -> None:
    found = experiment(blocks(3), kind)
    answers = opening_of(found).answers

    assert sum("differ" in one for one in answers) == 1
    assert "differ" in answers[-1]
    assert (answers[-1:] == unknown_notes(found.summary.contrasts)) is (kind == "unknown")


def test_the_only_contrast_is_told_even_if_it_is_of_stacks() -> None:
    found = experiment(blocks(3, cpu_ms_per_request=0.4), "stack")

    assert set(compared_in(found, CPU)) <= set(opening_of(found).more)


def test_what_is_not_known_stands_beside_what_is() -> None:
    both = [Contrast(a="tomcat-virtual", b=other, kind="unknown", differs=[]) for other in ("a", "b")]
    known = experiment(blocks(3))

    found = opening_of(experiment(blocks(3), contrasts=[*known.summary.contrasts, *both]))

    assert len(found.answers) == 1
    assert set(unknown_notes(both)) <= set(found.more)


@pytest.mark.parametrize(
    ("delay", "endpoint", "p50", "waits"),
    [
        ("300", "/capabilities", 905, True),
        ("300", "/capabilities", 1100, True),
        ("300", "/capabilities", 1130, False),
        ("0", "/capabilities", 5, False),
        ("0", "/httpbin/block/0.3", 305, True),
        ("0", "/epoch-millis?delayInMillis=300", 303, True),
        ("0", "/epoch-millis", 2, False),
        ("uniform:200:400", "/capabilities", 905, True),
        ("lognormal:300:900", "/capabilities", 980, True),
        ("300", "/capabilities", None, False),
        ("soon", "/capabilities", 905, False),
    ],
)
def test_the_delays_set_the_throughput_where_there_are_delays(
    delay: str, endpoint: str, p50: float | None, waits: bool
) -> None:
    load = replace(LOAD, targets=(Target(endpoint),))
    runs = [one.model_copy(update={"load": load}) for one in blocks(1, p50=p50, delay=delay, endpoint=endpoint)]

    assert bool(causes(experiment(runs))) is waits


THROUGHPUTS = st.lists(st.floats(900, 1000), min_size=2, max_size=6)


@given(THROUGHPUTS, THROUGHPUTS)
def test_mean_throughputs_differ_by_what_is_said_at_most(a: list[float], b: list[float]) -> None:
    runs = [made(NAMES[0], repeat, throughput_rps=value) for repeat, value in enumerate(a, 1)]
    runs += [made(NAMES[1], repeat, throughput_rps=value) for repeat, value in enumerate(b, 1)]
    centres = [math.exp(math.fsum(map(math.log, values)) / len(values)) for values in (a, b)]
    apart = max(centres) / min(centres) - 1
    found = causes(experiment(runs, None))

    assert bool(found) == (apart <= 0.05) or math.isclose(apart, 0.05)
    if found:
        (within,) = (float(number) for number in figures(found[0]) - {"2,000"})
        assert apart <= within / 100 + 1e-9
        assert within <= max(100 * apart + 0.1, 0.1) + 1e-6


def slower(loads: Sequence[Load]) -> list[Run]:
    """Five blocks at each load; at the first virtual threads answer 4 % fewer requests, 5 % later."""
    factors = (0.962, 0.968, 0.956, 0.955, 0.972)
    runs = []
    for (cell, load), (repeat, factor), name in itertools.product(enumerate(loads, 1), enumerate(factors, 1), NAMES):
        told: dict[str, Any] = {"load": load, "cell": cell, "run": f"{cell}-{repeat}-{name}", "throughput_rps": 2150.0}
        if (cell, name) == (1, NAMES[0]):
            told |= {"throughput_rps": 2150 * factor, "p50": 912 / factor}
        runs.append(made(name, repeat, **told))
    return runs


@pytest.mark.parametrize("kind", ["controlled", "stack"])
def test_a_throughput_whose_interval_excludes_equality_has_that_in_place_of_a_cause(kind: Kind) -> None:
    loads = [LOAD, replace(LOAD, connections=5000)]
    found = experiment(slower(loads), kind)
    lower, later, cause = (one for one in opening_of(found).more if "throughput" in one or "p50" in one)

    assert [lower, later] == [one for one in compared_in(found, THROUGHPUT, P50) if "2,000" in one]
    assert {"4", "95", "3", "5"} <= figures(lower)
    assert {"5", "95", "4", "6"} <= figures(later)
    assert [cause] == causes(found)
    assert figures(cause) == {"5,000", "0.1"}


@pytest.mark.parametrize(("share", "told"), [(0.003, False), (0.009, False), (0.011, True)])
def test_an_interval_that_excludes_equality_by_little_leaves_the_cause(share: float, told: bool) -> None:
    runs = [
        made(name, repeat, throughput_rps=2150 * (1 - share * (name == NAMES[0]) + repeat * 1e-5))
        for repeat in range(1, 6)
        for name in NAMES
    ]
    found = experiment(runs)
    about = [one for one in said(found) if "throughput" in one]

    assert len(about) == 1
    assert (about == causes(found)) is not told


def test_an_offered_rate_keeps_its_cause() -> None:
    runs = [one.model_copy(update={"load": replace(LOAD, shape=rate(100))}) for one in slower([LOAD])]

    found = experiment(runs)

    (cause,) = causes(found)
    assert figures(cause) == {"100", "3.9"}
    assert [one for one in said(found) if "throughput" in one] == [cause]


@pytest.mark.parametrize("others", [0, 6], ids=["few stacks", "more than are shown"])
def test_a_stack_that_is_apart_leaves_no_cause_and_is_not_told_beside_the_controlled(others: int) -> None:
    third = [one.model_copy(update={"approach": "jetty-virtual"}) for one in slower([LOAD]) if one.approach == NAMES[0]]
    third = [one.model_copy(update={"run": f"{one.run}-third"}) for one in third]
    stacks = [Contrast(a=NAMES[0], b="jetty-virtual", kind="stack", differs=[])]
    stacks += [Contrast(a="jetty-virtual", b=f"other-{place}", kind="stack", differs=[]) for place in range(others)]
    runs = blocks(5, throughput_rps=2150.0)
    contrasts = [*experiment(runs).summary.contrasts, *stacks]

    about = [one for one in said(experiment([*runs, *third], contrasts=contrasts)) if "throughput" in one]

    assert about == []
    assert causes(experiment(runs))


def test_a_throughput_that_differs_by_chance_keeps_its_cause_and_its_latency_is_no_news() -> None:
    factors = (0.98, 1.02, 0.99, 1.01, 1.0)
    runs = [made(NAMES[0], repeat, throughput_rps=2150 * one) for repeat, one in enumerate(factors, 1)]
    runs += [made(NAMES[1], repeat, p50=900, throughput_rps=2150.0) for repeat in range(1, 6)]

    found = experiment(runs)

    (cause,) = causes(found)
    assert figures(cause) == {"2,000", "0.1"}
    assert [one for one in said(found) if "throughput" in one or "p50" in one] == [cause]


@given(st.lists(st.floats(0.8, 1.25), min_size=3, max_size=6))
def test_a_cause_is_told_where_no_interval_of_throughputs_excludes_equality(factors: list[float]) -> None:
    runs = [made(NAMES[0], repeat, throughput_rps=950 * one) for repeat, one in enumerate(factors, 1)]
    runs += [made(NAMES[1], repeat, throughput_rps=950.0) for repeat in range(1, len(factors) + 1)]
    found = experiment(runs)
    (held,) = comparisons(found, THROUGHPUT)
    about = [one for one in said(found) if "throughput" in one]

    assert held.found.interval is not None
    assert held.found.effect is not None
    if not held.found.apart or abs(math.log(held.found.effect)) < math.log(1.01):
        assert held.sentence not in about
    else:
        assert about == [held.sentence]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6), st.data())
def test_an_approach_alone_has_its_mean_and_its_range(costs: list[float], data: st.DataObject) -> None:
    verdicts = [data.draw(st.sampled_from(["valid", "suspect", "invalid"])) for _ in costs]
    runs = [
        made(NAMES[0], repeat, cpu_ms_per_request=cost, verdict=verdict)
        for repeat, (cost, verdict) in enumerate(zip(costs, verdicts, strict=True), 1)
    ]
    counted = [cost for cost, verdict in zip(costs, verdicts, strict=True) if verdict != "invalid"]
    answers = opening_of(experiment(runs, None)).answers

    if not counted:
        assert answers
        assert not any("CPU" in one for one in answers)
        return
    (only,) = answers
    mean = math.exp(math.fsum(map(math.log, counted)) / len(counted))
    span = {number(min(counted)), number(max(counted)), str(len(counted))} if len(counted) > 1 else set()
    assert span <= figures(only)
    assert any(math.isclose(float(one.replace(",", "")), mean, rel_tol=0.01) for one in figures(only))


@pytest.mark.parametrize("made_repeats", range(1, 7))
def test_repeats_that_give_better_intervals_are_told_until_there_are_five(made_repeats: int) -> None:
    told = [one for one in said(experiment(blocks(made_repeats))) if "REPEATS" in one or "RESUME" in one]

    assert ["REPEATS=5" in one for one in told] == [True] * (made_repeats < 5)


@pytest.mark.parametrize(
    ("repeats", "spoilt", "counted", "cure"),
    [
        (5, 0, None, None),
        (8, 3, None, None),
        (5, 1, 4, 6),
        (5, 3, 2, 8),
        (5, 4, 1, 9),
        (3, 1, 2, 6),
        (100, 96, 4, 100),
    ],
)
def test_repeats_make_up_for_the_blocks_that_do_not_count(
    repeats: int, spoilt: int, counted: int | None, cure: int | None
) -> None:
    runs = [
        one.model_copy(update={"verdict": "invalid"}) if one.approach == NAMES[0] and one.repeat <= spoilt else one
        for one in blocks(repeats)
    ]

    told = [one for one in said(experiment(runs)) if "REPEATS" in one]
    assert [{str(counted), str(repeats), str(cure)} <= figures(one) for one in told] == [True] * (cure is not None)
    assert all(f"REPEATS={cure}" in one for one in told)


def test_a_contrast_whose_blocks_all_lack_a_figure_that_was_measured_is_told_not_to_be_compared() -> None:
    nothing = {"live_bytes_per_request": LiveBytes(), "latency_ms": Latency(min=905, p50=905)}
    tail = {"latency_ms": Latency(min=905, p50=905, p99=950)}
    runs = [one.model_copy(update=nothing if one.approach == NAMES[0] else tail) for one in blocks(3)]

    more = opening_of(experiment(runs)).more

    assert [one for one in more if one.startswith("Not compared")] == compared_in(experiment(runs), P99, WAITING)
    unmeasured = opening_of(experiment([one.model_copy(update=nothing) for one in runs])).more
    assert not any(one.startswith("Not compared") for one in unmeasured)


def test_an_interrupted_experiment_is_told_to_go_on_and_not_to_have_more_repeats(tmp_path: Path) -> None:
    order = planned(tmp_path, verb="sweep", connections=(2000,), repeats=5, approaches=list(NAMES))
    missing = [run.run for run in order.runs[4:]]

    told = said(experiment(blocks(2), order=order, missing=missing, finished=None))

    (cure,) = (one for one in told if "REPEATS" in one or "RESUME" in one)
    assert "make finish RESUME=mine" in cure


def rate(rps: float) -> Shape:
    return OpenRate((RateStep(rps, 60),))


def test_an_offered_rate_sets_the_throughput() -> None:
    load = replace(LOAD, shape=rate(100))
    runs = [one.model_copy(update={"load": load}) for one in blocks(1, delay="0", p50=5)]

    (cause,) = causes(experiment(runs))
    assert figures(cause) == {"100", "0.1"}


def test_users_who_pause_are_no_delay() -> None:
    load = replace(LOAD, shape=Users((UserStage(2000, 60),), think_s=(1.0, 3.0)))
    runs = [one.model_copy(update={"load": load}) for one in blocks(1)]

    assert not any("throughput" in one for one in said(experiment(runs)))


def test_throughput_is_that_of_two_approaches_at_least_and_of_runs_that_count() -> None:
    spoilt = made(NAMES[0], 3, p50=5, throughput_rps=9_000.0, verdict="invalid")
    third = made(NAMES[1], 2).model_copy(update={"approach": "jetty-virtual", "run": "9-jetty-virtual"})
    one_left = [made(NAMES[0], verdict="invalid"), made(NAMES[1]), third]

    (cause,) = causes(experiment([*blocks(2), spoilt]))
    assert figures(cause) == {"2,000", "0.1"}
    assert not any("throughput" in one for one in said(experiment([made(NAMES[0])], None)))
    assert not any("throughput" in one for one in said(experiment(one_left)))


def test_an_approach_without_a_run_that_counts_is_told_at_its_load() -> None:
    other: dict[str, Any] = {"load": replace(LOAD, connections=500), "concurrency": 500, "cell": 2}
    runs = [made(NAMES[0], 1), made(NAMES[0], 2, verdict="invalid", **other)]

    assert sum({"500"} == figures(one) for one in opening_of(experiment(runs, None)).answers) == 1


HEAPS = {"tomcat-virtual": (17, 19, 16, 18, 20), "tomcat-platform": (78, 80, 79, 77, 81)}


def holding(heaps: Mapping[str, tuple[int, ...]]) -> Experiment:
    return experiment(
        [
            made(name, repeat, live_bytes_per_request=LiveBytes(heap=1024 * kib, stacks_off_heap=0, kernel=0))
            for name, own in heaps.items()
            for repeat, kib in enumerate(own, 1)
        ]
    )


def test_what_a_waiting_request_holds_is_compared_by_its_difference() -> None:
    (held,) = compared_in(holding(HEAPS), WAITING)

    assert held in opening_of(holding(HEAPS)).more
    assert {"61", "59", "63", "5"} <= figures(held)


def test_a_negative_figure_stays_and_counts() -> None:
    found = holding({"tomcat-virtual": (-2, 1, 1), "tomcat-platform": (60, 63, 63)})

    (held,) = compared_in(found, WAITING)
    assert held in opening_of(found).more
    assert {"62", "3"} <= figures(held)


def test_what_the_opening_says_beside_comparisons_is_approved(snapshot: SnapshotAssertion) -> None:
    rated = replace(LOAD, shape=rate(100))
    spoilt = [
        [one.model_copy(update={"verdict": "invalid"}) if one.approach == NAMES[0] and one.repeat <= bad else one
         for one in blocks(repeats)]
        for repeats, bad in ((5, 1), (5, 4), (100, 96))
    ]  # fmt: skip
    examples = [
        experiment(blocks(3), "stack"),
        experiment(blocks(3), None),
        experiment([], None),
        experiment([made(NAMES[0])], None),
        experiment([made(NAMES[0], repeat, cpu_ms_per_request=repeat / 4) for repeat in (1, 2, 3)], None),
        experiment([made(NAMES[0], verdict="invalid")], None),
        experiment(blocks(1)),
        experiment(blocks(2)),
        experiment([one.model_copy(update={"load": rated}) for one in blocks(5)]),
        experiment(blocks(5, throughput_rps=2150.0)),
        *map(experiment, spoilt),
        experiment(blocks(2), missing=["5-tomcat-virtual"], finished=None),
    ]
    texts = (one for found in examples for one in said(found) if one not in compared_in(found, CPU, P99, WAITING, P50))

    assert "\n".join(dict.fromkeys(texts)) == snapshot
