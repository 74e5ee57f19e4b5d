"""How claims are answered: by intervals, and only from runs that are a test of them."""

from typing import Any

import pytest
from pydantic import ValidationError

from loomlab.published.answers import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, UNTESTED, answers_of
from loomlab.published.runs import PublishedRun
from published import FAST, RATIO, SLOW, VALUE, answered, blocks, run, small


def queueing(runs: list[PublishedRun], mean_ms: float) -> list[PublishedRun]:
    return [one.model_copy(update={"figures": one.figures | {"latency_ms.mean": mean_ms}}) for one in runs]


def test_a_claim_whose_whole_interval_is_within_its_limits_is_reproduced() -> None:
    answer = answered(blocks(FAST, SLOW))

    (part,) = answer.parts
    assert answer.outcome == REPRODUCED
    assert part.centre == pytest.approx(1.1, rel=2e-3)
    assert (part.blocks, part.level, part.amount) == (3, 100, 50)
    assert part.low is not None and part.high is not None
    assert 1 < part.low < 1.1 < part.high


def test_with_the_sides_swapped_the_opposite_is_found() -> None:
    assert answered(blocks(SLOW, FAST)).outcome == NOT_REPRODUCED


def test_an_interval_that_reaches_a_limit_decides_nothing() -> None:
    assert answered(blocks([1300, 900, 1050], [1000, 1000, 1000])).outcome == INCONCLUSIVE


@pytest.mark.parametrize(("count", "outcome"), [(0, UNTESTED), (2, INCONCLUSIVE), (3, REPRODUCED)])
def test_an_interval_takes_three_blocks(count: int, outcome: str) -> None:
    runs = [one for one in blocks(FAST, SLOW) if one.repeat < count or one.approach == "tomcat-platform"]

    assert answered(runs).outcome == outcome


def test_ratios_are_of_runs_of_one_block() -> None:
    runs = blocks([2000, 4000, 8000], [1000, 2000, 4000])
    moved = [*runs[:3], *(one.model_copy(update={"experiment": "20260102T000000Z-soak"}) for one in runs[3:])]

    (part,) = answered(runs).parts
    assert (part.low, part.centre, part.high) == pytest.approx((2, 2, 2))
    assert answered(moved).outcome == UNTESTED


def test_runs_at_another_scale_than_the_newest_are_no_repeats() -> None:
    old = blocks([1.0] * 3, [1000.0] * 3, amount=10, experiment="20250101T000000Z-soak")

    (part,) = answered([*old, *blocks(FAST, SLOW)]).parts
    assert (part.blocks, part.centre) == (3, pytest.approx(1.1, rel=2e-3))


def test_an_invalid_run_counts_only_where_the_claim_does_without_what_failed() -> None:
    runs = [one.model_copy(update={"verdict": "invalid", "failed": "latency_grew_much"}) for one in blocks(FAST, SLOW)]

    assert answered(runs).outcome == UNTESTED
    assert "latency_grew_much" in answered(runs).parts[0].why
    assert answered(runs, RATIO | {"despite": ["latency_grew_much"]}).outcome == REPRODUCED
    assert answered(runs, RATIO | {"despite": ["backend_cpus"]}).outcome == UNTESTED


def test_a_claim_is_reproduced_as_a_whole() -> None:
    high = blocks(SLOW, FAST, level=200)
    claim = RATIO | {"levels": [100, 200]}

    assert answered([*blocks(FAST, SLOW), *high], claim).outcome == NOT_REPRODUCED
    assert answered(blocks(FAST, SLOW), claim).outcome == UNTESTED
    assert [part.level for part in answered([*blocks(FAST, SLOW), *high], RATIO | {"levels": []}).parts] == [100, 200]


def test_two_jdks_are_compared_first_by_first() -> None:
    sides = {"of": {"approach": "tomcat-virtual", "jdk": 21}, "to": {"approach": "tomcat-virtual", "jdk": 25}}
    claim = RATIO | sides | {"below": 0.5, "above": None, "scenarios": [], "tool": "ab", "endpoint": "/pinned"}
    runs = [
        run("tomcat-virtual", repeat, value, jdk=jdk, load=f"ab /pinned jdk{jdk}", experiment=f"2026010{jdk % 7}")
        for jdk, value in ((21, 10.0), (25, 1000.0))
        for repeat in range(3)
    ]

    (part,) = answered(runs, claim).parts
    assert (part.outcome, part.centre) == (REPRODUCED, pytest.approx(0.01))


