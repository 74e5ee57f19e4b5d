"""What the page begins with says what its figures say."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.answer.loads import loads_of
from loomlab.records.contrasts import Contrast, Kind
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency, Run, Summary
from loomlab.records.order import Order
from loomlab.report.comparisons import comparisons
from loomlab.report.figures import THROUGHPUT, number
from loomlab.report.folder import Experiment
from loomlab.report.opening import opening_of
from ordered import planned
from test_summary import run as run_record

NAMES = ("tomcat-virtual", "tomcat-platform")
LOAD = Load("", (Target("/capabilities"),), 2000, Closed(120_000, 60), 30)
UNKNOWN = (
    "How tomcat-virtual and tomcat-platform differ is not known: raw/about.json is incomplete, or reports two "
    "concurrency models for one approach."
)


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


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (
            "stack",
            "No two of these approaches differ in the concurrency model alone: no difference is due to it alone.",
        ),
        ("unknown", UNKNOWN),
        (
            None,
            "How these approaches differ is not known, because summary.json does not say; run loomlab summarise on the "
            "experiment's folder.",
        ),
    ],
)
def test_without_a_controlled_contrast_it_says_whether_there_is_none_or_none_is_known(
    kind: Kind | None, sentence: str
) -> None:
    answers = opening_of(experiment(blocks(3), kind)).answers

    assert answers[-1] == sentence
    assert sum("differ" in one for one in answers) == 1


def test_the_only_contrast_is_told_even_if_it_is_of_stacks() -> None:
    found = opening_of(experiment(blocks(3, cpu_ms_per_request=0.4), "stack"))

    assert any(
        one.startswith("Exploratory: at 2,000 connections tomcat-virtual needs the same CPU") for one in found.more
    )


def test_what_is_not_known_stands_beside_what_is() -> None:
    both = [Contrast(a="tomcat-virtual", b=other, kind="unknown", differs=[]) for other in ("a", "b")]
    known = experiment(blocks(3))

    found = opening_of(experiment(blocks(3), contrasts=[*known.summary.contrasts, *both]))

    assert len(found.answers) == 1
    assert sum("How tomcat-virtual and a; tomcat-virtual and b differ is not known" in one for one in found.more) == 1


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

    assert any(one.endswith(": mostly the delays set them.") for one in said(experiment(runs))) is waits


THROUGHPUTS = st.lists(st.floats(900, 1000), min_size=2, max_size=6)
APART = re.compile(r"At 2,000 connections mean throughputs differ by ([\d.]+) % at most: mostly the delays set them\.")


@given(THROUGHPUTS, THROUGHPUTS)
def test_mean_throughputs_differ_by_what_is_said_at_most(a: list[float], b: list[float]) -> None:
    runs = [made(NAMES[0], repeat, throughput_rps=value) for repeat, value in enumerate(a, 1)]
    runs += [made(NAMES[1], repeat, throughput_rps=value) for repeat, value in enumerate(b, 1)]
    centres = [math.exp(math.fsum(map(math.log, values)) / len(values)) for values in (a, b)]
    apart = max(centres) / min(centres) - 1
    found = [match for one in said(experiment(runs, None)) if (match := APART.fullmatch(one))]

    assert bool(found) == (apart <= 0.05) or math.isclose(apart, 0.05)
    if found:
        within = float(found[0][1])
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


LOWER = (
    "Exploratory: at 2,000 connections tomcat-virtual has 4 % lower throughput than tomcat-platform (95 % interval 3 "
    "to 5 % lower, 5 blocks)."
)
LATER = (
    "Exploratory: at 2,000 connections tomcat-virtual has 5 % higher p50 latency than tomcat-platform (95 % interval 4 "
    "to 6 % higher, 5 blocks)."
)


@pytest.mark.parametrize("kind", ["controlled", "stack"])
def test_a_throughput_whose_interval_excludes_equality_has_that_in_place_of_a_cause(kind: Kind) -> None:
    loads = [LOAD, replace(LOAD, connections=5000)]
    about = [one for one in opening_of(experiment(slower(loads), kind)).more if "throughput" in one or "p50" in one]

    assert about == [
        LOWER,
        LATER,
        "At 5,000 connections mean throughputs differ by 0.1 % at most: mostly the delays set them.",
    ]


@pytest.mark.parametrize(("share", "told"), [(0.003, False), (0.009, False), (0.011, True)])
def test_an_interval_that_excludes_equality_by_little_leaves_the_cause(share: float, told: bool) -> None:
    runs = [
        made(name, repeat, throughput_rps=2150 * (1 - share * (name == NAMES[0]) + repeat * 1e-5))
        for repeat in range(1, 6)
        for name in NAMES
    ]
    about = [one for one in said(experiment(runs)) if "throughput" in one]

    assert len(about) == 1
    assert about[0].endswith(": mostly the delays set them.") is not told


def test_an_offered_rate_keeps_its_cause() -> None:
    runs = [one.model_copy(update={"load": replace(LOAD, shape=rate(100))}) for one in slower([LOAD])]

    about = [one for one in said(experiment(runs)) if "throughput" in one]

    assert about == ["At 100 requests/s mean throughputs differ by 3.9 % at most: the offered rate sets them."]


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
    assert any("mostly the delays set them" in one for one in said(experiment(runs)))


def test_a_throughput_that_differs_by_chance_keeps_its_cause_and_its_latency_is_no_news() -> None:
    factors = (0.98, 1.02, 0.99, 1.01, 1.0)
    runs = [made(NAMES[0], repeat, throughput_rps=2150 * one) for repeat, one in enumerate(factors, 1)]
    runs += [made(NAMES[1], repeat, p50=900, throughput_rps=2150.0) for repeat in range(1, 6)]

    about = [one for one in said(experiment(runs)) if "throughput" in one or "p50" in one]

    assert about == ["At 2,000 connections mean throughputs differ by 0.1 % at most: mostly the delays set them."]


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
        assert not any("% lower throughput" in one or "% higher throughput" in one for one in about)
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
        assert answers[-1] == "Every run is invalid, so no figure counts: see what to doubt."
        assert not any("ms of CPU" in one for one in answers)
        return
    (only,) = answers
    mean = math.exp(math.fsum(map(math.log, counted)) / len(counted))
    span = f", {number(min(counted))} to {number(max(counted))}" if len(counted) > 1 else ""
    many = "one run" if len(counted) == 1 else f"{len(counted)} runs"
    assert only == (
        f"At 2,000 connections tomcat-virtual needs {number(mean)} ms of CPU per request ({many}{span})."
    ) or math.isclose(float(only.split()[5].replace(",", "")), mean, rel_tol=0.01)


@pytest.mark.parametrize("made_repeats", range(1, 7))
def test_repeats_that_give_better_intervals_are_told_until_there_are_five(made_repeats: int) -> None:
    times = {1: "once", 2: "twice"}.get(made_repeats, f"{made_repeats} times")
    told = [one for one in said(experiment(blocks(made_repeats))) if "REPEATS" in one or "RESUME" in one]

    cure = f"Each approach was measured {times} per load; REPEATS=5 gives intervals that are not coarse."
    assert told == ([cure] if made_repeats < 5 else [])


@pytest.mark.parametrize(
    ("repeats", "spoilt", "cure"),
    [
        (5, 0, None),
        (8, 3, None),
        (5, 1, "In one comparison only 4 of 5 blocks count; REPEATS=6 leaves 5 even if as many are left out again."),
        (5, 3, "In one comparison only 2 of 5 blocks count; REPEATS=8 leaves 5 even if as many are left out again."),
        (5, 4, "In one comparison only 1 of 5 blocks counts; REPEATS=9 leaves 5 even if as many are left out again."),
        (3, 1, "In one comparison only 2 of 3 blocks count; REPEATS=6 leaves 5 even if as many are left out again."),
        (
            100,
            96,
            "In one comparison only 4 of 100 blocks count; REPEATS=100 is the most, so first remedy what spoilt the "
            "others: see what to doubt.",
        ),
    ],
)
def test_repeats_make_up_for_the_blocks_that_do_not_count(repeats: int, spoilt: int, cure: str | None) -> None:
    runs = [
        one.model_copy(update={"verdict": "invalid"}) if one.approach == NAMES[0] and one.repeat <= spoilt else one
        for one in blocks(repeats)
    ]

    assert [one for one in said(experiment(runs)) if "REPEATS" in one] == ([cure] if cure else [])


def test_a_contrast_whose_blocks_all_lack_a_figure_that_was_measured_is_told_not_to_be_compared() -> None:
    nothing = {"live_bytes_per_request": LiveBytes(), "latency_ms": Latency(min=905, p50=905)}
    tail = {"latency_ms": Latency(min=905, p50=905, p99=950)}
    runs = [one.model_copy(update=nothing if one.approach == NAMES[0] else tail) for one in blocks(3)]

    more = opening_of(experiment(runs)).more

    for figure in ("p99 latency", "memory held by a waiting request"):
        assert (
            f"Not compared at 2,000 connections: no block has the {figure} of both tomcat-virtual and tomcat-platform; "
            "the blocks left out say why."
        ) in more
    unmeasured = opening_of(experiment([one.model_copy(update=nothing) for one in runs])).more
    assert not any(one.startswith("Not compared") for one in unmeasured)


def test_an_interrupted_experiment_is_told_to_go_on_and_not_to_have_more_repeats(tmp_path: Path) -> None:
    order = planned(tmp_path, verb="sweep", connections=(2000,), repeats=5, approaches=list(NAMES))
    missing = [run.run for run in order.runs[4:]]

    told = said(experiment(blocks(2), order=order, missing=missing, finished=None))

    assert [one for one in told if "REPEATS" in one or "RESUME" in one] == [
        "Figures are of the runs that were made; make finish RESUME=mine makes the rest."
    ]


def rate(rps: float) -> Shape:
    return OpenRate((RateStep(rps, 60),))


def test_an_offered_rate_sets_the_throughput() -> None:
    load = replace(LOAD, shape=rate(100))
    runs = [one.model_copy(update={"load": load}) for one in blocks(1, delay="0", p50=5)]

    assert "At 100 requests/s mean throughputs differ by 0.1 % at most: the offered rate sets them." in said(
        experiment(runs)
    )


def test_users_who_pause_are_no_delay() -> None:
    load = replace(LOAD, shape=Users((UserStage(2000, 60),), think_s=(1.0, 3.0)))
    runs = [one.model_copy(update={"load": load}) for one in blocks(1)]

    assert not any("throughput" in one for one in said(experiment(runs)))


def test_throughput_is_that_of_two_approaches_at_least_and_of_runs_that_count() -> None:
    spoilt = made(NAMES[0], 3, p50=5, throughput_rps=9_000.0, verdict="invalid")
    third = made(NAMES[1], 2).model_copy(update={"approach": "jetty-virtual", "run": "9-jetty-virtual"})
    one_left = [made(NAMES[0], verdict="invalid"), made(NAMES[1]), third]

    assert any("differ by 0.1 % at most: mostly the delays" in one for one in said(experiment([*blocks(2), spoilt])))
    assert not any("throughput" in one for one in said(experiment([made(NAMES[0])], None)))
    assert not any("throughput" in one for one in said(experiment(one_left)))


def test_an_approach_without_a_run_that_counts_is_told_at_its_load() -> None:
    other: dict[str, Any] = {"load": replace(LOAD, connections=500), "concurrency": 500, "cell": 2}
    runs = [made(NAMES[0], 1), made(NAMES[0], 2, verdict="invalid", **other)]

    assert (
        "At 500 connections tomcat-virtual has no figure, because each of its runs is invalid: see what to doubt."
    ) in opening_of(experiment(runs, None)).answers


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
    assert (
        "Exploratory: at 2,000 connections a waiting request of tomcat-virtual holds 61 KiB less than one of "
        "tomcat-platform (95 % interval 59 to 63 KiB less, 5 blocks)."
    ) in opening_of(holding(HEAPS)).more


def test_a_negative_figure_stays_and_counts() -> None:
    found = holding({"tomcat-virtual": (-2, 1, 1), "tomcat-platform": (60, 63, 63)})

    assert any("holds 62 KiB less than" in one and "3 blocks)" in one for one in opening_of(found).more)
