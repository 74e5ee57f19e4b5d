"""How claims are answered: order, mirror, what is missing and what is invalid."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.papers.answers import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    UNTESTED,
    Answer,
    answer_of,
    answers_of,
)
from loomlab.answer.papers.library import load_paper, paper_names, parse_paper
from loomlab.answer.papers.measured import KeptExperiment, KeptRun, Measured
from loomlab.answer.papers.model import Paper
from loomlab.answer.papers.page import found_of
from paper import PAPER
from saying import figures

PUBLISHED = Path(__file__).parent.parent / "published"
RATIO = """\
  - id: faster
    says: One completes more than the other.
    place: [Results]
    load: {scenarios: [soak], levels: [100]}
    decided_by:
      kind: ratio
      figures: [throughput_rps]
      of: {approach: tomcat-virtual}
      to: {approach: tomcat-platform}
      above: 1
"""


def paper_with(claim: str = RATIO) -> Paper:
    return parse_paper(PAPER.partition("claims:\n")[0] + "claims:\n" + claim, "small.yaml")


def run(approach: str, repeat: int, value: float, level: int = 100, **fields: Any) -> KeptRun:
    """At half of the published load, where requests queue."""
    told: dict[str, Any] = {
        "run": f"{level}-{approach}", "approach": approach, "jdk": 25, "repeat": repeat, "level": level,
        "amount": level / 2, "lasts_s": 60, "verdict": "valid", "failed": [], "spoilt": False, "reasons": [],
        "failures": {},
        "figures": {"throughput_rps": value, "latency_ms.mean": 1800, "latency_ms.min": 900},
    }  # fmt: skip
    return KeptRun.model_validate(told | fields)


def experiment(runs: list[KeptRun], name: str = "a", **fields: Any) -> KeptExperiment:
    told: dict[str, Any] = {
        "name": name, "started": f"2026-01-01T00:00:00Z {name}", "demand": "d", "asked": {}, "cpus": 1,
        "setup": {}, "differs": [], "left_out": [], "runs": runs,
    }  # fmt: skip
    return KeptExperiment.model_validate(told | fields)


def measured(*experiments: KeptExperiment, step: str = "soak") -> dict[str, Measured]:
    return {step: Measured(paper="small", step=step, experiments=list(experiments))}


def blocks(virtual: list[float], platform: list[float]) -> list[KeptRun]:
    sides = {"tomcat-virtual": virtual, "tomcat-platform": platform}
    return [run(name, repeat, value) for name, values in sides.items() for repeat, value in enumerate(values, 1)]


def answered(runs: list[KeptRun], claim: str = RATIO) -> Answer:
    return answer_of(paper_with(claim), paper_with(claim).claims[0], measured(experiment(runs)))


def test_a_claim_whose_whole_interval_is_within_its_limits_is_reproduced() -> None:
    answer = answered(blocks([1100, 1210, 1090], [1000, 1100, 990]))

    (part,) = answer.parts
    assert answer.outcome == REPRODUCED
    assert part.centre == pytest.approx(1.1, rel=2e-3)
    assert (part.blocks, part.level, part.amount) == (3, 100, 50)
    assert part.low is not None
    assert part.high is not None
    assert 1 < part.low < 1.1 < part.high


def test_with_the_sides_swapped_the_opposite_is_found() -> None:
    answer = answered(blocks([1000, 1100, 990], [1100, 1210, 1090]))

    assert answer.outcome == NOT_REPRODUCED
    assert "beyond the limit" in answer.parts[0].why


def test_an_order_that_is_mirrored_in_sides_and_limit_is_answered_alike() -> None:
    runs = blocks([1100, 1210, 1090], [1000, 1100, 990])
    mirrored = RATIO.replace("of: {approach: tomcat-virtual}", "of: {approach: tomcat-platform}")
    mirrored = mirrored.replace("to: {approach: tomcat-platform}", "to: {approach: tomcat-virtual}")
    one, other = answered(runs).parts[0], answered(runs, mirrored.replace("above: 1", "below: 1")).parts[0]

    assert (one.outcome, other.outcome) == (REPRODUCED, REPRODUCED)
    assert [one.low, one.high] == pytest.approx([1 / (other.high or 0), 1 / (other.low or 0)])


def test_what_is_measured_and_not_resolved_is_inconclusive() -> None:
    answer = answered(blocks([1300, 900, 1050], [1000, 1000, 1000]))
    (part,) = answer.parts

    assert answer.outcome == part.outcome == INCONCLUSIVE
    assert part.low is not None
    assert part.high is not None
    assert part.low < 1 < part.high


@pytest.mark.parametrize(
    ("virtual", "count", "enough"),
    [([1300, 1000, 1200], "6", True), ([1300, 900, 950], "30", False)],
)
def test_how_many_blocks_would_decide_is_told_where_somebody_may_make_them(
    virtual: list[float], count: str, enough: bool
) -> None:
    (part,) = answered(blocks(virtual, [1000, 1000, 1000])).parts

    assert count in figures(part.why)
    assert ("would not decide" in part.why) is not enough


def test_blocks_are_paired_so_that_what_makes_a_whole_block_slow_does_not_count() -> None:
    assert answered(blocks([1020, 2040, 510], [1000, 2000, 500])).outcome == REPRODUCED
    assert answered(blocks([1020, 2040, 510], [2000, 500, 1000])).outcome == INCONCLUSIVE


def test_equals_are_within_a_margin_and_say_nothing_of_an_order() -> None:
    equal = blocks([1000, 1100, 990], [1000, 1100, 990])

    assert answered(equal, RATIO.replace("above: 1", "above: 0.95\n      below: 1.05")).outcome == REPRODUCED
    assert answered(equal).outcome == INCONCLUSIVE


def test_fewer_than_three_blocks_are_inconclusive() -> None:
    answer = answered(blocks([1100, 1200], [1000, 1100, 990]))

    assert answer.outcome == INCONCLUSIVE
    assert answer.parts[0].why.startswith("2 of the 3 blocks")
    assert answer.parts[0].centre is None


def test_an_approach_that_was_not_run_cannot_be_tested() -> None:
    answer = answered([one for one in blocks([1100] * 3, [1000] * 3) if one.approach == "tomcat-virtual"])

    assert answer.outcome == UNTESTED
    assert "tomcat-platform was not run there" in answer.parts[0].why


def test_a_scenario_that_was_not_run_cannot_be_tested() -> None:
    answer = answer_of(paper_with(), paper_with().claims[0], {})

    assert (answer.outcome, answer.parts[0].why) == (UNTESTED, "it was not run")


def test_a_level_that_was_left_out_is_told_with_its_reason() -> None:
    claim = RATIO.replace("levels: [100]", "levels: [100, 200]")
    runs = blocks([1100, 1210, 1090], [1000, 1100, 990])
    left = experiment(runs, left_out=["Left out: NAME=soak with 200 connections needs 20501 open files."])
    answer = answer_of(paper_with(claim), paper_with(claim).claims[0], measured(left))

    assert answer.outcome == UNTESTED
    assert [part.outcome for part in answer.parts] == [REPRODUCED, UNTESTED]
    assert "200 connections needs 20501 open files" in answer.parts[1].why


def test_a_figure_that_a_run_does_not_have_takes_its_block_out() -> None:
    runs = blocks([1100] * 3, [1000] * 3)
    answer = answered([runs[0].model_copy(update={"figures": {}}), *runs[1:]])

    assert answer.outcome == INCONCLUSIVE
    assert "run 100-tomcat-virtual of a has no throughput_rps" in answer.parts[0].why


def test_invalid_runs_do_not_count_and_suspect_ones_do() -> None:
    runs = blocks([1100, 1210, 1090], [1000, 1100, 990])
    invalid = runs[1].model_copy(update={"verdict": "invalid", "failed": ["backend_cpus"]})
    suspect = runs[1].model_copy(update={"verdict": "suspect"})

    spoilt = answered([runs[0], invalid, *runs[2:]])
    assert spoilt.outcome == INCONCLUSIVE
    assert "is invalid (backend_cpus)" in spoilt.parts[0].why
    assert answered([runs[0], suspect, *runs[2:]]).outcome == REPRODUCED


def test_a_run_that_is_invalid_for_what_the_claim_is_about_counts() -> None:
    runs = [
        one.model_copy(update={"verdict": "invalid", "failed": ["too_many_errors"]})
        for one in blocks([1100, 1210, 1090], [1000, 1100, 990])
    ]

    assert answered(runs, RATIO + "    despite: [too_many_errors]\n").outcome == REPRODUCED
    assert answered(runs, RATIO + "    despite: [silent_end]\n").outcome == UNTESTED
    assert answered(runs).outcome == UNTESTED


def test_experiments_of_one_block_each_are_taken_together() -> None:
    one, two, three = (
        [run("tomcat-virtual", 1, a), run("tomcat-platform", 1, b)] for a, b in ((11, 10), (12, 11), (23, 21))
    )
    answer = answer_of(
        paper_with(), paper_with().claims[0], measured(*map(experiment, (one, two, three), ("a", "b", "c")))
    )

    assert (answer.outcome, answer.parts[0].blocks) == (REPRODUCED, 3)


def test_of_several_scenarios_each_is_asked_at_the_levels_that_it_has() -> None:
    claim = RATIO.replace("scenarios: [soak], levels: [100]", "scenarios: [soak, other], levels: [100, 200]")
    runs = blocks([1100, 1210, 1090], [1000, 1100, 990])
    higher = [one.model_copy(update={"level": 200}) for one in runs]
    kept = measured(experiment(runs)) | measured(experiment(higher), step="other")
    answer = answer_of(paper_with(claim), paper_with(claim).claims[0], kept)

    assert [(part.at, part.level, part.outcome) for part in answer.parts] == [
        ("soak", 100, REPRODUCED),
        ("other", 200, REPRODUCED),
    ]


def test_two_jdks_are_paired_in_the_order_in_which_they_were_run() -> None:
    claim = RATIO.replace(
        "load: {scenarios: [soak], levels: [100]}", "load: {tool: ab, endpoint: /pinned, levels: [100]}"
    )
    claim = claim.replace("of: {approach: tomcat-virtual}", "of: {approach: tomcat-virtual, jdk: 21}")
    claim = claim.replace("to: {approach: tomcat-platform}", "to: {approach: tomcat-virtual, jdk: 25}")
    kept: dict[str, Measured] = {}
    for jdk, values in ((21, (20, 40, 10)), (25, (10, 20, 5))):
        experiments = [
            experiment([run("tomcat-virtual", 1, value, jdk=jdk)], f"{place}-{jdk}")
            for place, value in enumerate(values)
        ]
        kept |= measured(*experiments, step=f"ab-pinned-100-jdk{jdk}")
    (part,) = answer_of(paper_with(claim), paper_with(claim).claims[0], kept).parts

    assert part.outcome == REPRODUCED
    assert part.centre == pytest.approx(2)


def test_errors_do_not_keep_a_claim_about_errors_from_being_refuted() -> None:
    for paper, claim in (
        ("loom-vs-webflux", "no-errors"),
        ("loom-vs-webflux", "nearly-the-whole-rate"),
        ("spring-boot-edition", "jetty-serves-on-virtual-threads"),
    ):
        (found,) = [one for one in load_paper(PUBLISHED, paper).claims if one.id == claim]
        assert "too_many_errors" in found.despite


@pytest.mark.parametrize(
    ("virtual", "told"),
    [
        ([1000.526954, 1000.377819, 1000.696129], "1.000534 (1.000138 to 1.000929)"),
        ([1100, 1210, 1090], "1.132 (0.981 to 1.307)"),
        ([1000, 1000, 1000], "1.000 (1.000 to 1.000)"),
    ],
)
def test_an_interval_near_a_limit_has_the_digits_that_tell_them_apart(virtual: list[float], told: str) -> None:
    answer = answered(blocks(virtual, [1000, 1000, 1000]))

    assert found_of(answer, "connections")[1].startswith(f"100 [50] connections: {told}")


def test_the_levels_of_a_figure_stand_together_under_its_name() -> None:
    answer = answered(blocks([1100, 1210, 1090], [1000, 1100, 990]))
    (rate,) = answer.parts
    errors = replace(rate, figure="errors")

    first, *found = found_of(replace(answer, parts=[rate, errors, rate, errors]), "connections")
    assert first.startswith("throughput_rps of ")
    assert [line.partition(" of ")[0].partition(":")[0] for line in found] == [
        "100 [50] connections", "100 [50] connections", "errors", "100 [50] connections", "100 [50] connections",
    ]  # fmt: skip


def test_a_slope_is_per_connection_that_was_run() -> None:
    claim = """\
  - id: slope
    says: It grows.
    place: [Results]
    load: {scenarios: [soak], levels: [100, 200]}
    decided_by: {kind: slope, figures: [throughput_rps], approaches: [tomcat-virtual], above: 1.9, below: 2.1}
