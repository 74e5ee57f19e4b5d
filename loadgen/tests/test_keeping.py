"""What is kept of a paper's experiments: small, in the lab's names, by published level, of one demand."""

import json
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.papers.keeping import keep
from loomlab.answer.papers.library import load_paper
from loomlab.answer.papers.measured import KeptRun, read_measured
from loomlab.plan.lab import Lab
from loomlab.records.models import RuleResult
from loomlab.records.order import PlannedRun
from measured_folder import PUBLISHED, begun, paper_lab, summed_up
from ordered import SCENARIOS

LOOM = "project-loom-comparison"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return paper_lab(tmp_path / "lab")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def kept_in(results: Path, paper: str = LOOM) -> list[str]:
    return keep(results, results / "measured", paper, load_paper(PUBLISHED, paper), SCENARIOS)


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


def test_experiments_of_one_demand_are_kept_together_and_others_give_way_to_the_newest(lab: Lab, results: Path) -> None:
    for scale in ("0.05", "0.05", "0.02"):
        summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE=scale, REPEATS="1"))
    kept_in(results)
    (measured,) = read_measured(results / "measured", LOOM).values()
    assert [one.scale for one in measured.experiments] == [0.02]

    summed_up(begun(lab, results, LOOM, NAME=LOOM, SCALE="0.05", REPEATS="1"))
    kept_in(results)
    (measured,) = read_measured(results / "measured", LOOM).values()
    assert [one.started[:10] for one in measured.experiments] == ["2026-01-01", "2026-01-02", "2026-01-04"]


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
    assert len(text) < 60_000
    assert json.loads(text)["schema"] == "loom-lab/measured/v1"
