"""docs/reproduced.md, and what the screen tells of a paper's claims."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.papers.answers import UNTESTED, Answer, Part
from loomlab.answer.papers.keeping import keep
from loomlab.answer.papers.library import listed, load_paper, paper_names
from loomlab.answer.papers.measured import Measured, read_measured, write_measured
from loomlab.answer.papers.page import OUTCOMES, answered, number, page_of, why_of
from loomlab.cli import main
from loomlab.records.files import write_json
from loomlab.records.order import order_file, read_order
from measured_folder import PUBLISHED, begun, paper_lab, summed_up
from ordered import SCENARIOS
from published_folder import invented

HEY, LOOM, VIRTUAL = "virtual-threads-hey", "project-loom-comparison", "microhttp-virtual"


@pytest.fixture(scope="module")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers of five measured; to be read only."""
    folder = tmp_path_factory.mktemp("papers")
    lab, results = paper_lab(folder / "lab"), folder / "results"
    for name in (HEY, LOOM):
        summed_up(begun(lab, results, name, NAME=name), invented(name))
        keep(results, lab.papers / "measured", name, load_paper(PUBLISHED, name), SCENARIOS)
    return lab.papers


@pytest.fixture
def papers(measured_once: Path, tmp_path: Path) -> Path:
    """The same, to be written."""
    return shutil.copytree(measured_once, tmp_path / "papers")


@pytest.fixture(scope="module")
def text(measured_once: Path) -> str:
    """The page of them."""
    return page(measured_once)


def page(papers: Path) -> str:
    return page_of(answered(listed(papers, SCENARIOS), papers / "measured"))


def test_every_claim_stands_there_with_its_answer(text: str) -> None:
    for name in paper_names(PUBLISHED):
        for claim in load_paper(PUBLISHED, name).claims:
            line = next(line for line in text.splitlines() if line.startswith(f"| {claim.says} ("))
            assert sum(f"**{outcome}**" in line for outcome in OUTCOMES) == 1


def test_answers_are_counted_by_paper_with_the_date(text: str) -> None:
    lines = text.splitlines()

    assert "| [loom-vs-webflux](#loom-vs-webflux) | 4 | 0 | 0 | 0 | 4 | not yet |" in lines
    row = next(line for line in lines if line.startswith(f"| [{LOOM}]"))
    counts = [int(cell) for cell in row.split("|")[2:7]]
    assert counts[0] == sum(counts[1:]) == 17
    assert row.endswith("| 2026-01-02 |")


def test_host_command_blocks_and_verdicts_are_told(text: str) -> None:
    line = next(line for line in text.splitlines() if line.startswith(f"- {LOOM}: "))

    command = (
        "make reproduce PAPER=project-loom-comparison SCALE=0.049 DURATION=60s WARMUP_CAP=139s REPEATS=3 "
        "SIZE=auto GC=parallel HTTP_CLIENT=default"
    )
    assert f"2026-01-02, `{command}` with SEED=1; 3 blocks; one of 2 CPUs" in line
    assert "one of 2 CPUs and 23.5 GiB, 1 of them the approach's; JDK 25; " in line
    assert line.endswith("runs: 45 valid")


def test_experiments_that_differ_in_their_seeds_only_share_a_line(papers: Path) -> None:
    path = papers / "measured" / LOOM / f"{LOOM}.json"
    kept = read_measured(papers / "measured", LOOM)[LOOM]
    (one,) = kept.experiments
    runs = [one.runs[0].model_copy(update={"verdict": "invalid", "spoilt": True}), *one.runs[1:]]
    again = {"name": "again", "started": "2026-01-04T00:00:00Z", "asked": one.asked | {"SEED": "2"}, "runs": runs}
    smaller = {"name": "smaller", "asked": one.asked | {"SCALE": "0.01"}}

    experiments = [one, one.model_copy(update=again), one.model_copy(update=smaller)]
    write_measured(path, kept.model_copy(update={"experiments": experiments}))
    both, other = [line for line in page(papers).splitlines() if line.startswith(f"- {LOOM}: ")]

    assert both.startswith(f"- {LOOM}: 2026-01-02 to 2026-01-04, ")
    assert "` with SEED=1, 2; 6 blocks; " in both
    assert both.endswith("runs: 89 valid, 1 invalid, 1 of these spoilt by the host")
    assert "SCALE=0.01 " in other
    assert other.endswith("runs: 45 valid")