"""
    runs = [run("tomcat-virtual", repeat, 1000 + level + repeat, level) for repeat in (1, 2, 3) for level in (100, 200)]
    answer = answered(runs, claim)
    (part,) = answer.parts

    assert (part.outcome, part.level, part.amount, part.base, part.base_amount) == (REPRODUCED, 200, 100, 100, 50)
    assert part.centre == pytest.approx(2)
    assert found_of(answer, "connections")[1].startswith("100 [50] to 200 [100] connections: 2 requests/s per conn")
    assert answered(runs[::2], claim).outcome == UNTESTED


def test_a_scenario_that_the_host_could_not_hold_is_told_with_its_reason() -> None:
    left = {"soak": Measured(paper="small", step="soak", left_out="It needs 60500 open files.", experiments=[])}
    (part,) = answer_of(paper_with(), paper_with().claims[0], left).parts

    assert (part.outcome, part.why) == (UNTESTED, "it was not run (It needs 60500 open files.)")


def test_published_figures_stand_beside_what_was_found() -> None:
    paper = parse_paper(PAPER, "small.yaml")
    runs = [
        run("tomcat-virtual", repeat, 0, level, figures={"latency_ms.p99": 300.0 + repeat})
        for repeat in (1, 2, 3)
        for level in (100, 200)
    ]
    (answer,) = answers_of(paper, measured(experiment(runs)))

    assert [(part.level, part.published) for part in answer.parts] == [(100, (310,)), (200, (320.5,))]
    assert answer.outcome == REPRODUCED


@pytest.mark.parametrize("name", paper_names(PUBLISHED))
def test_every_claim_has_an_answer_before_anything_is_measured(name: str) -> None:
    paper = load_paper(PUBLISHED, name)
    answers = answers_of(paper, {})

    assert [answer.claim.id for answer in answers] == [claim.id for claim in paper.claims]
    assert all(answer.outcome == UNTESTED and (answer.why or answer.parts[0].why) for answer in answers)


def test_a_level_that_could_not_be_tested_decides_before_an_inconclusive_one() -> None:
    claim = RATIO.replace("levels: [100]", "levels: [100, 200, 300]")
    unclear = blocks([1300, 900, 1050], [1000, 1000, 1000])
    clear = [one.model_copy(update={"level": 200}) for one in blocks([1100, 1210, 1090], [1000, 1100, 990])]
    answer = answered([*unclear, *clear], claim)

    assert [part.outcome for part in answer.parts] == [INCONCLUSIVE, REPRODUCED, UNTESTED]
    assert answer.outcome == UNTESTED


def even() -> list[KeptRun]:
    return [
        run(name, repeat, 1000, level)
        for name in ("tomcat-virtual", "tomcat-platform")
        for repeat in (1, 2, 3)
        for level in (100, 200)
    ]


def test_one_level_that_speaks_against_it_decides_a_claim_about_all() -> None:
    claim = RATIO.replace("levels: [100]", "levels: [100, 200]")
    runs = [
        one.model_copy(update={"figures": one.figures | {"throughput_rps": 1100 + one.repeat}})
        if (one.level, one.approach) == (100, "tomcat-virtual")
        else one
        for one in even()
    ]
    answer = answered(runs, claim.replace("above: 1", "above: 1.05"))

    assert [part.outcome for part in answer.parts] == [REPRODUCED, NOT_REPRODUCED]
    assert answer.outcome == NOT_REPRODUCED
