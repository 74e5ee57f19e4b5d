"""Pairs whose ratio still moved within their blocks."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from loomlab.answer.comparisons import shift_doubts
from loomlab.answer.summary import summarise
from loomlab.records.models import Run
from test_summary import experiment
from test_summary import run as run_record


def blocks(shifts: Sequence[float | None], **changes: object) -> list[Run]:
    """Both sides of a pair in a block for each of these shifts of a's ratio to b's."""
    return [
        run_record(
            number, run=f"{number}-{name}", approach=name, partner=other, repeat=number, ratio_shift=shift, **changes
        )
        for number, of_a in enumerate(shifts, 1)
        for name, other, shift in (("a", "b", of_a), ("b", "a", None if of_a is None else -of_a))
    ]


@pytest.mark.parametrize(("shifts", "said"), [
    ([0.09, 0.10, 0.08], "9.42 %"), ([-0.09, -0.10, -0.08], "-8.61 %"), ([0.1, -0.1, 0.11], ""),
    ([0.2, -0.1, 0.2], ""), ([0.03, 0.031, 0.029], ""), ([0.041, 0.0411, 0.0412], "4.2 %"),
    ([0.09, 0.10], ""), ([0.09, 0.1, None], ""),
])  # fmt: skip
def test_a_ratio_that_moves_alike_in_every_block_makes_runs_suspect(shifts: list[float | None], said: str) -> None:
    runs = blocks(shifts)
    doubts = shift_doubts(runs)

    assert set(doubts) == ({run.run for run in runs} if said else set())
    assert all(said in text for text in doubts.values())


def test_invalid_runs_and_other_loads_do_not_count() -> None:
    moving = [0.09, 0.10, 0.08]

    assert shift_doubts(blocks(moving, verdict="invalid")) == {}
    assert shift_doubts([*blocks(moving[:2]), *blocks(moving[2:], cell=2)]) == {}
    assert shift_doubts([run_record(number) for number in range(3)]) == {}


def test_the_summary_tells_it(tmp_path: Path) -> None:
    runs = summarise(experiment(tmp_path, blocks([0.09, 0.10, 0.08])), interrupted=False).runs
    assert all(run.verdict == "suspect" and "9.42 %" in run.reasons[-1] for run in runs if run.approach == "a")
