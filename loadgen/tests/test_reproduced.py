"""docs/reproduced.md, and what the screen tells of a paper's claims."""

import shutil
from pathlib import Path

import pytest

from loomlab.answer.papers.keeping import keep
from loomlab.answer.papers.library import listed, load_paper, paper_names
from loomlab.answer.papers.page import answered, number, page_of
from loomlab.cli import main
from measured_folder import PUBLISHED, begun, paper_lab, summed_up
from ordered import SCENARIOS
from published_folder import invented

HEY, LOOM = "virtual-threads-hey", "project-loom-comparison"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Two papers of five measured."""
    lab, results = paper_lab(tmp_path / "lab"), tmp_path / "results"
    for name in (HEY, LOOM):
        summed_up(begun(lab, results, name, NAME=name), invented(name))
        keep(results, lab.papers / "measured", name, load_paper(PUBLISHED, name), SCENARIOS)
    return lab.papers


def page(papers: Path) -> str:
    return page_of(answered(listed(papers, SCENARIOS), papers / "measured"))


def test_every_claim_stands_there_with_its_answer(papers: Path) -> None:
    text = page(papers)

    for name in paper_names(PUBLISHED):
        for claim in load_paper(PUBLISHED, name).claims:
            line = next(line for line in text.splitlines() if line.startswith(f"| {claim.says} ("))
            assert (
                sum(
                    f"**{outcome}**" in line for outcome in ("reproduced", "not reproduced", "could not be tested here")
                )
                == 1
            )


def test_answers_are_counted_by_paper_with_the_date(papers: Path) -> None:
    lines = page(papers).splitlines()

    assert "| [loom-vs-webflux](#loom-vs-webflux) | 4 | 0 | 0 | 4 | not yet |" in lines
    row = next(line for line in lines if line.startswith(f"| [{LOOM}]"))
    counts = [int(cell) for cell in row.split("|")[2:6]]
    assert counts[0] == sum(counts[1:]) == 14
    assert row.endswith("| 2026-01-02 |")


def test_host_command_blocks_and_verdicts_are_told(papers: Path) -> None:
    line = next(line for line in page(papers).splitlines() if line.startswith(f"- {LOOM}: "))

    assert "2026-01-02, `make reproduce PAPER=project-loom-comparison SCALE=0.049`, 3 blocks" in line
    assert "one of 2 CPUs and 23.5 GiB, 1 of them the approach's" in line
    assert line.endswith("runs: 45 valid")


def test_a_figure_stands_beside_the_published_one_with_the_load_that_was_run(papers: Path) -> None:
    text = page(papers)

    assert "| Platform Threads, 20,000 [980] connections | 'throughput', requests/s | 4,950 | " in text
    assert "| set-up | machines | c5.2xlarge, 8 CPUs, 16 GiB: approach; " in text
    assert "throughput_rps of microhttp-virtual ÷ microhttp-platform<br>1,000 [49] connections: " in text
    assert "; published 2.337" in text


def test_where_a_claim_is_borne_out_is_told_beside_where_it_is_not(papers: Path) -> None:
    claim = "| Virtual threads complete more requests a second than platform threads. ("
    line = next(line for line in page(papers).splitlines() if line.startswith(claim))

    assert "**not reproduced**" in line
    assert line.endswith("15,000 [735] connections, 20,000 [980] connections: reproduced |")


def test_figures_of_invalid_runs_are_called_so(papers: Path) -> None:
    line = next(line for line in page(papers).splitlines() if "| Total, s | 40.01 |" in line)

    assert line.endswith("40.1 (40.1 to 40.1), invalid |")


def test_a_picture_is_linked_where_it_was_kept(papers: Path) -> None:
    assert "published/measured" not in page(papers).partition("## ")[2]

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


def test_the_page_is_the_same_each_time(papers: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(papers, tmp_path / "copy")

    assert page(papers) == page(copy)


@pytest.mark.parametrize(
    ("value", "told"), [(0, "0"), (0.99876, "0.9988"), (1234.5, "1,234"), (45.678, "45.68"), (-2.5, "-2.5")]
)
def test_numbers_have_four_digits_that_count(value: float, told: str) -> None:
    assert number(value) == told