def test_the_cpu_model_is_told_where_it_is_known(tmp_path: Path) -> None:
    lab, results = paper_lab(tmp_path / "lab"), tmp_path / "results"
    folder = begun(lab, results, HEY, NAME=HEY)
    order = read_order(folder)
    write_json(order_file(folder), order.model_copy(update={"host": order.host | {"cpu_model": "Small CPU"}}))
    summed_up(folder)
    keep(results, lab.papers / "measured", HEY, load_paper(PUBLISHED, HEY), SCENARIOS)

    assert "one of 2 CPUs (Small CPU) and 23.5 GiB" in page(lab.papers)


def test_blocks_of_different_hosts_are_told_to_be_so(papers: Path, text: str) -> None:
    assert "different hosts" not in text

    kept = read_measured(papers / "measured", LOOM)[LOOM]
    (one,) = kept.experiments
    other = one.model_copy(update={"name": "other", "setup": one.setup | {"machine": "another of 2 CPUs"}})
    write_measured(papers / "measured" / LOOM / f"{LOOM}.json", kept.model_copy(update={"experiments": [one, other]}))
    other_text = page(papers)

    assert "The blocks were measured on different hosts, as named above." in other_text
    assert f" | {one.setup['machine']}; or another of 2 CPUs |" in other_text


def test_a_figure_stands_beside_the_published_one_with_the_load_that_was_run(text: str) -> None:
    assert "| Platform Threads, 20,000 [980] connections | 'throughput', requests/s | 4,950 | " in text
    assert "| set-up | machines | c5.2xlarge, 8 CPUs, 16 GiB: approach; " in text
    assert "microhttp-virtual ÷ microhttp-platform, to be above 1<br>10,000 [490] connections: " in text
    assert "; published 2.337" in text


def test_where_a_claim_is_borne_out_is_told_beside_where_it_is_not(text: str) -> None:
    claim = "| From 10,000 connections on, virtual threads complete more requests per second than platform threads. ("
    line = next(line for line in text.splitlines() if line.startswith(claim))

    assert "**could not be tested here**" in line
    assert "10,000 [490] connections: nothing queued: the mean latency is 1.1" in line
    assert line.endswith("<br>15,000 [735], 20,000 [980] connections: reproduced |")


def test_reasons_of_several_figures_are_told_apart() -> None:
    paper = load_paper(PUBLISHED, HEY)
    (claim,) = [one for one in paper.claims if one.id == "virtual-threads-take-two-waits"]
    parts = [
        Part("a", figure, "tomcat-virtual", 50, UNTESTED, why, 50) for figure, why in (("one", "x"), ("other", "y"))
    ]

    assert why_of(Answer(claim, UNTESTED, parts), "connections") == [
        "one of tomcat-virtual at 50 connections: x",
        "other of tomcat-virtual at 50 connections: y",
    ]
    alike = [replace(part, why="x") for part in parts]
    assert why_of(Answer(claim, UNTESTED, alike), "connections") == ["50 connections: x"]


def test_levels_of_one_reason_share_its_line() -> None:
    paper = load_paper(PUBLISHED, HEY)
    (claim,) = [one for one in paper.claims if one.id == "virtual-threads-take-two-waits"]
    parts = [
        Part("a", "one", of, level, UNTESTED, why, level / 2)
        for of, level, why in (("x", 50, "few"), ("x", 100, "few"), ("y", 50, "few"), ("y", 100, "none"))
    ]

    assert why_of(Answer(claim, UNTESTED, parts), "connections") == [
        "one of x at 50 [25], 100 [50] connections: few",
        "one of y at 50 [25] connections: few",
        "one of y at 100 [50] connections: none",
    ]


def test_a_reason_that_holds_everywhere_is_told_once() -> None:
    paper = load_paper(PUBLISHED, HEY)
    (claim,) = [one for one in paper.claims if one.id == "virtual-threads-take-two-waits"]
    parts = [Part("a", "one", of, level, UNTESTED, "few", level) for of, level in (("x", 50), ("x", 100), ("y", 50))]

    assert why_of(Answer(claim, UNTESTED, parts), "connections") == ["50, 100 connections: few"]


def test_limits_are_told_in_the_units_of_the_figures(text: str) -> None:
    assert "throughput_rps of microhttp-virtual ÷ microhttp-platform, to be above 1<br>" in text
    assert "error_share of tomcat-platform, to be above 70 % and below 84 %<br>" in text
    assert "duration_s of tomcat-platform, to be above 38 s and below 42 s<br>" in text
    assert "cpu_share of microhttp-async, to be above 90 %<br>" in text


def test_a_slope_is_told_per_connection_between_its_two_loads(text: str) -> None:
    assert "vsz_max_bytes of microhttp-platform, to be above 512 KiB per connection and below 2,048 KiB" in text
    assert "<br>1,000 [49] to 20,000 [980] connections: " in text
    assert " KiB per connection); published 1,133 KiB per connection" in text


