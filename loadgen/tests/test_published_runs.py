"""The lab's papers, and the runs that answer them: from results/, and as the repository keeps them."""

from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from loomlab.cli import main
from loomlab.judge.verdict import RULES
from loomlab.published.paper import Paper, keep, read_paper, read_papers
from loomlab.published.runs import figures_of, runs_in
from loomlab.records.order import read_order
from ordered import APPROACHES, SCENARIOS
from published import HEY, PUBLISHED, RATIO, SPRING, VALUE, begun, paper_lab, run, run_of, small

FIGURE = "throughput_rps"


@pytest.mark.parametrize("paper", read_papers(PUBLISHED), ids=lambda paper: paper.name)
def test_papers_name_what_there_is_and_every_load_was_measured(paper: Paper) -> None:
    files = SCENARIOS.glob("*.yaml")
    assert {*paper.scenarios} == {file.stem for file in files if f"experiment: {paper.name}\n" in file.read_text()}
    assert {*paper.scenarios} <= {one.load for one in paper.kept}
    for claim in paper.claims:
        own = [one for one in paper.kept if one.load in (claim.loads or paper.scenarios)]
        assert {*claim.loads} <= {one.load for one in own}
        assert all(figure in one.figures for figure in claim.figures for one in own if one.verdict != "invalid")
        assert {side.partition(" on JDK ")[0] for side in [*claim.of, *([claim.to] if claim.to else [])]} <= {
            *APPROACHES
        }
        assert {*claim.despite} <= {rule.name for rule in RULES}


def test_an_unknown_paper_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=HEY):
        read_paper(PUBLISHED, "virtual-thread-hey")


def test_published_figures_are_those_of_the_claims_sides() -> None:
    paper = read_paper(PUBLISHED, "project-loom-comparison")
    faster = next(claim for claim in paper.claims if claim.figures == [FIGURE])
    memory = next(claim for claim in paper.claims if claim.from_level and not claim.to)

    ratio = paper.values(faster, FIGURE, faster.sides("microhttp-virtual", 10_000))
    growth = paper.values(memory, "vsz_max_bytes", memory.sides("microhttp-platform", 20_000))
    assert ratio == pytest.approx([1.37], abs=0.005)
    assert growth == pytest.approx([1024 * (32585860 - 11062040) / 19_000])


def test_what_was_published_once_is_held_against_each_and_what_was_not_has_no_value() -> None:
    figures = {(FIGURE, "tomcat-virtual", 100): [30, 60], (FIGURE, "tomcat-platform", 100): [20]}
    paper = small(RATIO, VALUE, figures=figures)
    ratio, value = paper.claims

    assert paper.values(ratio, FIGURE, ratio.sides("tomcat-virtual", 100)) == (1.5, 3)
    assert paper.values(value, FIGURE, value.sides("tomcat-virtual", 100)) == (30, 60)
    assert paper.values(ratio, FIGURE, ratio.sides("tomcat-virtual", 200)) == ()
    assert paper.values(ratio, FIGURE, ratio.sides("tomcat-virtual on JDK 21", 100)) == ()


def test_runs_of_results_have_their_published_level_and_what_was_run(tmp_path: Path) -> None:
    lab, results, paper = paper_lab(tmp_path / "lab"), tmp_path / "results", read_paper(PUBLISHED, SPRING)
    of_paper = {"PAPER": SPRING, "NAME": "project-loom-comparison-spring", "SCALE": "0.01", "REPEATS": "1"}
    folder = begun(lab, results, **of_paper)
    begun(lab, results, "planned", **of_paper)
    begun(lab, results, PAPER="", NAME="smoketest")

    runs = runs_in(results, paper, SCENARIOS)
    assert {(one.level, one.amount) for one in runs} == {(n, n / 100) for n in (1000, 5000, 10000, 15000, 20000)}
    assert {(one.experiment, one.load) for one in runs} == {(folder.name, of_paper["NAME"])}
    assert len(runs) == 15
    assert runs[0].figures["latency_ms.p50"] > 0


def test_figures_that_run_json_does_not_have_are_derived(tmp_path: Path) -> None:
    planned = read_order(begun(paper_lab(tmp_path / "lab"), tmp_path / "results")).runs[0]
    counts = {"requests": 60_000, "errors": 600, "failures": {"time-out": 300, "503": 300}}
    measured = run_of(planned, **counts, duration_s=60.0, rate=2000.0, cpu_seconds=25.0)
    shares = {"error_share": 0.01, "time_outs": 300, "time_out_share": 0.005, "rate_share": 0.495}
    assert measured.interior

    assert figures_of(measured, shares, 1) == shares
    cpu_share = 25 / measured.interior.seconds / 2
    assert figures_of(measured, ["cpu_share"], 2) == pytest.approx({"cpu_share": cpu_share}, rel=1e-5)
    unknown = measured.model_copy(update={"failures": {}, "cpu_seconds": None})
    assert figures_of(unknown, ["cpu_share", "time_outs", "latency_ms.p50.no", "nothing"], 2) == {}


def test_kept_runs_are_read_as_they_were_and_replaced_by_newer_ones_of_their_load(tmp_path: Path) -> None:
    lab, results = paper_lab(tmp_path / "lab"), tmp_path / "results"
    pinned = run("tomcat-virtual", 1, 1, load="ab /pinned", figures={"error_share": 0.5}, failed="gc_heavy")
    old = [pinned, run("tomcat-virtual", 1, 1, load=HEY)]
    keep(lab.papers, HEY, old)
    assert read_paper(lab.papers, HEY).kept == old

    folder = begun(lab, results)
    with pytest.raises(SystemExit) as exit_:
        main(["keep-published", HEY, "--loadgen", str(lab.papers.parent), "--results", str(results)])
    assert exit_.value.code == 0
    first, *kept = read_paper(lab.papers, HEY).kept
    assert first == pinned
    assert [(one.load, one.experiment) for one in kept] == [(HEY, folder.name)] * 12
