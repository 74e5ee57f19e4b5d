"""Which experiments of a paper are still to be made, and what is told of its claims."""

from pathlib import Path

import pytest

from loomlab.basics.errors import HostError
from loomlab.cli import main
from loomlab.plan.host import Host
from loomlab.plan.lab import Lab
from loomlab.published.page import page_of, row_of
from loomlab.published.paper import read_paper, read_papers
from loomlab.published.steps import missing_steps
from ordered import TWO_CPUS
from published import FAST, HEY, PUBLISHED, RATIO, SLOW, SPRING, VALUE, answered, begun, blocks, paper_lab, small

K6 = "loom-webflux-benchmarks"
LARGE = Host(cpus=8, memory_mb=64_000, open_files=500_000, cpu_order=[*range(8)], free_mb=100_000)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    (tmp_path / "results").mkdir()
    return paper_lab(tmp_path / "lab")


def results_of(lab: Lab) -> Path:
    return lab.root.parent / "results"


def missing(lab: Lab, name: str = HEY, host: Host = TWO_CPUS, **given: str) -> list[tuple[str, dict[str, str]]]:
    """Verb and settings of each."""
    lines, _ = missing_steps(read_paper(lab.papers, name), given, results_of(lab), host, lab)
    return [(line.split()[0], dict(word.split("=", 1) for word in line.split()[1:])) for line in lines]


def test_a_papers_experiments_last_a_minute_in_three_blocks(lab: Lab) -> None:
    steps = {settings["NAME"]: settings for _, settings in missing(lab, K6)}

    assert [*steps] == read_paper(lab.papers, K6).scenarios
    assert {(one["DURATION"], one["PAPER"]) for one in steps.values()} == {("60s", K6)}
    assert {name: one["REPEATS"] for name, one in steps.items() if one["REPEATS"] != "3"} == {"smoketest": "1"}


@pytest.mark.parametrize(("host", "scales"), [(TWO_CPUS, ["0.38", "0.16", "auto"]), (LARGE, ["1", "0.64", "auto"])])
def test_a_papers_scale_grows_with_the_cpus_up_to_the_whole(lab: Lab, host: Host, scales: list[str]) -> None:
    steps = {settings["NAME"]: settings for _, settings in missing(lab, K6, host)}

    names = ("25k-vus-smooth-spike-get-movies", "60k-vus-smooth-spike-get-post-movies", "5k-vus-and-rps-get-time")
    assert [steps[name]["SCALE"] for name in names] == scales


def test_what_the_user_asks_for_goes_before_what_the_paper_says(lab: Lab) -> None:
    asked = {"DURATION": "30s", "REPEATS": "7", "HTTP_CLIENT": "jdk"}
    scenario, *others = missing(lab, SPRING, SCALE="0.1", PLAN="1", **asked)

    of_scenario = {"PAPER": SPRING, "NAME": "project-loom-comparison-spring", "SCALE": "0.1"}
    assert scenario == ("scenario", asked | of_scenario)
    of_load = {"PAPER": SPRING, "APPROACH": "tomcat-virtual", "CONCURRENCY": "50", "ENDPOINT": "/pinned", "JDK": "25"}
    assert others[-1] == ("run-ab", asked | of_load)


def test_blocks_that_are_made_are_not_made_again(lab: Lab) -> None:
    begun(lab, results_of(lab), REPEATS="2")
    assert [settings["REPEATS"] for _, settings in missing(lab)] == ["1"]

    begun(lab, results_of(lab), REPEATS="1", SEED="7")
    assert missing(lab) == []


@pytest.mark.parametrize("other", [{"DURATION": "30s"}, {"SCALE": "0.5"}, {"GC": "g1"}, {"PAPER": ""}])
def test_blocks_of_another_demand_are_made(lab: Lab, other: dict[str, str]) -> None:
    begun(lab, results_of(lab), **other)

    assert [settings["REPEATS"] for _, settings in missing(lab)] == ["3"]


def test_what_was_cut_off_goes_on_first(lab: Lab) -> None:
    folder = begun(lab, results_of(lab), "planned", REPEATS="2")

    first, (verb, settings) = missing(lab)
    assert first == ("finish", {"RESUME": folder.name})
    assert (verb, settings["REPEATS"]) == ("scenario", "1")


@pytest.mark.parametrize("name", ["my experiment", "x BASH_ENV=results", "x\nBASH_ENV=results"])
def test_a_folder_whose_name_is_no_word_gives_the_shell_no_line(lab: Lab, name: str) -> None:
    begun(lab, results_of(lab), "planned").rename(results_of(lab) / name)

    assert [verb for verb, _ in missing(lab)] == ["scenario"]


def test_what_a_host_cannot_hold_is_told(lab: Lab) -> None:
    few, none = (TWO_CPUS.model_copy(update={"open_files": files}) for files in (1500, 60))
    paper = read_paper(lab.papers, SPRING)

    lines, sentences = missing_steps(paper, {}, results_of(lab), few, lab)
    assert sum(sentence.startswith("note: run-ab is left out: CONCURRENCY=1000") for sentence in sentences) == 2
    assert sentences[-1].startswith(f"{SPRING}: {len(lines)} experiments, about ")
    with pytest.raises(HostError, match="is left out"):
        missing_steps(paper, {}, results_of(lab), none, lab)


@pytest.mark.parametrize(
    ("words", "printed"),
    [(["reproduce", HEY], f"NAME={HEY}"), (["claims", HEY], "it was not run"), (["papers"], SPRING)],
)
def test_commands_print(lab: Lab, capsys: pytest.CaptureFixture[str], words: list[str], printed: str) -> None:
    options = ["--loadgen", str(lab.papers.parent)] + (["--results", str(results_of(lab))] if HEY in words else [])
    with pytest.raises(SystemExit) as exit_:
        main([*words, *options])

    assert exit_.value.code == 0
    assert printed in capsys.readouterr().out


def test_the_page_and_its_charts_are_those_of_the_kept_runs(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["reproduced", str(tmp_path), "--loadgen", str(PUBLISHED.parent)])

    page = (tmp_path / "reproduced.md").read_text()
    assert len(page.split()) <= 2500
    for paper in read_papers(PUBLISHED):
        assert all(page.count(f"| {claim.says} |") == 1 for claim in paper.claims)
        assert "<svg" in (tmp_path / "images" / f"reproduced-{paper.name}.svg").read_text()
    assert "Nothing was measured" in page_of([small()])


@pytest.mark.parametrize(
    ("claim", "here"),
    [
        (RATIO, "throughput_rps of tomcat-virtual ÷ tomcat-platform at 100 [50]: 1.1"),
        (VALUE | {"below": 2000}, "throughput_rps at 100 [50]: 1,133 requests/s (967.9 to 1,299)"),
        (VALUE | {"figures": ["latency_ms.mean"], "below": 2000}, "mean at 100 [50]: 1,800 ms"),
    ],
)
def test_a_row_tells_the_figure_the_load_and_the_interval(claim: dict[str, object], here: str) -> None:
    assert row_of(answered(blocks(FAST, SLOW), claim)) == ("It is so.", "reproduced", "", here)