def test_a_level_that_is_held_against_another_is_told_with_both_loads(text: str) -> None:
    assert "15,000 [735] against 5,000 [245] connections: " in text


def test_a_picture_of_some_of_the_blocks_is_called_so(papers: Path) -> None:
    path = papers / "measured" / LOOM / f"{LOOM}.json"
    path.with_suffix(".svg").write_text("<svg/>")
    kept = read_measured(papers / "measured", LOOM)[LOOM]
    (one,) = kept.experiments
    other = one.model_copy(update={"name": "another", "runs": [run for run in one.runs if run.repeat == 1]})

    write_measured(path, kept.model_copy(update={"drawn_from": "another", "experiments": [other]}))
    assert "The charts are of" not in page(papers)
    write_measured(path, kept.model_copy(update={"drawn_from": "another", "experiments": [one, other]}))
    assert "The charts are of 1 of these 4 blocks, made on 2026-01-02 (another)." in page(papers)


@pytest.mark.parametrize(
    ("name", "scenario", "told"),
    [
        ("loom-webflux-benchmarks", "smoketest", "The charts show one run of each approach, made on 2026-01-02"),
        ("loom-vs-webflux", "loom-vs-webflux", "The charts are of 2 of these 3 blocks, made on 2026-01-02"),
    ],
)
def test_a_picture_of_some_of_the_runs_is_called_so(papers: Path, name: str, scenario: str, told: str) -> None:
    kept = read_measured(papers / "measured", LOOM)[LOOM]
    (one,) = kept.experiments
    path = papers / "measured" / name / f"{scenario}.json"
    path.parent.mkdir()
    path.with_suffix(".svg").write_text("<svg/>")
    write_measured(path, kept.model_copy(update={"paper": name, "step": scenario, "drawn_from": one.name}))

    assert f"\n{told} ({one.name}).\n" in page(papers)


def test_a_level_that_was_left_out_is_told_beside_one_that_decides(papers: Path) -> None:
    measured = read_measured(papers / "measured", LOOM)[LOOM]
    (one,) = measured.experiments
    left_out = "Left out: NAME=project-loom-comparison with 20000 connections needs 40500 open files."
    runs = [run for run in one.runs if run.level != 20_000]
    cut = one.model_copy(update={"runs": runs, "left_out": [left_out]})
    write_measured(papers / "measured" / LOOM / f"{LOOM}.json", measured.model_copy(update={"experiments": [cut]}))
    text = page(papers)

    claim = "| Virtual threads have more resident memory than platform threads, at every level. ("
    line = next(line for line in text.splitlines() if line.startswith(claim))
    assert "**not reproduced**" in line
    assert "20,000 connections: could not be tested here, 0 of the 3 blocks" in line
    assert "with 20000 connections needs 40500 open files." in line
    assert f"- {LOOM}: {left_out}" in text


def test_a_scenario_that_was_left_out_is_told_with_its_reason(papers: Path) -> None:
    name, scenario = "loom-webflux-benchmarks", "60k-vus-smooth-spike-get-post-movies"
    kept = Measured(paper=name, step=scenario, left_out="It needs 60500 open files.", experiments=[])
    write_measured(papers / "measured" / name / f"{scenario}.json", kept)
    text = page(papers)

    assert f"- {scenario}: left out. It needs 60500 open files." in text
    assert "it was not run (It needs 60500 open files.)" in text
    assert "| [loom-webflux-benchmarks](#loom-webflux-benchmarks) | 10 | 0 | 0 | 0 | 10 | not yet |" in text


def test_remarks_and_what_rows_measure_otherwise_are_told_once(text: str) -> None:
    for name in paper_names(PUBLISHED):
        assert all(text.count(f"- {remark}") == 1 for remark in load_paper(PUBLISHED, name).remarks)
    assert text.count("- Requests/sec are all requests that ended, answered or timed out") == 1
    assert text.count("- The published latency is connections ÷ requests per second") == 1
    assert "Requests/sec, requests/s | 2.5 |" in text


def test_the_set_up_is_told_of_each_scenario_that_has_figures(text: str) -> None:
    assert text.count("Published beside measured: ") == text.count("| set-up | scale | 1 | ") == 2
    assert "| set-up | scale | 1 | 0.049, 60s at most |" in text


