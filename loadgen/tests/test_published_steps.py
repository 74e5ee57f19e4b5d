"""Which experiments answer a paper, which of them are still to be made, and the page that tells the answers."""

from pathlib import Path

import pytest

from loomlab.basics.errors import HostError
from loomlab.cli import main
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.published.page import Reproduced, page_of, reproduced, told_of
from loomlab.published.paper import published
from loomlab.published.steps import Plan, plan_of
from ordered import SCENARIOS, TWO_CPUS
from published import FAST, PUBLISHED, RATIO, SLOW, VALUE, answered, begun, blocks, paper_lab, small

HEY = "virtual-threads-hey"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    (tmp_path / "results").mkdir()
    return paper_lab(tmp_path / "lab")


def results_of(lab: Lab) -> Path:
    return lab.root.parent / "results"


def planned(lab: Lab, name: str, host: Host = TWO_CPUS, **variables: str) -> Plan:
    return plan_of(published(lab.papers, name, SCENARIOS), variables, results_of(lab), host, lab)


def settings(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split()[1:])


def test_a_papers_scenarios_run_for_a_minute_in_three_blocks_at_its_own_scale(lab: Lab) -> None:
    plan = planned(lab, "loom-webflux-benchmarks")

    steps = {settings(line)["NAME"]: settings(line) for line in plan.lines}
    assert len(steps) == len(plan.lines) == 8
    assert {(one["DURATION"], one["PAPER"]) for one in steps.values()} == {("60s", "loom-webflux-benchmarks")}
    assert {name: one["REPEATS"] for name, one in steps.items() if one["REPEATS"] != "3"} == {"smoketest": "1"}
    assert steps["25k-vus-smooth-spike-get-movies"]["SCALE"] == "0.38"
    assert steps["5k-vus-and-rps-get-time"]["SCALE"] == "auto"
    assert plan.minutes > 60


def test_what_the_user_asks_for_goes_before_what_the_paper_says(lab: Lab) -> None:
    (line,) = planned(lab, HEY, SCALE="0.5", DURATION="30s", REPEATS="7", PLAN="1").lines

    assert settings(line) == {
        "PAPER": HEY, "NAME": HEY, "SCALE": "0.5", "DURATION": "30s", "REPEATS": "7",
    }  # fmt: skip


def test_loads_that_no_scenario_has_are_run_once_for_each_jdk(lab: Lab) -> None:
    lines = [line for line in planned(lab, "spring-boot-edition", SCALE="0.1").lines if not line.startswith("scenario")]

    assert [(settings(line)["ENDPOINT"], settings(line)["JDK"]) for line in lines] == [
        ("/capabilities", "21"), ("/capabilities", "25"), ("/pinned", "21"), ("/pinned", "25"),
    ]  # fmt: skip
    assert all(line.startswith("run-ab ") and "SCALE" not in settings(line) for line in lines)
    assert {settings(line)["HTTP_CLIENT"] for line in lines} == {"reactor"}


def test_blocks_that_are_made_are_not_made_again(lab: Lab) -> None:
    begun(lab, results_of(lab), HEY, NAME=HEY, REPEATS="2")
    (line,) = planned(lab, HEY).lines
    assert settings(line)["REPEATS"] == "1"

    begun(lab, results_of(lab), HEY, NAME=HEY, REPEATS="1", SEED="7")
    assert planned(lab, HEY).lines == []


@pytest.mark.parametrize("other", [{"DURATION": "30s"}, {"SCALE": "0.5"}, {"GC": "g1"}, {"PAPER": ""}])
def test_blocks_of_another_demand_are_made(lab: Lab, other: dict[str, str]) -> None:
    begun(lab, results_of(lab), HEY, **({"NAME": HEY} | other))

    (line,) = planned(lab, HEY).lines
    assert settings(line)["REPEATS"] == "3"


def test_what_was_cut_off_goes_on_first(lab: Lab) -> None:
    folder = begun(lab, results_of(lab), HEY, "planned", NAME=HEY, REPEATS="2")

    first, second = planned(lab, HEY).lines
    assert first == f"finish RESUME={folder.name}"
    assert settings(second)["REPEATS"] == "1"


@pytest.mark.parametrize("name", ["my experiment", "x BASH_ENV=results", "x\nBASH_ENV=results"])
def test_a_folder_whose_name_is_no_word_gives_the_shell_no_line(lab: Lab, name: str) -> None:
    begun(lab, results_of(lab), HEY, "planned", NAME=HEY).rename(results_of(lab) / name)

    assert [line.split()[0] for line in planned(lab, HEY).lines] == ["scenario"]


def test_a_host_that_holds_nothing_is_told_why(lab: Lab) -> None:
    small_host = TWO_CPUS.model_copy(update={"open_files": 60})

    with pytest.raises(HostError):
        planned(lab, HEY, small_host)


def test_commands_print_the_plan_the_claims_and_the_papers(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    folders = ["--scenarios-dir", str(SCENARIOS), "--results", str(results_of(lab))]
    for words in (
        ["reproduce", HEY, "--lab-dir", str(lab.root), *folders],
        ["claims", HEY, "--papers-dir", str(PUBLISHED), *folders],
        ["papers", "--papers-dir", str(PUBLISHED), "--scenarios-dir", str(SCENARIOS)],
    ):
        with pytest.raises(SystemExit) as exit_:
            main(words)
        assert exit_.value.code == 0
        assert HEY in (told := capsys.readouterr().out) or "it was not run" in told


def test_the_page_has_a_row_for_each_claim_and_few_words() -> None:
    papers = reproduced(PUBLISHED, SCENARIOS)
    page = page_of(papers)

    assert len(page.split()) <= 2500
    for paper in papers:
        for claim in paper.published.paper.claims:
            assert page.count(f"| {claim.says} |") == 1


@pytest.mark.parametrize(
    ("claim", "here"),
    [
        (RATIO, "throughput_rps of tomcat-virtual ÷ tomcat-platform at 100 [50]: 1.1"),
        (VALUE | {"below": 2000}, "throughput_rps at 100 [50]: 1,133 requests/s (967.9 to 1,299)"),
        (VALUE | {"figures": ["latency_ms.mean"], "below": 2000}, "mean at 100 [50]: 1,800 ms"),
    ],
)
def test_a_row_tells_the_figure_the_load_and_the_interval(claim: dict[str, object], here: str) -> None:
    assert told_of(answered(blocks(FAST, SLOW), claim)) == ("", here)


def test_a_paper_without_runs_says_so() -> None:
    assert "Nothing was measured" in page_of([Reproduced(small(), [])])
