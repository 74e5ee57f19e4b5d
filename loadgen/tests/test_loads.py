"""A block is made of runs of one start of the host and of one stretch of time; contrasts are answered when all declared
blocks are made."""

import json
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.loads import load_groups, torn_runs, unmade_blocks
from loomlab.answer.summary import summarise
from loomlab.records.contrasts import Comparison
from loomlab.records.models import Run, Summary
from loomlab.records.order import changing, read_order
from report_folder import PAIR, folder_of
from saying import STOLEN

HOUR = "2026-11-21T{:02}:{:02}:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two approaches in five blocks."""
    (tmp_path / "results").mkdir()
    return folder_of(tmp_path / "results", PAIR, repeats=5)


def runs_of(folder: Path) -> list[Run]:
    return Summary.model_validate_json((folder / "summary.json").read_text()).runs


def at(hour: int, minute: int, **changes: Any) -> dict[str, Any]:
    """A run that began then and took two minutes."""
    return {"started": HOUR.format(hour, minute), "finished": HOUR.format(hour, minute + 2)} | changes


def changed(folder: Path, *changes: dict[str, Any]) -> list[Run]:
    """The runs in their order, the first ones with these fields."""
    runs = runs_of(folder)
    return [run.model_copy(update=told) for run, told in zip(runs, changes, strict=False)] + runs[len(changes) :]


def controlled(summary: Summary) -> list[Comparison]:
    (contrast,) = (one for one in summary.contrasts if one.kind == "controlled")
    return [one for one in contrast.comparisons if one.figure == "CPU per request"]


@pytest.mark.parametrize(
    ("first", "second", "torn"),
    [
        (at(6, 0), at(6, 3), False), (at(6, 0), at(6, 57), False), (at(6, 0), at(7, 0), True),
        (at(6, 0, boot_id="a"), at(6, 3, boot_id="b"), True), (at(6, 0, boot_id="a"), at(6, 3, boot_id="a"), False),
        (at(6, 0, boot_id="a"), at(6, 3, boot_id=None), True),
        (at(6, 0, boot_id="a"), at(6, 3, boot_id=None, verdict="invalid"), False),
        (at(6, 0, boot_id=None), at(6, 3, boot_id=None), False),
    ],
)  # fmt: skip
def test_a_block_is_torn_that_took_over_an_hour_or_is_of_two_starts_of_the_host(
    folder: Path, first: dict[str, Any], second: dict[str, Any], torn: bool
) -> None:
    runs = changed(folder, first, second)

    expected = [run.run for run in runs[:2]] if torn else []
    assert list(torn_runs(runs, read_order(folder))) == expected
    assert [list(load.torn) for load in load_groups(runs, read_order(folder))] == [expected]


def test_a_pair_is_a_block_of_its_own(folder: Path) -> None:
    first, second, *_ = changed(folder, at(6, 0), at(6, 3))
    two = [first.model_copy(update={"partner": second.approach}), second.model_copy(update={"partner": first.approach})]
    later = [
        run.model_copy(
            update=at(8, 0, run=f"9-{run.approach}", approach=f"{run.approach}-b", partner=f"{run.partner}-b")
        )
        for run in two
    ]

    assert torn_runs([*two, *later], read_order(folder)) == {}


def test_a_block_that_was_planned_to_take_long_may(folder: Path) -> None:
    order, runs = read_order(folder), changed(folder, at(6, 0), at(7, 0))

    def torn(expected_s: int) -> bool:
        longer = [run.model_copy(update={"expected_s": expected_s}) for run in order.runs]
        return bool(torn_runs(runs, order.model_copy(update={"runs": longer})))

    assert [torn(seconds) for seconds in (920, 940)] == [True, False]
    assert list(torn_runs(runs, None)) == [run.run for run in runs[:2]]


def test_a_try_that_does_not_count_tears_no_block(folder: Path) -> None:
    first, *others = changed(folder, at(1, 0, verdict="invalid", rules=[STOLEN]), at(6, 3))
    again = first.model_copy(update=at(6, 0, run=f"{first.run}-try-2", verdict="valid", rules=[]))

    assert torn_runs([first, again, *others], read_order(folder)) == {}
    assert list(torn_runs([first, *others], read_order(folder))) == [first.run, others[0].run]


def test_a_torn_block_counts_for_no_contrast_and_its_figures_do_not_either(folder: Path) -> None:
    (before,) = controlled(summarise(folder, interrupted=False))
    for run in runs_of(folder)[:2]:
        path = folder / "runs" / run.run / "run.json"
        dear = {"cpu_ms_per_request": 9.0, "verdict": "invalid"} if run.approach == PAIR[1] else {}
        path.write_text(json.dumps(json.loads(path.read_text()) | dear | {"boot_id": run.approach}))

    (got,) = controlled(summarise(folder, interrupted=False))

    assert [one.block for one in before.blocks] == [1, 2, 3, 4, 5]
    assert ([one.block for one in got.blocks], got.left_out, got.swayed) == ([2, 3, 4, 5], (0, 0), False)
    assert [one.startswith("block 1 (") for one in got.dropped] == [True]


def test_no_contrast_is_answered_before_the_declared_blocks_are_made(folder: Path) -> None:
    with changing(folder) as order:
        for run in order.runs[7:]:
            (folder / "runs" / run.run / "run.json").unlink()
            run.state = "planned"

    summary = summarise(folder, interrupted=True)

    assert controlled(summary) == []
    assert sum(note.startswith("3 of 5 blocks") for note in summary.notes) == 1


def test_blocks_of_invalid_runs_are_made_and_those_that_were_cut_off_or_lack_a_try_are_not(folder: Path) -> None:
    order, runs = read_order(folder), runs_of(folder)
    invalid = [run.model_copy(update={"verdict": "invalid"}) for run in runs]
    cut_off = [*runs[:-1], runs[-1].model_copy(update={"finished": None})]
    again = order.runs[0].model_copy(update={"run": f"{order.runs[0].run}-try-2", "state": "planned"})
    longer = order.model_copy(update={"runs": [*order.runs, again]})

    assert [unmade_blocks(order, some) for some in (runs, invalid)] == [None, None]
    for asked, made in ((order, cut_off), (longer, runs)):
        assert (unmade_blocks(asked, made) or "").startswith("4 of 5 blocks")
