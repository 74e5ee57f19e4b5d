"""How claims are answered: by intervals, and only from runs that are a test of them."""

from typing import Any

import pytest
from pydantic import ValidationError

from loomlab.published.answers import ClaimAnswer, answers_of
from loomlab.published.benchmark import Benchmark, Outcome, PublishedRun

SAYS: dict[str, Any] = {"says": "It is so.", "levels": [100], "figures": ["throughput_rps"], "of": ["tomcat-virtual"]}
RATIO, VALUE = SAYS | {"to": "tomcat-platform", "above": 1}, SAYS | {"below": 1200}
FAST, SLOW = [1100.0, 1210.0, 1090.0], [1000.0, 1100.0, 990.0]
REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, UNTESTED = Outcome
COUNT = VALUE | {"figures": ["time_outs"], "above": 0}
INVALID = {"verdict": "invalid", "failed": "latency_grew_much"}


def small(*claims: dict[str, Any], **fields: Any) -> Benchmark:
    """A benchmark of one scenario with these claims."""
    plain: dict[str, Any] = {
        "name": "small", "title": "Small", "author": None, "url": None, "year": 2026, "ran_on": "A machine.",
        "unit": "connections", "experiments": ["scenario NAME=soak"], "claims": claims, "figures": {}, "kept": [],
    }  # fmt: skip
    return Benchmark.model_validate(plain | fields)


def run(approach: str, repeat: int, value: float, **fields: Any) -> PublishedRun:
    """A run at half of the published load, where requests queue."""
    figures = {"throughput_rps": value, "time_outs": value, "latency_ms.mean": 1800, "latency_ms.min": 900}
    plain = {
        "experiment": "20260101T000000Z-soak", "load": "soak", "host": "EPYC", "cpus": 1, "approach": approach,
        "jdk": 25, "repeat": repeat, "level": 100, "amount": 50, "lasts_s": 60, "verdict": "valid", "failed": "",
    }  # fmt: skip
    return PublishedRun.model_validate(plain | fields | {"figures": figures | fields.get("figures", {})})


def blocks(virtual: list[float], platform: list[float], **fields: Any) -> list[PublishedRun]:
    """A run of each approach in each block."""
    sides = {"tomcat-virtual": virtual, "tomcat-platform": platform}
    return [run(name, repeat, value, **fields) for name, values in sides.items() for repeat, value in enumerate(values)]


def answered(runs: list[PublishedRun], claim: dict[str, Any] = RATIO, **fields: Any) -> ClaimAnswer:
    """The answer to the only claim of a benchmark."""
    (answer,) = answers_of(small(claim, **fields), runs)
    return answer


@pytest.mark.parametrize(
    ("claim", "virtual", "platform", "outcome"),
    [
        (RATIO, FAST, SLOW, REPRODUCED), (RATIO, SLOW, FAST, NOT_REPRODUCED),
        (RATIO, [1300, 900, 1050], [1000, 1000, 1000], INCONCLUSIVE), (RATIO, SLOW, SLOW, NOT_REPRODUCED),
        (RATIO, FAST[:2], SLOW, INCONCLUSIVE), (RATIO, [], SLOW, UNTESTED),
        (VALUE | {"below": 1310}, FAST, [], REPRODUCED), (VALUE | {"below": 1290}, FAST, [], INCONCLUSIVE),
        (VALUE | {"below": 960}, FAST, [], NOT_REPRODUCED),
        (VALUE | {"above": 980, "below": 1310}, FAST, [], INCONCLUSIVE), (COUNT, [1, 5, 300], [], REPRODUCED),
        (COUNT, [0, 5, 300], [], INCONCLUSIVE), (COUNT, [0, 0, 0], [], NOT_REPRODUCED),
    ],
)  # fmt: skip
def test_the_interval_decides(claim: dict[str, Any], virtual: Any, platform: Any, outcome: Outcome) -> None:
    assert answered(blocks(virtual, platform), claim).outcome == outcome


def test_the_interval_is_of_ratios_of_runs_of_one_block() -> None:
    (finding,) = answered(blocks(FAST, SLOW)).findings
    assert (finding.blocks, finding.level, finding.amount) == (3, 100, 50)
    assert (finding.low, finding.centre, finding.high) == pytest.approx((1.098889, 1.100337, 1.101786), abs=1e-6)

    later = blocks([], SLOW, experiment="20260102T000000Z-soak")
    assert answered([*blocks(FAST, []), *later]).outcome == UNTESTED


@pytest.mark.parametrize("other", [{"amount": 10}, {"host": "Xeon"}, {"cpus": 2}])
def test_runs_at_another_scale_or_place_than_the_newest_are_no_repeats(other: dict[str, Any]) -> None:
    old = blocks([1.0] * 3, [1000.0] * 3, experiment="20250101T000000Z-soak", **other)
    (finding,) = answered([*old, *blocks(FAST, SLOW)]).findings
    assert (finding.blocks, finding.outcome) == (3, REPRODUCED)


def test_a_claim_is_reproduced_as_a_whole() -> None:
    low, high = blocks(FAST, SLOW), blocks(SLOW, FAST, level=200)
    both, every = RATIO | {"levels": [100, 200]}, RATIO | {"levels": []}

    assert answered([*low, *high], both).outcome == NOT_REPRODUCED
    assert answered(low, both).outcome == UNTESTED
    assert [finding.level for finding in answered([*low, *high], every).findings] == [100, 200]
    assert answered(low, RATIO | {"loads": ["soak", "smoketest"]}).outcome == UNTESTED


