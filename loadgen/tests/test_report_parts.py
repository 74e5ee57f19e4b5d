"""What the report is made of: comparisons, sentences, tables and doubts."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from loomlab.answer.figures import CPU, MEMORY, P99, THREADS
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.plan.planning import plan
from loomlab.records.contrasts import Contrast
from loomlab.records.models import Verdict
from loomlab.report.chart import course_of
from loomlab.report.experiment import Experiment, beside, csv_of, effect_cell, groups_of, read_experiment, table_of
from loomlab.report.opening import caveats_of, opening_of
from ordered import STAMP, TWO_CPUS, asked_for, lab_in
from report_folder import HEAPS, NAMES, NEGATIVE, PAIR, blocks, experiment_of, folder_of, holding, run_of


def test_a_pair_stands_together_and_below_it_what_it_shows(experiment: Experiment) -> None:
    groups = groups_of(experiment, [CPU, MEMORY, THREADS, P99])

    assert [(group.load.amount, *(row.approach for row in group.rows)) for group in groups] == [
        (load, *names) for load in (500, 2000) for names in (PAIR, ("virtual-netty", "webflux-netty"))
    ]
    assert [[one and one.figure for one in group.effects] for group in groups] == [
        ["CPU per request", "memory per in-flight request", None, "p99 latency"]
    ] * 4


def test_an_approach_stands_in_each_of_its_pairs_and_those_without_a_pair_together(experiment: Experiment) -> None:
    def groups(contrasts: list[Contrast]) -> list[int]:
        summary = experiment.summary.model_copy(update={"contrasts": contrasts})
        return [len(group.rows) for group in groups_of(replace(experiment, summary=summary), [CPU])]

    controlled = [one.model_copy(update={"kind": "controlled"}) for one in experiment.summary.contrasts]

    assert groups([]) == [4] * 2
    assert groups(controlled) == [2] * 6 * 2
    assert groups(controlled[:1]) == [2, 2] * 2


def test_a_twin_shows_the_labs_own_floor_and_is_compared_with_nothing_else(tmp_path: Path) -> None:
    experiment = read_experiment(folder_of(tmp_path, PAIR, repeats=3, twin=True))
    kinds = [comparison.kind for comparison in experiment.comparisons(CPU)]
    twin = next(run for run in experiment.runs if run.twin_of)

    assert (kinds[0], {*kinds[1:]}) == ("controlled", {"same"})
    (floor,) = [one for one in opening_of(experiment).more if one.startswith("One approach against itself")]
    assert ("exploratory" in floor, "CPU per request" in floor) == (True, True)
    course = course_of(twin, experiment.raw[twin.run])
    assert course is not None
    assert {"cpu", "rss", "threads"} <= course.panels.keys()


@pytest.mark.parametrize(
    ("heaps", "cell"),
    [
        (HEAPS, ("−61 KiB", "−63 to −59")),
        ({"tomcat-virtual": (8, 9), "tomcat-platform": (7, 7)}, ("+1.5 KiB", None)),
        ({"tomcat-virtual": (), "tomcat-platform": (7, 7)}, None),
    ],
)
def test_a_cell_has_the_difference_with_its_unit_which_no_margin_is_of(
    heaps: Mapping[str, tuple[int, ...]], cell: tuple[str, str | None] | None
) -> None:
    comparisons = holding(heaps, margin=0.3).comparisons(MEMORY)
    assert [effect_cell(one) for one in comparisons] == ([cell] if cell else [])
    assert not any(one.margin or one.within_margin for one in comparisons)


def test_the_tables_have_the_mean_and_the_range() -> None:
    rows = holding(NEGATIVE).rows

    assert csv_of(rows, [MEMORY]).splitlines() == [
        "load,unit,approach,valid,suspect,invalid,live_kib_per_request,live_kib_per_request_lowest,"
        "live_kib_per_request_highest",
        "2000,connections,tomcat-platform,3,0,0,62.0,60.0,63.0",
        "2000,connections,tomcat-virtual,3,0,0,-6.0,-30.0,10.0",
    ]
    assert table_of(rows, [MEMORY])[2:] == [
        "| 2,000 connections | tomcat-platform | 62 (60 to 63) | 3 valid |",
        "| 2,000 connections | tomcat-virtual | -6.00 (-30 to 10) | 3 valid |",
    ]


def test_an_invalid_run_is_counted_beside_the_mean_and_not_in_it() -> None:
    verdicts: list[Verdict] = ["valid", "suspect", "invalid"]
    costs = zip((1.0, 4.0, 100.0), verdicts, strict=True)
    runs = [
        run_of(NAMES[0], repeat, cpu_ms_per_request=cost, verdict=one) for repeat, (cost, one) in enumerate(costs, 1)
    ]
    (row,) = experiment_of(runs, None).rows

    assert row.cell(CPU) == ("2.00", "1.00 to 4.00")
    assert (row.worst, row.verdict) == ("invalid", "1 valid, 1 suspect, 1 invalid")
    assert csv_of([row], [CPU]).splitlines()[1] == "2000,connections,tomcat-virtual,1,1,1,2.0,1.0,4.0"


def test_a_change_is_in_percent_of_the_other_side_and_the_margin_is_that_of_the_summary() -> None:
    costs = zip(NAMES, (0.2, 0.25), strict=True)
    runs = [run_of(name, repeat, cpu_ms_per_request=cost) for name, cost in costs for repeat in range(1, 6)]
    (comparison,) = experiment_of(runs, margin=0.3).comparisons(CPU)

    assert effect_cell(comparison) == ("−20 %", "−20 to −20")
    assert (comparison.margin, comparison.within_margin) == (0.3, True)
    swayed = comparison.model_copy(update={"swayed": True, "word": "not significant"})
    assert effect_cell(swayed) == effect_cell(comparison)


def test_stand_ins_are_a_doubt_of_the_whole(experiment: Experiment) -> None:
    assert STAND_IN_NOTE in caveats_of(experiment).whole


def test_a_plan_records_the_colours_of_its_approaches(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    lab.colours = {"tomcat-virtual": "#D5630B", "jetty-virtual": "#B37305"}
    assert plan(asked_for(approaches=["tomcat-virtual"]), TWO_CPUS, lab, STAMP).colours == {"tomcat-virtual": "#D5630B"}


def test_two_experiments_beside_each_other_say_first_that_they_are_no_comparison() -> None:
    early, late = (
        replace(experiment_of(blocks(2), started=started), name=name)
        for name, started in (("monday", "2026-11-23T10:00:00Z"), ("tuesday", "2026-11-24T10:00:00Z"))
    )

    doubt, *lines = beside(late, early)

    assert "may be the day" in doubt
    rows = [[cell.strip() for cell in line.split("|")[2:4]] for line in lines if line.startswith("| 2,000")]
    assert rows == [[name, day] for name in sorted(NAMES) for day in ("monday", "tuesday")]