def test_what_was_announced_stands_beside_nothing_published(tmp_path: Path) -> None:
    lab, results, name = paper_lab(tmp_path / "lab"), tmp_path / "results", "spring-boot-edition"
    summed_up(begun(lab, results, name, NAME="project-loom-comparison-spring"))
    keep(results, lab.papers / "measured", name, load_paper(PUBLISHED, name), SCENARIOS)
    lines = page(lab.papers).splitlines()

    assert sum(line.startswith("| jetty-virtual, 20,000 [") and " | announced | " in line for line in lines) >= 4
    assert not [line for line in lines if line.startswith("| tomcat-virtual, ") and " | announced | " in line]


def test_a_scenario_without_published_figures_tells_its_set_up(tmp_path: Path) -> None:
    lab, results, name = paper_lab(tmp_path / "lab"), tmp_path / "results", "loom-webflux-benchmarks"
    summed_up(begun(lab, results, name, NAME="5k-vus-and-rps-get-time"))
    keep(results, lab.papers / "measured", name, load_paper(PUBLISHED, name), SCENARIOS)
    text = page(lab.papers)

    assert "Published beside measured: 5k-vus-and-rps-get-time" in text
    assert "| set-up | heap | heap: 2 GiB | not recorded |" in text
    assert "| set-up | scale | 1; duration, but for the smoke test: 5 minutes | 0.2, 60s at most |" in text


def test_figures_of_invalid_runs_are_called_so(text: str) -> None:
    line = next(line for line in text.splitlines() if "| Total, s | 40.01 |" in line)

    assert line.endswith("40.1 (40.1 to 40.1), invalid |")


@pytest.mark.parametrize(
    "other",
    [
        {"verdict": "invalid", "reasons": ["11 % of it was cold.", "It ended."]},
        {"verdict": "suspect", "reasons": ["11 % of it was cold."]},
        {"verdict": "suspect", "reasons": ["It began 11 % too late.", "It ended."]},
    ],
)
def test_runs_that_are_not_valid_for_the_same_reasons_stand_there_with_the_last_ones(
    papers: Path, other: dict[str, Any]
) -> None:
    measured = read_measured(papers / "measured", LOOM)[LOOM]
    (one,) = measured.experiments
    first, second, third = (run for run in one.runs if (run.approach, run.level) == (VIRTUAL, 5000))
    doubted = {
        first.run: first.model_copy(update={"verdict": "suspect", "reasons": ["7 % of it was cold.", "It ended."]}),
        second.run: second.model_copy(update={"verdict": "suspect", "reasons": ["9 % of it was cold.", "It ended."]}),
        third.run: third.model_copy(update=other),
    }
    runs = [doubted.get(run.run, run) for run in one.runs]
    kept = measured.model_copy(update={"experiments": [one.model_copy(update={"runs": runs})]})
    write_measured(papers / "measured" / LOOM / f"{LOOM}.json", kept)

    load = f"{VIRTUAL}, 5,000 [{first.amount:g}] connections"
    assert [line for line in page(papers).splitlines() if line.startswith(f"| {LOOM} | ") and VIRTUAL in line] == [
        f"| {LOOM} | 2 of {load} | suspect | 9 % of it was cold. It ended. |",
        f"| {LOOM} | 1 of {load} | {other['verdict']} | {' '.join(other['reasons'])} |",
    ]


def test_a_picture_is_linked_where_it_was_kept(papers: Path, text: str) -> None:
    assert "published/measured" not in text.partition("## ")[2]

    (papers / "measured" / LOOM / f"{LOOM}.svg").write_text("<svg/>")
    assert f"![{LOOM}](../loadgen/published/measured/{LOOM}/{LOOM}.svg)" in page(papers)


def test_the_screen_tells_the_claims_of_one_paper(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["claims", HEY, "--papers-dir", str(papers), "--scenarios-dir", str(SCENARIOS)])

    said = " ".join(capsys.readouterr().out.split())
    assert "four platform threads" in said
    assert "40.1 s" in said


def test_a_paper_that_is_not_there_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["claims", "virtual-thread-hey", "--papers-dir", str(PUBLISHED), "--scenarios-dir", str(SCENARIOS)])

    assert exit_.value.code == 2
    assert "the nearest are virtual-threads-hey" in capsys.readouterr().err


def test_the_page_is_the_same_each_time(papers: Path, text: str) -> None:
    assert page(papers) == text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0"),
        (0.05, "0.05"),
        (0.99876, "0.9988"),
        (45.678, "45.68"),
        (-2.5, "-2.5"),
        (999.94, "999.9"),
        (999.96, "1,000"),
        (1000, "1,000"),
        (1234.5, "1,234"),
        (-12345.6, "-12,346"),
    ],
)
def test_numbers_have_four_digits_that_count_or_all_before_the_point(value: float, told: str) -> None:
    assert number(value) == told