def test_two_jdks_are_compared_first_by_first() -> None:
    claim = RATIO | {"of": ["tomcat-virtual on JDK 21"], "to": "tomcat-virtual on JDK 25", "loads": ["ab /pinned"]}
    pinned, free = (
        blocks([value] * 3, [], jdk=jdk, load="ab /pinned", experiment=f"202601{jdk}")
        for jdk, value in ((21, 1000.0), (25, 10.0))
    )

    (finding,) = answered([*pinned, *free], claim).findings
    assert finding.outcome == REPRODUCED
    assert finding.centre == pytest.approx(100)


def test_an_approach_is_compared_with_itself_at_another_load_by_ratio_or_by_growth() -> None:
    runs = [*blocks([900.0] * 3, [], level=100, amount=50), *blocks([1000.0] * 3, [], level=200, amount=100)]
    growth = VALUE | {"levels": [200], "from_level": 100, "below": 3}

    (grown,) = answered(runs, growth).findings
    assert (grown.outcome, grown.of, grown.centre) == (REPRODUCED, "tomcat-virtual", 2)
    (ratio,) = answered(runs, growth | {"to": "tomcat-virtual"}).findings
    assert ratio.of == "tomcat-virtual ÷ tomcat-virtual at 100"
    assert ratio.centre == pytest.approx(10 / 9)


@pytest.mark.parametrize(
    ("condition", "fields", "outcome"),
    [
        ({"unscaled": True}, {"amount": 100}, REPRODUCED), ({"unscaled": True}, {"amount": 50}, UNTESTED),
        ({"lasts_s": 60}, {}, REPRODUCED), ({"lasts_s": 30}, {}, UNTESTED),
        ({"per_cpu": True}, {"amount": 49.5, "cpus": 2}, REPRODUCED),
        ({"per_cpu": True}, {"amount": 49, "cpus": 2}, UNTESTED), ({"figures": ["latency_ms.p99"]}, {}, UNTESTED),
        ({}, INVALID, UNTESTED), ({"despite": ["latency_grew_much", "backend_cpus"]}, INVALID, REPRODUCED),
        ({"despite": ["backend_cpus"]}, INVALID, UNTESTED),
    ],
)  # fmt: skip
def test_only_what_is_a_test_counts(condition: dict[str, Any], fields: dict[str, Any], outcome: Outcome) -> None:
    (finding,) = answered(blocks(SLOW, [], **fields), VALUE | condition, cpus=4).findings
    assert finding.outcome == outcome
    assert finding.why.startswith("0 of the 3 blocks that an interval needs; ") == (outcome == UNTESTED)


@pytest.mark.parametrize(
    ("failed", "value", "outcome"),
    [
        ("errors", 10.0, INCONCLUSIVE), ("errors", 1000.0, REPRODUCED), ("much_foreign_cpu", 10.0, REPRODUCED),
        ("errors much_foreign_cpu", 10.0, REPRODUCED),
    ],
)  # fmt: skip
def test_runs_that_are_invalid_by_themselves_choose_no_answer(failed: str, value: float, outcome: Outcome) -> None:
    left_out = run("tomcat-virtual", 7, value, verdict="invalid", failed=failed)
    assert answered([*blocks(SLOW, []), left_out], VALUE).outcome == outcome


@pytest.mark.parametrize(
    ("claim", "amount", "outcome"),
    [
        (VALUE | {"below": 1300}, 51, REPRODUCED), (VALUE | {"below": 500}, 51, UNTESTED),
        (VALUE | {"below": 500}, 50.4, NOT_REPRODUCED), (RATIO | {"above": 0.9, "below": 1.01}, 51, UNTESTED),
        (VALUE | {"to": "tomcat-platform", "below": 1}, 51, NOT_REPRODUCED),
    ],
)  # fmt: skip
def test_more_load_refutes_an_order_but_no_limit(claim: dict[str, Any], amount: float, outcome: Outcome) -> None:
    runs = blocks([1200, 1210, 1190], SLOW, amount=amount)
    assert answered(runs, claim | {"per_cpu": True}, cpus=2).outcome == outcome


@pytest.mark.parametrize(
    ("mean_ms", "time_out_share", "tested"), [(1124, 0, False), (1125, 0, True), (910, 0.009, False), (910, 0.01, True)]
)
def test_a_claim_about_load_is_tested_where_requests_queue(mean_ms: int, time_out_share: float, tested: bool) -> None:
    figures = {"latency_ms.mean": mean_ms, "time_out_share": time_out_share}
    for virtual, platform, outcome in ((FAST, SLOW, REPRODUCED), (SLOW, FAST, NOT_REPRODUCED)):
        runs = blocks(virtual, platform, figures=figures)
        assert answered(runs).outcome == (outcome if tested else UNTESTED)
        assert answered(runs, RATIO | {"queues": False}).outcome == outcome


def test_under_overload_the_shortest_request_of_a_run_has_queued_too() -> None:
    loaded, idle = blocks(FAST, SLOW, figures={"latency_ms.min": 1600}), blocks([500], [500], level=50)
    assert answered(loaded).outcome == UNTESTED
    assert answered([*loaded, *idle]).outcome == REPRODUCED


def test_each_claim_has_an_answer_in_the_benchmarks_order() -> None:
    untestable = {"says": "It is so.", "untestable": "It takes a second machine."}

    answers = answers_of(small(RATIO, untestable, VALUE), blocks(FAST, SLOW))
    assert [answer.outcome for answer in answers] == [REPRODUCED, UNTESTED, INCONCLUSIVE]
    assert answers_of(small(RATIO), [run("tomcat-virtual", 1, 1, load="other")])[0].outcome == UNTESTED


@pytest.mark.parametrize("lacks", ["figures", "of", "above"])
def test_a_claim_needs_all_that_decides_it(lacks: str) -> None:
    with pytest.raises(ValidationError):
        small({name: value for name, value in RATIO.items() if name != lacks})
