"""What is kept of a paper's experiments: small, in the lab's names, by published level, of one demand."""

import json
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.papers.keeping import declared_file, figure_of, keep, left_out_file
from loomlab.answer.papers.library import load_paper
from loomlab.answer.papers.measured import Blocks, KeptRun, Measured, blocks_of, read_measured
from loomlab.answer.papers.steps import steps_of
from loomlab.plan.lab import Lab
from loomlab.records.files import write_json
from loomlab.records.models import RuleResult
from loomlab.records.order import PlannedRun, read_order
from measured_folder import PUBLISHED, begun, paper_lab, run_of, summed_up
from ordered import SCENARIOS, TWO_CPUS
from test_answers import experiment as kept_experiment
from test_answers import run as experiment_run

LOOM = "project-loom-comparison"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return paper_lab(tmp_path / "lab")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def kept_in(results: Path, paper: str = LOOM) -> list[str]:
    return keep(results, results / "measured", paper, load_paper(PUBLISHED, paper), SCENARIOS).changed


def scales(results: Path) -> list[str]:
    (measured,) = read_measured(results / "measured", LOOM).values()
    return [one.asked["SCALE"] for one in measured.experiments]


def runs_of(results: Path, paper: str = LOOM) -> list[KeptRun]:
    (measured,) = read_measured(results / "measured", paper).values()
    return [run for experiment in measured.experiments for run in experiment.runs]


def test_a_run_stands_for_the_published_level_that_was_scaled(lab: Lab, results: Path) -> None:
    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05"))
    assert kept_in(results) == [LOOM]

    levels = {(run.level, run.amount) for run in runs_of(results)}
    assert levels == {(1000, 50), (5000, 250), (10_000, 500), (15_000, 750), (20_000, 1000)}


def test_a_level_in_requests_a_second_is_the_rate(lab: Lab, results: Path) -> None:
    summed_up(begun(lab, results, "loom-vs-webflux", NAME="loom-vs-webflux", SCALE="0.1"))
    kept_in(results, "loom-vs-webflux")

    assert {(run.level, run.amount) for run in runs_of(results, "loom-vs-webflux")} == {(10_000, 1000)}


def test_figures_have_the_names_of_run_json_and_shares_are_derived(lab: Lab, results: Path) -> None:
    summed_up(begun(lab, results, LOOM, NAME=LOOM), lambda _: {"cpu_seconds": 25.0, "errors": 600, "requests": 60_000})
    kept_in(results)

    figures = runs_of(results)[0].figures
    assert figures["cpu_share"] == 0.5
    assert figures["latency_ms.p99"] == 950
    assert figures["vsz_max_bytes"] == 5e9
    assert "error_share" not in figures


def test_neither_a_number_that_is_none_nor_a_run_that_the_order_does_not_have_is_kept(lab: Lab, results: Path) -> None:
    path = summed_up(begun(lab, results, LOOM, NAME=LOOM)) / "summary.json"
    summary = json.loads(path.read_text())
    summary["runs"][0]["vsz_max_bytes"] = float("nan")
    summary["runs"].append(summary["runs"][1] | {"run": "900-microhttp-virtual"})
    path.write_text(json.dumps(summary))

    kept_in(results)

    runs = runs_of(results)
    assert [run.run for run in runs] == [run["run"] for run in summary["runs"][:-1]]
    assert ["vsz_max_bytes" in run.figures for run in runs] == [False, *[True] * (len(runs) - 1)]


def test_rates_of_the_whole_run_are_those_that_the_tools_tell(lab: Lab, results: Path) -> None:
    told = {"requests": 57_000, "errors": 57, "duration_s": 60.1, "rate": 950.0, "throughput_rps": 1.0}
    summed_up(begun(lab, results, "loom-vs-webflux", NAME="loom-vs-webflux", SCALE="0.095"), lambda _: told)
    kept_in(results, "loom-vs-webflux")

    figures = runs_of(results, "loom-vs-webflux")[0].figures
    assert figures["answered_rps"] == pytest.approx(56_943 / 60.1, rel=1e-5)
    assert figures["rate_share"] == pytest.approx(56_943 / 60.1 / 950, rel=1e-5)


@pytest.mark.parametrize(
    ("told", "time_outs"),
    [
        ({"errors": 5, "failures": {"time-out": 3, "503": 2}}, 3),
        ({"errors": 2, "failures": {"503": 2}}, 0),
        ({"errors": 0}, 0),
        ({"errors": 2}, None),
        ({"errors": None}, None),
    ],
)
def test_time_outs_are_counted_where_reasons_are_told(
    lab: Lab, results: Path, told: dict[str, Any], time_outs: int | None
) -> None:
    planned = read_order(begun(lab, results, LOOM, NAME=LOOM)).runs[0]

    assert figure_of(run_of(planned, **told), "time_outs", 1) == time_outs


