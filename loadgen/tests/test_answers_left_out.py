"""Answers do not hang on which runs were left out, nor on after which block they are looked at."""

from typing import Any

import pytest

from loomlab.answer.papers.answers import INCONCLUSIVE, REPRODUCED, Part, answer_of
from loomlab.answer.papers.measured import KeptRun, Measured
from saying import figures
from test_answers import RATIO, answered, blocks, experiment, paper_with, run


def dear(runs: list[KeptRun], repeat: int, value: float, **fields: Any) -> list[KeptRun]:
    """The virtual run of that block is invalid, with that throughput."""
    spoilt = run("tomcat-virtual", repeat, value, **{"verdict": "invalid", "failed": ["generator_cpus"]} | fields)
    return [spoilt if (one.approach, one.repeat) == ("tomcat-virtual", repeat) else one for one in runs]


SURE = blocks([1100, 1210, 1090, 1100], [1000, 1100, 990, 1000])


@pytest.mark.parametrize(
    ("runs", "outcome"),
    [
        (dear(SURE, 4, 300), INCONCLUSIVE),
        (dear(SURE, 4, 1090), REPRODUCED),
        (dear(SURE, 4, 300, spoilt=True, failed=["much_stolen"]), REPRODUCED),
        (dear(blocks([1000, 1100, 990, 1000], [1100, 1210, 1090, 1100]), 4, 3000), INCONCLUSIVE),
    ],
)
def test_an_answer_that_hangs_on_which_runs_were_left_out_is_none(runs: list[KeptRun], outcome: str) -> None:
    (part,) = answered(runs).parts

    assert (part.outcome, part.blocks) == (outcome, 3)
    assert ("1" in figures(part.why)) is (outcome == INCONCLUSIVE)


def test_errors_of_a_run_that_was_left_out_are_errors() -> None:
    claim = RATIO.partition("decided_by")[0] + (
        "decided_by: {kind: value, figures: [errors], approaches: [tomcat-virtual], below: 1, in_every_block: true}\n"
    )
    good = [run("tomcat-virtual", repeat, 1, figures={"errors": 0}) for repeat in (1, 2, 3)]
    bad = run("tomcat-virtual", 4, 1, figures={"errors": 300}, verdict="invalid", failed=["too_many_errors"])

    assert [answered(runs, claim).outcome for runs in (good, [*good, bad])] == [REPRODUCED, INCONCLUSIVE]


def test_a_torn_block_answers_nothing() -> None:
    torn = [one.model_copy(update={"torn": "it took 600 min"}) if one.repeat == 1 else one for one in SURE]

    (part,) = answered(torn).parts
    (few,) = answered([one for one in torn if one.repeat < 4]).parts

    assert (part.outcome, part.blocks) == (REPRODUCED, 3)
    assert (few.outcome, few.blocks) == (INCONCLUSIVE, 2)
    assert "600" in figures(few.why)


def test_before_the_declared_number_of_blocks_there_is_no_answer_and_no_interval() -> None:
    def part(declared: list[int]) -> Part:
        paper, runs = paper_with(), experiment(SURE)
        found = {"soak": Measured(paper="small", step="soak", declared=declared, experiments=[runs])}
        return answer_of(paper, paper.claims[0], found).parts[0]

    assert [part(declared).outcome for declared in ([], [3], [4], [4, 5])] == [REPRODUCED] * 3 + [INCONCLUSIVE]
    assert part([5]).centre is None
    assert {"4", "5"} <= figures(part([5]).why)