def test_growth_is_for_each_connection_that_was_run() -> None:
    claim = VALUE | {"levels": [100, 200], "figures": ["vsz_max_bytes"], "grows": True, "above": 9, "below": 11}
    runs = [
        run("tomcat-virtual", repeat, 1, level=level, amount=level / 2, figures={"vsz_max_bytes": 10 * level / 2})
        for level in (100, 200)
        for repeat in range(3)
    ]

    (part,) = answered(runs, claim).parts
    assert (part.outcome, part.centre) == (REPRODUCED, pytest.approx(10))


@pytest.mark.parametrize(
    ("values", "outcome"),
    [([0.02, 0.05, 0.30], REPRODUCED), ([0, 0, 0], NOT_REPRODUCED), ([0, 0.05, 0.30], INCONCLUSIVE)],
)
def test_counts_that_are_0_or_not_are_held_against_the_limit_by_block(values: list[float], outcome: str) -> None:
    (part,) = answered(blocks(values, []), VALUE | {"above": 0, "in_every_block": True}).parts

    assert (part.outcome, part.low, part.high) == (outcome, min(values), max(values))


@pytest.mark.parametrize(
    ("condition", "fields", "outcome"),
    [
        ({"unscaled": True}, {"amount": 100}, REPRODUCED),
        ({"unscaled": True}, {}, UNTESTED),
        ({"lasts_s": 60}, {}, REPRODUCED),
        ({"lasts_s": 30}, {}, UNTESTED),
        ({"per_cpu": True}, {"cpus": 2}, REPRODUCED),
        ({"per_cpu": True}, {"cpus": 4}, UNTESTED),
    ],
)
def test_only_a_run_of_that_load_and_length_is_a_test(
    condition: dict[str, Any], fields: dict[str, Any], outcome: str
) -> None:
    runs = blocks(SLOW, [], **fields)

    assert answered(runs, VALUE | {"below": 1200} | condition, cpus=4).outcome == outcome


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        (VALUE | {"below": 1300}, REPRODUCED),
        (VALUE | {"below": 500}, UNTESTED),
        (RATIO | {"above": 0.9, "below": 1.01}, UNTESTED),
        (RATIO | {"above": None, "below": 1}, NOT_REPRODUCED),
    ],
)
def test_that_a_limit_is_kept_is_not_refuted_at_more_load_but_an_order_is(claim: dict[str, Any], outcome: str) -> None:
    runs = blocks([1200, 1210, 1190], SLOW)

    assert answered(runs, claim | {"per_cpu": True}, cpus=8).outcome == outcome


@pytest.mark.parametrize(("mean_ms", "tested"), [(910, False), (1800, True)])
def test_a_claim_about_load_is_tested_only_where_requests_queue(mean_ms: float, tested: bool) -> None:
    for runs, outcome in ((blocks(FAST, SLOW), REPRODUCED), (blocks(SLOW, FAST), NOT_REPRODUCED)):
        answer = answered(queueing(runs, mean_ms))
        assert answer.outcome == (outcome if tested else UNTESTED)
        assert answer.parts[0].centre is not None
        assert answered(queueing(runs, mean_ms), RATIO | {"queues": False}).outcome == outcome


def test_under_overload_the_shortest_request_of_a_run_has_queued_too() -> None:
    loaded = blocks(FAST, SLOW, figures={"latency_ms.min": 1600})
    idle = blocks([500], [500], level=50)

    assert answered(loaded).outcome == UNTESTED
    assert answered([*loaded, *idle]).outcome == REPRODUCED


@pytest.mark.parametrize(("timed_out", "outcome"), [(7, UNTESTED), (20_000, REPRODUCED)])
def test_requests_that_timed_out_have_queued_if_they_are_more_than_a_stray_one(timed_out: int, outcome: str) -> None:
    assert answered(queueing(blocks(FAST, SLOW, figures={"time_outs": timed_out}), 910)).outcome == outcome


def test_a_claim_that_cannot_be_tested_says_why() -> None:
    answer = answered([], {"says": "It is so.", "untestable": "It takes a second machine."})

    assert (answer.outcome, answer.parts, answer.deciding) == (UNTESTED, [], None)


@pytest.mark.parametrize("lacks", ["figures", "scenarios", "of", "above"])
def test_a_claim_needs_all_that_decides_it(lacks: str) -> None:
    with pytest.raises(ValidationError):
        small({name: value for name, value in RATIO.items() if name != lacks})


def test_each_claim_has_an_answer_in_the_papers_order() -> None:
    answers = answers_of(small(RATIO, VALUE | {"below": 1200}), blocks(FAST, SLOW))

    assert [answer.outcome for answer in answers] == [REPRODUCED, INCONCLUSIVE]