def test_what_was_not_measured_is_not_there(lab: Lab, results: Path) -> None:
    summed_up(begun(lab, results, LOOM, NAME=LOOM), lambda _: {"cpu_seconds": None, "interior": None})
    kept_in(results)

    assert not {"cpu_seconds", "cpu_share"} & set(runs_of(results)[0].figures)


def test_an_invalid_run_is_kept_with_the_rules_that_failed(lab: Lab, results: Path) -> None:
    failed = RuleResult(rule="backend_cpus", outcome="failed", level="invalid", reason="Full.")
    passed = RuleResult(rule="gc_heavy", outcome="failed", level="suspect", reason="Much.")
    told: dict[str, Any] = {"verdict": "invalid", "reasons": ["Full.", "Much."], "rules": [failed, passed]}
    summed_up(begun(lab, results, LOOM, NAME=LOOM), lambda _: told)
    kept_in(results)

    run = runs_of(results)[0]
    assert (run.verdict, run.failed, run.reasons) == ("invalid", ["backend_cpus"], ["Full.", "Much."])


@pytest.mark.parametrize(
    ("rules", "spoilt"),
    [
        ([("much_stolen", True)], True),
        ([("much_stolen", True), ("oom_killed", False)], True),
        ([("backend_cpus", False)], False),
        ([("too_many_errors", False)], False),
        ([], False),
    ],
)
def test_a_run_is_spoilt_by_what_is_measured_outside_of_the_approach(
    lab: Lab, results: Path, rules: list[tuple[str, bool]], spoilt: bool
) -> None:
    failed = [
        RuleResult(rule=rule, outcome="failed", level="invalid", host_cause=host_cause, reason="No.")
        for rule, host_cause in rules
    ]
    told: dict[str, Any] = {"verdict": "invalid" if rules else "valid", "rules": failed}
    summed_up(begun(lab, results, "virtual-threads-hey", NAME="virtual-threads-hey"), lambda _: told)
    kept_in(results, "virtual-threads-hey")

    assert runs_of(results, "virtual-threads-hey")[0].spoilt == spoilt


def test_a_torn_block_is_kept_as_that_and_is_one_too_few(lab: Lab, results: Path) -> None:
    def figures(planned: PlannedRun) -> dict[str, Any]:
        return {"boot_id": planned.run if planned.request.repeat == 2 else "a"}

    summed_up(begun(lab, results, LOOM, NAME=LOOM), figures)
    kept_in(results)

    (measured,) = read_measured(results / "measured", LOOM).values()
    assert {run.repeat for run in runs_of(results) if run.torn} == {2}
    assert blocks_of(measured.experiments) == Blocks(made=3, counted=2)


def declare(lab: Lab, results: Path, blocks: int, scale: str = "0.05") -> None:
    """As `reproduce` does before it makes them."""
    variables = {"REPEATS": str(blocks), "SCALE": scale, "DURATION": "60s"}
    steps = steps_of(LOOM, load_paper(PUBLISHED, LOOM), [LOOM], variables, TWO_CPUS, lab).steps
    write_json(declared_file(results, LOOM), {step.name: step.declared for step in steps})


def test_claims_are_answered_at_the_numbers_of_blocks_that_were_declared(lab: Lab, results: Path) -> None:
    results.mkdir()

    def look(blocks: int, made: int, scale: str = "0.05") -> tuple[list[int], bool]:
        declare(lab, results, blocks, scale)
        for _ in range(made):
            summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE=scale, REPEATS="1", HTTP_CLIENT="reactor"))
        kept_in(results)
        (measured,) = read_measured(results / "measured", LOOM).values()
        return measured.declared, measured.early is not None

    assert look(1, made=1) == ([3], True)
    assert look(4, made=2) == ([4], True)
    assert look(3, made=0) == ([4], True)
    assert look(4, made=1) == ([4], False)
    assert look(6, made=0) == ([4, 6], True)
    assert look(6, made=2) == ([4, 6], False)
    assert look(9, made=6, scale="0.02") == ([9], True)
    assert look(2, made=0, scale="0.05") == ([9], True)


def test_blocks_that_are_spoilt_however_often_they_are_made_do_not_keep_claims_from_an_answer() -> None:
    def measured(*spoilt: bool) -> Measured:
        runs = [experiment_run("tomcat-virtual", repeat, 1.0, spoilt=one) for repeat, one in enumerate(spoilt, 1)]
        return Measured(paper=LOOM, step=LOOM, declared=[3], experiments=[kept_experiment(runs)])

    assert [measured(*[True] * 8).early is None, measured(*[True] * 9).early is None] == [False, True]
    assert measured(False, True, False, False).early is None


def test_experiments_of_one_demand_are_kept_together_and_of_others_those_with_the_most_blocks(
    lab: Lab, results: Path
) -> None:
    def made(scale: str, repeats: str = "1") -> None:
        summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE=scale, REPEATS=repeats))
        kept_in(results)

    made("0.05")
    made("0.02")
    assert scales(results) == ["0.02"]

    made("0.05")
    assert scales(results) == ["0.05", "0.05"]

    made("0.02", repeats="2")
    assert scales(results) == ["0.02", "0.02"]


