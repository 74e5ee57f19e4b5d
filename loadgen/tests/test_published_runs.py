"""The lab's papers, and the runs that answer them: from results/, and as the repository keeps them."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from loomlab.basics.errors import UsageError
from loomlab.cli import main
from loomlab.judge.rule import RULES
from loomlab.published.paper import Published, paper_names, published
from loomlab.published.runs import DERIVED, figure_of, keep, kept_runs, runs_in
from loomlab.records.models import Run
from loomlab.records.order import read_order
from ordered import SCENARIOS
from published import PUBLISHED, RATIO, VALUE, begun, paper_lab, run, run_of, small, summed_up

HEY, SPRING = "virtual-threads-hey", "project-loom-comparison-spring"
PAPERS = [published(PUBLISHED, name, SCENARIOS) for name in paper_names(PUBLISHED)]
each = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)


def is_figure(model: type[BaseModel], path: list[str]) -> bool:
    field = model.model_fields.get(path[0])
    if field is None or len(path) == 1:
        return field is not None
    kinds = (field.annotation, *getattr(field.annotation, "__args__", ()))
    return any(isinstance(kind, type) and issubclass(kind, BaseModel) and is_figure(kind, path[1:]) for kind in kinds)


@each
def test_claims_name_figures_rules_and_scenarios_that_there_are(paper: Published) -> None:
    rules, scenarios = {rule.name for rule in RULES}, {path.stem for path in SCENARIOS.glob("*.yaml")}
    for claim in paper.paper.claims:
        assert all(name in DERIVED or is_figure(Run, name.split(".")) for name in claim.figures)
        assert set(claim.despite) <= rules
        assert set(claim.scenarios) <= scenarios
    assert paper.scenarios


@each
def test_kept_runs_have_the_figures_of_the_claims(paper: Published) -> None:
    kept = kept_runs(PUBLISHED / "measured" / f"{paper.name}.csv")

    assert kept
    loads = {one.load for one in kept}
    assert set(paper.scenarios) <= loads
    for claim in paper.paper.claims:
        own = [one for one in kept if one.load in claim.scenarios and one.verdict != "invalid"]
        assert all(figure in one.figures for figure in claim.figures for one in own)


def test_an_unknown_paper_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=HEY):
        published(PUBLISHED, "virtual-thread-hey", SCENARIOS)


def test_published_figures_are_those_of_the_claims_sides() -> None:
    (paper,) = (one for one in PAPERS if one.name == "project-loom-comparison")
    faster = next(claim for claim in paper.paper.claims if claim.figures == ["throughput_rps"])
    memory = next(claim for claim in paper.paper.claims if claim.grows)

    assert paper.values(faster, "throughput_rps", "", 10_000)[0] == pytest.approx(1.37, abs=0.005)
    assert paper.values(memory, "vsz_max_bytes", "microhttp-platform", 20_000) == pytest.approx(
        [1024 * (32585860 - 11062040) / 19_000]
    )


def test_what_was_not_published_has_no_value(tmp_path: Path) -> None:
    file = tmp_path / "small.csv"
    rows = "tomcat-virtual,100,throughput_rps,1,30\ntomcat-virtual,100,throughput_rps,2,60\n"
    file.write_text(f"approach,level,figure,repeat,value\n{rows}tomcat-platform,100,throughput_rps,1,20\n")
    paper = small(file=file)
    (claim,), (value,) = paper.paper.claims, small(VALUE | {"below": 1}).paper.claims

    assert paper.values(claim, "throughput_rps", "", 100) == (1.5, 3)
    assert paper.values(value, "throughput_rps", "tomcat-virtual", 100) == (30, 60)
    assert paper.values(claim, "throughput_rps", "", 200) == ()
    of_jdks = RATIO | {"of": {"approach": "tomcat-virtual", "jdk": 21}}
    assert paper.values(small(of_jdks).paper.claims[0], "throughput_rps", "", 100) == ()


def test_runs_of_results_have_their_published_level_and_what_was_run(tmp_path: Path) -> None:
    lab, paper = paper_lab(tmp_path / "lab"), published(PUBLISHED, "spring-boot-edition", SCENARIOS)
    folder = summed_up(begun(lab, tmp_path / "results", "spring-boot-edition", NAME=SPRING, SCALE="0.01", REPEATS="1"))

    found = runs_in(tmp_path / "results", paper, SCENARIOS)

    assert {(one.level, one.amount) for one in found} == {(n, n / 100) for n in (1000, 5000, 10000, 15000, 20000)}
    assert {(one.experiment, one.load, one.verdict) for one in found} == {(folder.name, SPRING, "valid")}
    assert len(found) == 15
    assert found[0].figures["latency_ms.p50"] == 905
    assert found[0].date == "2026-01-01"


def test_experiments_of_others_and_without_a_summary_are_left_out(tmp_path: Path) -> None:
    lab, results = paper_lab(tmp_path / "lab"), tmp_path / "results"
    begun(lab, results, HEY, NAME=HEY)
    summed_up(begun(lab, results, "", NAME="smoketest"))

    assert runs_in(results, published(PUBLISHED, HEY, SCENARIOS), SCENARIOS) == []


def test_figures_that_run_json_does_not_have_are_derived(tmp_path: Path) -> None:
    folder = begun(paper_lab(tmp_path / "lab"), tmp_path / "results", HEY, NAME=HEY)
    told = run_of(read_order(folder).runs[0], errors=600, failures={"time-out": 400, "503": 200}, rate=2000.0)

    assert figure_of(told, "error_share", 1) == 0.01
    assert figure_of(told, "time_outs", 1) == 400
    assert figure_of(told, "rate_share", 1) == pytest.approx(59_400 / 60 / 2000)
    assert figure_of(told, "cpu_share", 2) == 25 / 50 / 2
    assert figure_of(told.model_copy(update={"failures": {}}), "time_outs", 1) is None
    assert figure_of(told.model_copy(update={"cpu_seconds": None}), "cpu_share", 2) is None


def test_what_is_kept_is_read_again_as_it_was(tmp_path: Path) -> None:
    runs = [run("tomcat-virtual", 1, 10), run("tomcat-platform", 1, 20, figures={"time_outs": 3}, failed="gc_heavy")]

    keep(tmp_path / "measured" / "small.csv", runs)

    assert kept_runs(tmp_path / "measured" / "small.csv") == runs
    assert kept_runs(tmp_path / "none.csv") == []


def test_newer_runs_replace_those_of_their_load(tmp_path: Path) -> None:
    lab, results = paper_lab(tmp_path / "lab"), tmp_path / "results"
    path = lab.papers / "measured" / f"{HEY}.csv"
    other = run("tomcat-virtual", 1, 1, load="ab /pinned jdk21")
    keep(path, [run("tomcat-virtual", 1, 1, load=HEY), other])
    summed_up(begun(lab, results, HEY, NAME=HEY))

    with pytest.raises(SystemExit) as exit_:
        main(["keep-published", HEY, "--papers-dir", str(lab.papers), "--scenarios-dir", str(SCENARIOS),
              "--results", str(results)])  # fmt: skip

    assert exit_.value.code == 0
    kept = kept_runs(path)
    assert [one.load for one in kept] == [other.load, *([HEY] * 12)]
    assert {one.experiment[:8] for one in kept[1:]} == {"20260101"}
