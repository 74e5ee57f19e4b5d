"""Which experiments answer a paper, and which of them are still to be made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.papers import commands
from loomlab.answer.papers.keeping import declared_file, found_of, keep, left_out_file
from loomlab.answer.papers.library import listed, load_paper
from loomlab.answer.papers.measured import demand_of, read_measured
from loomlab.answer.papers.steps import Plan, plan_of, steps_of, take
from loomlab.basics.errors import UsageError
from loomlab.cli import main
from loomlab.plan.asked import asked_of
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.plan.planning import plan
from loomlab.records.files import write_json
from loomlab.records.models import RuleResult, Summary
from loomlab.records.order import Order, PlannedRun, State, order_file, read_order
from measured_folder import PUBLISHED, begun, paper_lab, summed_up
from ordered import SCENARIOS, STAMP, TWO_CPUS

HEY = "virtual-threads-hey"
OWN = {one.name: one.scenarios for one in listed(PUBLISHED, SCENARIOS)}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    made = paper_lab(tmp_path / "lab")
    (tmp_path / "results").mkdir()
    return made


def planned(lab: Lab, name: str, host: Host = TWO_CPUS, **variables: str) -> Plan:
    paper, results = load_paper(PUBLISHED, name), results_of(lab)
    known = read_measured(results / "measured", name)
    steps = steps_of(name, paper, OWN[name], variables, host, lab)
    return plan_of(steps, results, found_of(results, known, name, paper, SCENARIOS), host, lab)


def taken(lab: Lab, folder: str, name: str = HEY, **variables: str) -> str | None:
    steps = steps_of(name, load_paper(PUBLISHED, name), OWN[name], variables, TWO_CPUS, lab)
    return take(results_of(lab), folder, name, steps.steps)


def experiment(lab: Lab, state: State, repeats: int) -> Path:
    return begun(lab, results_of(lab), HEY, state, NAME=HEY, REPEATS=str(repeats))


def results_of(lab: Lab) -> Path:
    return lab.papers.parent.parent.parent / "results"


def kept(lab: Lab, folder: Path, figures: Callable[[PlannedRun], dict[str, Any]] = lambda _: {}) -> None:
    summed_up(folder, figures)
    results = results_of(lab)
    keep(results, results / "measured", HEY, load_paper(PUBLISHED, HEY), SCENARIOS)


def exit_of(lab: Lab, name: str, *options: str) -> int | str | None:
    """Of the command."""
    folders = ("--lab-dir", str(lab.root), "--scenarios-dir", str(SCENARIOS), "--results", str(results_of(lab)))
    with pytest.raises(SystemExit) as exit_:
        main(["reproduce", name, *folders, *options])
    return exit_.value.code


def words(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split()[1:])


def test_a_papers_scenarios_run_at_the_hosts_scale_for_a_minute_in_three_blocks(lab: Lab) -> None:
    lines = planned(lab, "loom-webflux-benchmarks").lines

    assert {line.split()[0] for line in lines} == {"scenario"}
    assert len(lines) == 8
    assert {words(line)["DURATION"] for line in lines} == {"60s"}
    assert {words(line)["SCALE"] for line in lines if "rps" in words(line)["NAME"]} == {"auto"}
    blocks = {words(line)["NAME"]: words(line)["REPEATS"] for line in lines}
    assert blocks.pop("smoketest") == "1"
    assert set(blocks.values()) == {"3"}


def test_what_the_user_asks_for_comes_before_that(lab: Lab) -> None:
    (line,) = planned(
        lab, "loom-vs-webflux", SCALE="0.05", DURATION="30s", REPEATS="5", WARMUP_CAP="60s", HOME="/"
    ).lines

    assert "HOME" not in words(line)
    wanted = {"SCALE": "0.05", "DURATION": "30s", "REPEATS": "5", "WARMUP_CAP": "60s", "PAPER": "loom-vs-webflux"}
    assert wanted.items() <= words(line).items()


def test_two_jdks_alternate_block_by_block(lab: Lab) -> None:
    lines = [line for line in planned(lab, "spring-boot-edition").lines if line.startswith("ab ")]

    jdks = [(words(line)["ENDPOINT"], words(line)["JDK"]) for line in lines]
    assert jdks == [("/capabilities", "21"), ("/capabilities", "25")] * 3 + [("/pinned", "21"), ("/pinned", "25")] * 3
    assert {words(line)["REPEATS"] for line in lines} == {"1"}
    assert {words(line)["APPROACH"] for line in lines} == {"tomcat-virtual"}


@pytest.mark.parametrize("name", ["APPROACH", "JDK", "ENDPOINT"])
def test_what_a_paper_says_itself_is_refused(lab: Lab, name: str) -> None:
    with pytest.raises(UsageError, match=f"^{name}=x does not go with PAPER={HEY}"):
        planned(lab, HEY, TWO_CPUS, **{name: "x"})


def test_a_level_that_the_host_cannot_hold_is_left_out_and_told(lab: Lab) -> None:
    small = TWO_CPUS.model_copy(update={"open_files": 12_000})
    found = planned(lab, "project-loom-comparison", small, SCALE="1")

    assert len(found.lines) == 1
    assert ["15000 connections" in found.notes[0], "20000 connections" in found.notes[1]] == [True, True]
    assert all("open files" in one and "SCALE=auto" in one for one in found.notes)


def test_a_scenario_that_the_host_cannot_hold_is_left_out_and_the_others_are_not(lab: Lab) -> None:
    found = planned(lab, "loom-webflux-benchmarks", SCALE="1")

    assert "60k-vus-smooth-spike-get-post-movies is left out" in " ".join(found.notes)
    assert {words(line)["NAME"] for line in found.lines} >= {"smoketest", "10k-vus-and-rps-get-movies"}


def test_a_host_that_holds_no_level_is_refused_and_what_it_cannot_hold_is_left_for_the_page(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = TWO_CPUS.model_copy(update={"open_files": 600})
    monkeypatch.setattr(commands, "this_host", lambda _: small)
    monkeypatch.setenv("SCALE", "1")
    assert exit_of(lab, "loom-vs-webflux") == 3

    assert "open files" in capsys.readouterr().err
    assert list(json.loads(left_out_file(results_of(lab), "loom-vs-webflux").read_text())) == ["loom-vs-webflux"]


def test_blocks_that_are_kept_are_not_made_again(lab: Lab) -> None:
    assert words(planned(lab, HEY).lines[0])["REPEATS"] == "3"

    kept(lab, experiment(lab, "judged", repeats=2))
    assert words(planned(lab, HEY).lines[0])["REPEATS"] == "1"

    kept(lab, experiment(lab, "judged", repeats=1))
    assert [line for line in planned(lab, HEY).lines if line.startswith("scenario")] == []


def spoilt_in(*repeats: int) -> Callable[[PlannedRun], dict[str, Any]]:
    """One run of each of these."""
    full = RuleResult(rule="much_stolen", outcome="failed", level="invalid", host_cause=True, reason="Stolen.")
    told = {"verdict": "invalid", "rules": [full]}
    return lambda one: told if one.request.repeat in repeats and one.request.approach == "webflux-netty" else {}


def test_blocks_that_the_host_spoilt_are_made_again(lab: Lab) -> None:
    kept(lab, experiment(lab, "judged", repeats=3), spoilt_in(2))

    assert words(planned(lab, HEY).lines[0])["REPEATS"] == "1"


def test_blocks_that_the_host_always_spoils_are_not_made_for_ever(lab: Lab) -> None:
    kept(lab, experiment(lab, "judged", repeats=8), spoilt_in(*range(1, 9)))
    assert words(planned(lab, HEY).lines[0])["REPEATS"] == "1"

    kept(lab, experiment(lab, "judged", repeats=1), spoilt_in(1))
    found = planned(lab, HEY)
    assert found.lines == []
    assert "the host spoilt runs of all blocks but 0 of 9" in found.notes[0]


def test_blocks_of_fewer_than_what_is_kept_are_counted_from_results(lab: Lab) -> None:
    kept(lab, experiment(lab, "judged", repeats=3))
    kept(lab, begun(lab, results_of(lab), HEY, "judged", NAME=HEY, REPEATS="2", WARMUP_CAP="5s"))

    assert words(planned(lab, HEY, WARMUP_CAP="5s").lines[0])["REPEATS"] == "1"


def test_blocks_of_another_host_or_load_do_not_count(lab: Lab) -> None:
    kept(lab, experiment(lab, "judged", repeats=3))

    four = TWO_CPUS.model_copy(update={"cpus": 4, "cpu_order": [0, 1, 2, 3]})
    assert words(planned(lab, HEY, four).lines[0])["REPEATS"] == "3"
    assert words(planned(lab, HEY, WARMUP_CAP="5s").lines[0])["REPEATS"] == "3"


def test_what_was_cut_off_goes_on_first(lab: Lab) -> None:
    folder = experiment(lab, "planned", repeats=2)

    lines = planned(lab, HEY).lines
    assert lines[0] == f"finish RESUME={folder.name}"
    assert words(lines[1])["REPEATS"] == "1"


def test_whole_blocks_of_what_was_cut_off_count_once(lab: Lab) -> None:
    folder = experiment(lab, "judged", repeats=2)
    order = read_order(folder)
    write_json(order_file(folder), order.model_copy(update={"runs": [*order.runs[:-1], cut_off(order.runs[-1])]}))
    kept(lab, folder)
    summary = Summary.model_validate_json((folder / "summary.json").read_text())
    write_json(folder / "summary.json", summary.model_copy(update={"runs": summary.runs[:-1]}))

    lines = planned(lab, HEY).lines
    assert lines[0] == f"finish RESUME={folder.name}"
    assert [words(line)["REPEATS"] for line in lines[1:]] == ["1"]


def cut_off(run: PlannedRun) -> PlannedRun:
    return run.model_copy(update={"state": "planned"})


def test_a_paper_has_a_scale_of_its_own_for_each_cpu_of_the_approach_and_the_user_another(lab: Lab) -> None:
    def scale(host: Host = TWO_CPUS, **variables: str) -> str:
        return words(planned(lab, "project-loom-comparison", host, **variables).lines[0])["SCALE"]

    eight = {"cpus": 8, "cpu_order": [*range(8)], "memory_mb": 64_000, "open_files": 65_536}
    assert scale() == "0.3"
    assert scale(TWO_CPUS.model_copy(update=eight)) == "1"
    assert scale(SCALE="0.05") == "0.05"
    assert words(planned(lab, "loom-vs-webflux").lines[0])["SCALE"] == "auto"


def test_a_paper_has_settings_of_its_own_and_the_user_others(lab: Lab) -> None:
    def clients(name: str, **variables: str) -> set[str | None]:
        return {words(line).get("HTTP_CLIENT") for line in planned(lab, name, TWO_CPUS, **variables).lines}

    assert clients("spring-boot-edition") == {"reactor"}
    assert clients("spring-boot-edition", HTTP_CLIENT="default") == {"default"}
    assert clients("loom-vs-webflux") == {None}


def test_the_time_follows_the_scale(lab: Lab) -> None:
    short = planned(lab, "project-loom-comparison").seconds

    assert short < planned(lab, "project-loom-comparison", SCALE="0.5", WARMUP_CAP="600s").seconds


def test_loads_of_claims_alone_last_as_long_as_the_others(lab: Lab) -> None:
    lines = [line for line in planned(lab, "spring-boot-edition").lines if line.startswith("ab ")]

    assert {words(line)["DURATION"] for line in lines} == {"60s"}


def test_what_was_begun_with_another_lab_is_begun_anew(lab: Lab) -> None:
    experiment(lab, "planned", repeats=2)
    (lab.root / "services").mkdir()
    (lab.root / "services" / "pom.xml").write_text("<project/>")

    lines = planned(Lab(lab.root, lab.scenarios), HEY).lines

    assert words(lines[0])["REPEATS"] == "3"
    assert not [line for line in lines if "RESUME" in line]


@pytest.mark.parametrize(
    "path",
    [
        "services/core/src/test/java/CpuWorkTest.java",
        "services/contract-tests/src/main/java/ApproachContract.java",
        "loadgen/src/loomlab/report/charts.py",
        "loadgen/tests/test_lab.py",
    ],
)
def test_what_changes_no_run_is_no_other_lab(lab: Lab, path: str) -> None:
    before = lab.checksum
    (lab.root / path).parent.mkdir(parents=True)
    (lab.root / path).write_text("changed")

    assert Lab(lab.root, lab.scenarios).checksum == before


def test_an_experiment_of_another_paper_is_not_taken_in(lab: Lab) -> None:
    name = experiment(lab, "judged", repeats=1).name

    with pytest.raises(
        UsageError, match=f"RESUME={name} is of the paper {HEY}, not of loom-vs-webflux: use PAPER={HEY}"
    ):
        taken(lab, name, "loom-vs-webflux")
    with pytest.raises(UsageError, match="RESUME=nowhere is no folder"):
        taken(lab, "nowhere")


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"SCALE": "0.5"}, "has SCALE=0.5 and not 1, so that its runs are no blocks of"),
        ({"GC": "g1"}, "has another load, or other settings, so that its runs are no blocks of"),
    ],
)
def test_an_experiment_that_asks_for_something_else_is_not_taken_in(
    lab: Lab, variables: dict[str, str], said: str
) -> None:
    folder = begun(lab, results_of(lab), HEY, "judged", NAME=HEY, **variables)

    with pytest.raises(UsageError, match=f"^RESUME={folder.name} {said}"):
        taken(lab, folder.name)
    assert taken(lab, folder.name, **variables) is None


def test_an_experiment_that_was_made_by_itself_is_taken_in(lab: Lab) -> None:
    folder = experiment(lab, "planned", repeats=1)
    order = Order.model_validate(json.loads(order_file(folder).read_text()))
    write_json(order_file(folder), order.model_copy(update={"paper": None}))

    assert taken(lab, folder.name) == f"finish RESUME={folder.name}"
    assert Order.model_validate(json.loads(order_file(folder).read_text())).paper == HEY


def test_a_demand_does_not_depend_on_the_seed_the_repeats_or_the_time(lab: Lab) -> None:
    def demand(**variables: str) -> str:
        told = {"NAME": HEY, "PAPER": HEY} | variables
        return demand_of(plan(asked_of("scenario", told, lab), TWO_CPUS, lab, STAMP))

    assert demand(SEED="1", REPEATS="1") == demand(SEED="2", REPEATS="3")


def test_runs_of_different_sources_of_the_lab_are_not_taken_together(lab: Lab) -> None:
    order = plan(asked_of("scenario", {"NAME": HEY, "PAPER": HEY, "SEED": "1"}, lab), TWO_CPUS, lab, STAMP)

    assert demand_of(order) != demand_of(order.model_copy(update={"lab_sha256": "0" * 64}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("GC", "g1"), ("STYLE", "idiomatic"), ("ERROR_SHARE", "0.1"), ("SAVE_MOVIES", "true"), ("PLATFORM_THREADS", "50")],
)
def test_runs_that_were_asked_for_otherwise_are_not_taken_together(lab: Lab, name: str, value: str) -> None:
    def demand(**variables: str) -> str:
        told = {"NAME": "loom-vs-webflux", "SCALE": "auto", "APPROACH": "tomcat-virtual"} | variables
        return demand_of(plan(asked_of("scenario", told, lab), TWO_CPUS, lab, STAMP))

    assert demand() != demand(**{name: value})


def test_the_shell_is_told_every_block_that_is_missing(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER", "spring-boot-edition")
    assert not exit_of(lab, "spring-boot-edition")

    said = capsys.readouterr()
    assert [line.split()[0] for line in said.out.splitlines()] == ["scenario"] + ["ab"] * 12
    assert said.err.startswith("spring-boot-edition: 13 experiments, about ")
    declared = json.loads(declared_file(results_of(lab), "spring-boot-edition").read_text())
    assert len(declared) == 5
    assert {one["blocks"] for one in declared.values()} == {3}


def test_a_reader_is_told_the_plan_and_nothing_is_written(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAN", "1")
    assert not exit_of(lab, "virtual-threads-hey", "--tell")

    said = capsys.readouterr()
    assert said.err.startswith("virtual-threads-hey: 1 experiment, about ")
    assert "PLAN" not in said.out
    assert not left_out_file(results_of(lab), HEY).exists()
    assert not declared_file(results_of(lab), HEY).exists()
