"""What the page begins with says what its figures say; and what else it is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.figures import CPU, MEMORY, P99, THREADS, THROUGHPUT, Figure
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.answer.text import lines
from loomlab.plan.planning import plan
from loomlab.records.contrasts import Contrast, Kind
from loomlab.records.load import Load
from loomlab.records.models import Latency, Run, Verdict
from loomlab.records.raw import LiveBytes
from loomlab.report.experiment import Experiment, beside, csv_of, effect_cell, groups_of, table_of
from loomlab.report.opening import caveats_of, opening_of
from ordered import STAMP, TWO_CPUS, asked_for, lab_in, planned
from report_folder import HEAPS, LOAD, NAMES, NEGATIVE, RATE, at_loads, blocks, experiment_of, holding, invalid, run_of
from saying import figures


def sentences(experiment: Experiment) -> list[str]:
    opening = opening_of(experiment)
    return [*opening.found, *([opening.unclear] if opening.unclear else []), *opening.more]


def comparing(experiment: Experiment, *figures: Figure) -> list[str]:
    """The sentences that compare by these figures."""
    return [one.sentence for figure in figures for one in experiment.comparisons(figure)]


@pytest.mark.parametrize("kind", ["unknown", None])
def test_without_a_controlled_contrast_it_says_whether_there_is_none_or_none_is_known(kind: Kind | None) -> None:
    experiment = experiment_of(blocks(3), kind)
    answers = opening_of(experiment).found

    assert ["differ" in answer for answer in answers] == [False, False, True]
    assert (answers[-1:] == lines("unknown.txt", contrasts=experiment.summary.contrasts)) is (kind == "unknown")


def test_the_only_contrast_is_told_even_if_it_is_of_stacks() -> None:
    experiment = experiment_of(blocks(3, cpu_ms_per_request=0.4), "stack")
    same = Contrast(a=NAMES[0], b="twin", kind="same", differs=[])
    for contrasts in (experiment.summary.contrasts, [*experiment.summary.contrasts, same]):
        found = opening_of(experiment_of(experiment.runs, contrasts=contrasts)).found
        assert set(comparing(experiment, CPU)) <= set(found)


def test_what_is_not_known_stands_beside_what_is() -> None:
    unknown = [Contrast(a="tomcat-virtual", b=other, kind="unknown", differs=[]) for other in ("a", "b")]
    contrasts = [*experiment_of(blocks(3)).summary.contrasts, *unknown]

    opening = opening_of(experiment_of(blocks(3), contrasts=contrasts))

    assert opening.found == comparing(experiment_of(blocks(3)), CPU)
    assert set(lines("unknown.txt", contrasts=unknown)) <= set(opening.more)


SLOWER = (0.962, 0.968, 0.956, 0.955, 0.972)
CHANCE = (0.98, 1.02, 0.99, 1.01, 1.0)


def factored(factors: Sequence[float], p50: float | None = None, **changes: Any) -> list[Run]:
    """A block for each factor, by which the first approach answers fewer requests, as much later unless it has that
    median latency."""
    return [
        run_of(name, repeat, p50=p50 if p50 and own != 1 else 912 / own, throughput_rps=2150 * own, **changes)
        for repeat, factor in enumerate(factors, 1)
        for name, own in zip(NAMES, (factor, 1.0), strict=True)
    ]


@pytest.mark.parametrize(
    ("runs", "kind", "told"),
    [
        (factored(SLOWER), "controlled", {"3.7", "95", "2.8", "4.7"}),
        (factored(SLOWER), "stack", {"3.7", "95", "2.8", "4.7"}),
        (factored([0.989 + repeat * 1e-5 for repeat in range(5)], 912), "controlled", {"1.1", "95"}),
        (factored([0.991 + repeat * 1e-5 for repeat in range(5)], 912), "controlled", None),
        (factored(CHANCE, 905), "controlled", None),
        (factored(CHANCE, 905), None, None),
    ],
    ids=["apart", "stacks that are apart", "just apart", "hardly apart", "by chance", "not compared"],
)
def test_a_throughput_that_differs_is_told(runs: list[Run], kind: Kind | None, told: set[str] | None) -> None:
    experiment = experiment_of(runs, kind)
    about = [one for one in opening_of(experiment).found if "throughput" in one]

    assert about == (comparing(experiment, THROUGHPUT) if told else [])
    assert not told or told <= figures(about[0])


def test_an_interrupted_experiment_is_told_to_go_on_before_it_compares_or_wants_more_repeats(tmp_path: Path) -> None:
    order = planned(tmp_path, verb="sweep", connections=(2000,), repeats=5, approaches=list(NAMES))
    missing = [run.run for run in order.runs[4:]]
    experiment = experiment_of(blocks(2), order=order, missing=missing, finished=None)

    (cure,) = (one for one in sentences(experiment) if "REPEATS" in one or "RESUME" in one)
    assert "make finish RESUME=mine" in cure
    assert experiment.comparisons(CPU) == []
    assert " of 5 blocks are made: " in opening_of(experiment).found[-1]


def test_a_contrast_whose_blocks_all_lack_a_figure_that_was_measured_is_told_not_to_be_compared() -> None:
    nothing = {"live_bytes_per_request": LiveBytes(), "latency_ms": Latency(min=905, p50=905)}
    tail = {"latency_ms": Latency(min=905, p50=905, p99=950)}
    one_sided = [run.model_copy(update=nothing if run.approach == NAMES[0] else tail) for run in blocks(3)]
    unmeasured = [run.model_copy(update=nothing) for run in blocks(3)]

    def told(runs: list[Run]) -> list[str]:
        return [one for one in opening_of(experiment_of(runs)).more if one.startswith("Not compared")]

    assert told(one_sided) == comparing(experiment_of(one_sided), P99)
    assert told(unmeasured) == []


NOISY = (0.5, 2.0, 0.8, 1.4, 1.0)


def test_what_was_declared_is_told_first_of_that_differences_the_largest_before_others() -> None:
    """However much the throughput of the first load differs, which nobody declared."""
    slow = {"throughput_rps": 215.0}
    runs = [
        run.model_copy(update=slow) if (run.approach, run.cell) == (NAMES[0], 1) else run
        for run in at_loads([0.8] * 5, [1.0] * 5, [0.5] * 5, [2.5] * 5)
    ]
    experiment = experiment_of(runs)
    by_cell = {one.cell: one.sentence for one in experiment.comparisons(CPU)}

    declared = [by_cell[cell] for cell in (4, 3, 1, 2)]
    assert opening_of(experiment).found == [*declared, comparing(experiment, THROUGHPUT)[0]]


def test_a_difference_from_what_is_below_0_has_no_ratio_and_is_the_largest() -> None:
    dear = {"cpu_ms_per_request": 9.0}
    runs = [run.model_copy(update=dear) if run.approach == NAMES[0] else run for run in holding(NEGATIVE).runs]
    experiment = experiment_of(runs)

    assert opening_of(experiment).found == comparing(experiment, MEMORY, CPU)


@pytest.mark.parametrize(("load", "found"), [(replace(LOAD, shape=RATE), True), (LOAD, False)])
def test_a_tail_that_is_the_same_within_the_margin_is_found_and_a_lower_bound_is_not(load: Load, found: bool) -> None:
    experiment = experiment_of(blocks(5, load=load, latency_ms=Latency(p99=950)))
    assert (set(comparing(experiment, P99)) <= set(opening_of(experiment).found)) is found


def test_what_is_not_significant_is_told_of_every_load_in_a_line_beside_what_was_found() -> None:
    experiment = experiment_of(at_loads(NOISY, [0.5] * 5, [value**0.5 for value in NOISY]))
    first, second, third = experiment.comparisons(CPU)
    opening = opening_of(experiment)

    assert opening.found == [second.sentence]
    for one, told in ((first, True), (second, False), (third, True)):
        assert (f"{effect_cell(one)[0]} ({effect_cell(one)[1]}) at {one.load}" in (opening.unclear or "")) is told


def test_a_tail_that_hangs_on_runs_that_were_left_out_is_told_not_to_be_known() -> None:
    runs = [run_of(NAMES[1], repeat, latency_ms=Latency(p99=1000), errors=0) for repeat in range(1, 6)]
    for repeat in range(1, 6):
        p99, errors = (880 + repeat, 0) if repeat < 4 else (None, 80)
        runs.append(run_of(NAMES[0], repeat, latency_ms=Latency(p99=p99), errors=errors))
    experiment = experiment_of(runs)
    (tail,), opening = experiment.comparisons(P99), opening_of(experiment)

    assert (tail.apart, tail.swayed) == (True, True)
    assert (tail.sentence in opening.found, tail.sentence in opening.more) == (False, True)
    assert effect_cell(tail) == ("not known", None)


def test_so_many_repeats_are_told_as_the_least_certain_load_needs() -> None:
    """One invalid run is not every run."""
    runs = at_loads([value**0.3 for value in NOISY], [value**0.5 for value in NOISY])
    runs[0] = runs[0].model_copy(update={"verdict": "invalid"})
    experiment = experiment_of(runs)
    likely = [one.blocks_likely or 0 for one in experiment.comparisons(CPU)]
    told = " ".join(sentences(experiment))

    assert 0 < min(likely) < max(likely) <= 100
    assert f"REPEATS={max(likely)} " in told
    assert "Every run" not in told


def test_a_block_that_lacks_a_figure_is_told_with_it_and_one_that_lacks_all_without() -> None:
    runs = at_loads([0.8] * 3, [0.8] * 3)
    runs[0] = runs[0].model_copy(update={"cpu_ms_per_request": None})

    def told(runs: list[Run]) -> list[str]:
        return caveats_of(experiment_of(runs, environment={"stand_in_images": False})).dropped

    (one,) = told(runs)
    assert " by CPU per request in block 1 " in one
    assert "100 connections" in one
    assert [" by " in one for one in told(invalid(blocks(3), 1))] == [False]
    unmeasured = [run.model_copy(update={"cpu_ms_per_request": None}) if run.cell == 2 else run for run in runs]
    assert sum("200 connections" in one and "CPU per request" in one for one in told(unmeasured)) == 1
    silent = [run.model_copy(update={"throughput_rps": None}) if run.cell == 2 else run for run in runs]
    assert not any("throughput" in one for one in told(silent))


def test_what_the_opening_says_beside_comparisons_is_approved(snapshot: SnapshotAssertion) -> None:
    examples = [
        experiment_of(blocks(3), contrasts=experiment_of(blocks(1), "stack").summary.contrasts * 2),
        experiment_of(blocks(3), None), experiment_of([run_of(NAMES[0])], None),
        experiment_of([run_of(NAMES[0], repeat, cpu_ms_per_request=repeat / 4) for repeat in (1, 2, 3)], None),
        experiment_of([run_of(NAMES[0], verdict="invalid")], None), experiment_of(blocks(1)), experiment_of(blocks(2)),
        experiment_of(blocks(5, load=replace(LOAD, shape=RATE))),
        *(experiment_of(invalid(blocks(repeats), spoilt)) for repeats, spoilt in ((5, 1), (5, 4))),
        experiment_of(blocks(2), missing=["5-tomcat-virtual"], finished=None),
        experiment_of(at_loads([10.0, 0.1, 1.0])),
    ]  # fmt: skip
    texts = (one for each in examples for one in sentences(each) if one not in comparing(each, CPU, P99, MEMORY))

    assert "\n".join(dict.fromkeys(texts)) == snapshot


@pytest.mark.parametrize("runs", [invalid(blocks(3), 3), blocks(3, cpu_ms_per_request=None, throughput_rps=None)])
def test_a_controlled_contrast_without_a_block_is_not_said_not_to_be_there(runs: list[Run]) -> None:
    without = opening_of(experiment_of(runs, "stack")).found[-1]
    assert without not in opening_of(experiment_of(runs)).found


def test_where_the_images_are_not_known_there_is_no_caveat() -> None:
    assert caveats_of(experiment_of(blocks(1), environment={})).whole == []


def test_a_pair_stands_together_and_below_it_what_it_shows(experiment: Experiment) -> None:
    groups = groups_of(experiment, [CPU, MEMORY, THREADS, P99])

    assert [(group.load.amount, *(row.approach for row in group.rows)) for group in groups] == [
        (load, *names) for load in (500, 2000) for names in (NAMES[::-1], ("virtual-netty", "webflux-netty"))
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


def test_a_twin_shows_the_labs_own_floor() -> None:
    runs = blocks(3)
    own = [run for run in runs if run.approach == NAMES[1]]
    twins = [run.model_copy(update={"approach": "twin", "run": f"{run.run}-twin"}) for run in own]
    same = Contrast(a=NAMES[1], b="twin", kind="same", differs=[])
    experiment = experiment_of([*runs, *twins], contrasts=[*experiment_of(runs).summary.contrasts, same])

    assert [one.kind for one in experiment.comparisons(CPU)] == ["controlled", "same"]
    (floor,) = (one for one in opening_of(experiment).more if one.startswith("One approach against itself"))
    assert ("exploratory" in floor, "CPU per request" in floor) == (True, True)


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
    runs = [run_of(NAMES[0], block, cpu_ms_per_request=cost, verdict=one) for block, (cost, one) in enumerate(costs, 1)]
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