def test_a_quick_look_does_not_replace_a_full_measurement_and_that_is_said(lab: Lab, results: Path) -> None:
    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05"))
    kept_in(results)
    quick = begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05", DURATION="10s", REPEATS="1", SEED="2")
    summed_up(quick)
    kept = keep(results, results / "measured", LOOM, load_paper(PUBLISHED, LOOM), SCENARIOS)

    (said,) = kept.others
    assert kept.changed == []
    assert f"of {quick.name} no block is kept, because it has 1 that count, and what is kept has 3" in said
    assert len(runs_of(results)) == 45


def test_blocks_that_the_host_spoilt_do_not_make_up_for_others(lab: Lab, results: Path) -> None:
    full = RuleResult(rule="much_stolen", outcome="failed", level="invalid", host_cause=True, reason="Stolen.")
    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05", REPEATS="2"))
    spoilt = {"verdict": "invalid", "rules": [full]}
    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.02"), lambda one: spoilt if one.request.repeat < 3 else {})
    kept_in(results)

    assert scales(results) == ["0.05"]


def test_the_picture_is_of_the_experiment_with_the_most_repeats(lab: Lab, results: Path) -> None:
    for repeats in ("2", "1"):
        folder = summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05", REPEATS=repeats, SEED=repeats))
        (folder / "published.svg").write_text(repeats)
    kept_in(results)

    kept = results / "measured" / LOOM / f"{LOOM}.svg"
    drawn_from = read_measured(results / "measured", LOOM)[LOOM].drawn_from
    assert (kept.read_text(), drawn_from) == ("2", "20260101T000000Z-" + LOOM)

    (results / str(drawn_from) / "published.svg").unlink()
    kept_in(results)
    assert kept.read_text() == "2"
    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.02", SEED="7"))
    kept_in(results)
    assert not kept.exists()


def test_a_scenario_that_the_host_cannot_hold_is_kept_with_the_reason_until_it_is_measured(
    lab: Lab, results: Path
) -> None:
    results.mkdir()
    write_json(left_out_file(results, LOOM), {LOOM: "It needs 40500 open files."})
    assert kept_in(results) == [LOOM]
    assert read_measured(results / "measured", LOOM)[LOOM].left_out == "It needs 40500 open files."

    left_out_file(results, LOOM).unlink()
    assert kept_in(results) == []
    summed_up(begun(lab, results, LOOM, NAME=LOOM))
    assert kept_in(results) == [LOOM]
    assert read_measured(results / "measured", LOOM)[LOOM].left_out is None


def test_what_the_host_can_hold_after_all_is_no_longer_told_as_left_out(results: Path) -> None:
    results.mkdir()
    write_json(left_out_file(results, LOOM), {LOOM: "It needs 40500 open files."})
    kept_in(results)
    write_json(left_out_file(results, LOOM), {})
    kept_in(results)

    assert read_measured(results / "measured", LOOM) == {}


def test_what_asks_for_it_again_is_kept(lab: Lab, results: Path) -> None:
    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05", GC="g1", WARMUP_CAP="90s"))
    kept_in(results)
    (measured,) = read_measured(results / "measured", LOOM).values()

    assert measured.experiments[0].asked == {
        "SCALE": "0.05", "DURATION": "60s", "WARMUP_CAP": "90s", "REPEATS": "3", "SEED": "1", "SIZE": "auto",
        "GC": "g1", "HTTP_CLIENT": "default",
    }  # fmt: skip


def test_what_is_kept_outlasts_its_folder_and_is_written_once(lab: Lab, results: Path) -> None:
    folder = summed_up(begun(lab, results, LOOM, NAME=LOOM))
    assert kept_in(results) == [LOOM]

    for path in sorted(folder.iterdir()):
        path.unlink()
    assert kept_in(results) == []
    assert len(runs_of(results)) == 45


def test_what_is_of_another_paper_unfinished_or_damaged_is_not_kept(lab: Lab, results: Path) -> None:
    begun(lab, results, LOOM, NAME=LOOM)
    summed_up(begun(lab, results, "loom-vs-webflux", NAME="loom-vs-webflux"))
    (results / "damaged").mkdir()
    (results / "damaged" / "order.json").write_text("{")

    assert kept_in(results) == []


def test_a_run_is_a_line_and_all_of_it_is_small(lab: Lab, results: Path) -> None:
    def figures(planned: PlannedRun) -> dict[str, Any]:
        return {"throughput_rps": 1000 / 3 + planned.block}

    summed_up(begun(lab, results, LOOM, NAME=LOOM), figures)
    kept_in(results)
    text = (results / "measured" / LOOM / f"{LOOM}.json").read_text()

    assert sum('"run":' in line for line in text.splitlines()) == 45
    assert len(text) < 62_000
    assert json.loads(text)["schema"] == "loom-lab/measured/v1"
