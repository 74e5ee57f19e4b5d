"""The report of a whole experiment: its parts in order, self-contained, the same bytes each time, small; of folders
that are unfinished, damaged, or without raw files; and names from outside."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from loomlab.answer.figures import CPU
from loomlab.answer.summary import INTERRUPTED_NOTE
from loomlab.basics.errors import LoomlabError, ParseError, UsageError
from loomlab.report import page as report
from loomlab.report.experiment import read_experiment, verdict_counts
from loomlab.report.opening import Opening, caveats_of
from loomlab.report.page import write_report
from report_folder import HEADLINE, HOSTILE, PAIR, Page, edit, first_run, folder_of, hostile, later, page_of
from saying import exit_code

SECTIONS = ["found", "charts", "results", "seconds", "caveats", "environment", "reproduce", "runs"]
MOST_BYTES = 2_500_000


@pytest.fixture(scope="module")
def page(swept: Path) -> Page:
    return page_of(swept)


def test_its_parts_stand_in_order_and_it_is_small_needs_nothing_but_itself_and_runs_nothing(page: Page) -> None:
    assert page.all("section", "id") == SECTIONS
    assert page.open == []
    assert len(page.html) < MOST_BYTES
    assert not page.tags & {"script", "img", "iframe", "object", "form"}
    assert not {name for _, own in page.elements for name in own} & {"src", "onload", "onclick", "onerror"}
    assert [link for link in page.all("a", "href") if "//" in link] == []
    assert "default-src 'none'" in page.html
    assert not re.search(r"@import|url\((?!#)", page.html)
    assert f"make sweep APPROACH={','.join(HEADLINE)} CONCURRENCY=500,2000 " in page.text


def test_every_link_leads_to_a_file_of_the_folder(swept: Path, page: Page) -> None:
    links = page.all("a", "href")
    within = [link for link in links if link.startswith("#")]

    assert len(links) > 2 * 24
    assert [link for link in links if link not in within and not (swept / link).exists()] == []
    assert {link[1:] for link in within} <= set(page.all("section", "id"))


def test_it_is_the_same_wherever_and_whenever_it_is_made(tmp_path: Path) -> None:
    """Whatever the hash seed and the time zone are, too."""
    folder = folder_of(tmp_path, PAIR, repeats=1)
    first = write_report(folder).read_bytes()
    copy = shutil.copytree(folder, tmp_path / "elsewhere" / folder.name)
    environment = {"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path), "TZ": "Asia/Kathmandu"}

    subprocess.run([sys.executable, "-m", "loomlab", "report", copy], check=True, env=environment)  # noqa: S603

    assert (copy / "report.html").read_bytes() == first


def test_every_chart_but_those_of_seconds_is_a_file_that_stands_alone(swept: Path, page: Page) -> None:
    files = {file.name: file.read_text() for file in (swept / "plots").iterdir()}
    titles = page.all("svg", "aria-label")

    assert len(files) == len([title for title in titles if "second by second" not in title]) > 5
    assert len(titles) - len(files) == 6
    assert {"cpu-per-request-over-load.svg", "cpu-per-request-compared.svg", "p99-compared.svg"} <= files.keys()
    for text in files.values():
        assert "nan" not in text
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - just made
        assert text in page.html
    assert all(f">{name}</text>" in files["cpu-per-request-over-load.svg"] for name in HEADLINE)


def test_every_run_has_a_row_with_what_others_took_of_its_cpus(tmp_path: Path) -> None:
    steal = {"approach": 0.04, "backend": 0.25}
    runs: dict[str, Any] = {"foreign_cpu_share": 0.123, "steal_shares": steal, "errors": 1234}
    html = page_of(folder_of(tmp_path, PAIR, repeats=1, raw=False, **runs)).html

    for cell, count in ((">12.3<", 2), (">4.0<", 2), (">1,234</td>", 4), (">none<", 2)):
        assert html.count(cell) == count
    assert "No run has the raw files from which its seconds are drawn." in html
    assert 'href="runs/' not in html


def test_the_summary_begins_with_the_sentences_and_the_table(swept: Path, page: Page) -> None:
    lines = (swept / "summary.md").read_text().splitlines()
    sentences = [line.removeprefix("- ") for line in lines[4 : lines.index("Every run:")] if line.startswith("- ")]

    assert len(sentences) > 4
    assert [sentence for sentence in sentences if sentence not in page.text] == []
    assert sum(line.startswith("| 500 connections | ") for line in lines) == len(HEADLINE)


def test_the_environment_is_what_was_recorded(page: Page) -> None:
    environment = page.text.rpartition(" Environment ")[2].partition(" Reproduce ")[0]

    for words in (
        "CPU not recorded, 2 CPUs, 23.5 GiB, CPU governor not recorded", "kernel 6.18.44", "PLATFORM_THREADS",
        "images backend 4a03f6", "heap 878 MiB at most", "arguments -XX:+UseParallelGC, ", "summary.json",
        "server tomcat 11.0.27.0 tomcat 11.0.27.0 netty 4.2.18.Final netty 4.2.18.Final framework",
    ):  # fmt: skip
        assert words in environment
    assert page.all("td", "class").count("differs") == 4 * 4  # model, server, framework and client


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), PAIR, repeats=2)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


def change_summary(**changes: Any) -> Callable[[Path], object]:
    return lambda folder: edit(folder / "summary.json", lambda summary: summary.update(changes))


NO_ENGINE = ({"memory_bytes": "x"}, {"memory_bytes": 10**400}, {"sizes": ["x"]}, {"notes": -1}, {"images": {"x": 1}})


def changed_run(**changes: Any) -> Callable[[Path], object]:
    return lambda folder: edit(folder / "summary.json", lambda summary: summary["runs"][0].update(changes))


@pytest.mark.parametrize(
    ("spoil", "error", "cure"),
    [
        (lambda folder: (folder / "summary.json").unlink(), UsageError, "run make finish"),
        (lambda folder: shutil.rmtree(folder / "runs"), UsageError, "name a folder below results/"),
        (change_summary(runs=[]), UsageError, "run make finish RESUME="),
        (lambda folder: (folder / "summary.json").write_text('{"schema": '), ParseError, "delete the file and run"),
        (change_summary(schema="v2"), ParseError, "use that version"),
        (change_summary(runs=[{"run": "../x"}]), ParseError, "use that version"),
        *((change_summary(environment=facts), ParseError, "is damaged") for facts in NO_ENGINE),
        *((changed_run(started=time), ParseError, "is damaged") for time in ("x", "2026-11-21T06:00:00")),
        *((changed_run(**{name: 1.7e308}), ParseError, "is damaged") for name in ("throughput_rps", "jdk")),
    ],
)
def test_what_cannot_be_reported_is_refused_with_the_cure(
    folder: Path, spoil: Callable[[Path], object], error: type[LoomlabError], cure: str
) -> None:
    spoil(folder)

    with pytest.raises(error, match=cure):
        write_report(folder)

    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("spoil", "doubt"),
    [
        (lambda folder: shutil.rmtree(first_run(folder)), "1-tomcat-platform has no raw files"),
        (lambda folder: (first_run(folder) / "raw/tool.json").write_text("{"), "1-tomcat-platform: raw/ has changed"),
        (change_summary(missing=["9-x"], finished=None), "1 of 5 runs were not made; make finish RESUME="),
        (change_summary(finished=None), "was interrupted; make finish RESUME="),
    ],
)
def test_what_is_wrong_with_a_folder_is_doubted(folder: Path, spoil: Callable[[Path], object], doubt: str) -> None:
    sound = caveats_of(read_experiment(folder)).whole

    spoil(folder)

    (told,) = (one for one in caveats_of(read_experiment(folder)).whole if one not in sound)
    assert doubt in told
    assert told in page_of(folder).text


def test_only_runs_whose_raw_files_are_as_they_were_judged_are_drawn_second_by_second(folder: Path) -> None:
    (first_run(folder) / "raw" / "later").touch()
    assert page_of(folder).html.count('href="runs/1-') == 2
    assert len(read_experiment(folder).raw) == 3


def test_a_block_that_took_hours_as_planned_is_not_torn(folder: Path) -> None:
    edit(folder / "order.json", lambda order: [run.update(expected_s=3600) for run in order["runs"]])
    edit(
        folder / "summary.json",
        lambda summary: [run.update(finished=later(run["started"], 7200)) for run in summary["runs"]],
    )
    assert [load.torn for load in read_experiment(folder).loads] == [{}]


def test_requests_that_were_cut_off_leave_the_other_charts(folder: Path) -> None:
    for run in (folder / "runs").iterdir():
        (run / "raw" / "ab-requests.tsv.gz").write_bytes(b"\x1f\x8b")
    edit(folder / "summary.json", lambda summary: [run.update(raw_sha256=None) for run in summary["runs"]])

    assert sum("second by second" in title for title in page_of(folder).all("svg", "aria-label")) == 3


def test_what_was_found_beyond_some_sentences_is_folded_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [f"Sentence {number} (of {number} blocks)." for number in range(5)]
    monkeypatch.setattr(report, "MOST_FOUND", 2)
    monkeypatch.setattr(report, "opening_of", lambda _: Opening(found, None, []))

    opened, _, folded = page_of(folder).text.partition(" 3 more ")
    assert [sentence in opened for sentence in found] == [True, True, False, False, False]
    assert [sentence in folded for sentence in found] == [False, False, True, True, True]


def test_a_row_has_its_worst_verdict_and_a_pair_its_blocks_and_the_words_of_what_was_declared(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, PAIR, repeats=4, verdict="valid")

    def change(summary: Any) -> None:
        by_run = {(run["approach"], run["repeat"]): run for run in summary["runs"]}
        by_run["tomcat-platform", 1].update(verdict="invalid")
        by_run["tomcat-virtual", 2].update(verdict="suspect")

    edit(folder / "summary.json", change)
    known, page = read_experiment(folder), page_of(folder)
    (comparison,) = known.comparisons(CPU)
    results = Page(page.html.partition('<section id="results">')[2].partition("</section>")[0])

    assert [name for name in results.all("span", "class") if "verdict" in name] == [
        "verdict invalid", "verdict suspect",
    ]  # fmt: skip
    assert ("3 valid, 1 invalid" in results.text, "3 valid, 1 suspect" in results.text) == (True, True)
    assert "tomcat-virtual vs tomcat-platform 3 blocks" in results.text
    assert results.html.count('class="word"') == 1
    assert comparison.word in results.text
    assert f"8 runs: {verdict_counts(known.runs)}." in page.text


def test_every_run_has_its_load_and_the_title_has_them_all(swept: Path, page: Page) -> None:
    rows = page.html.partition('<section id="runs">')[2].split("<tr>")[2:]
    loads = {run.run: f"{run.concurrency:,} connections" for run in read_experiment(swept).runs}

    assert len(rows) == len(loads) == 24
    assert [
        name for row, (name, load) in zip(rows, loads.items(), strict=True) if f"{name}</th><td>{load}<" not in row
    ] == []
    assert "4 approaches at 500 and 2,000 connections, loaded by ab" in page.text


def test_notes_of_the_summary_are_on_the_page_once(folder: Path) -> None:
    edit(folder / "summary.json", lambda summary: summary.update(notes=[INTERRUPTED_NOTE, "Look <here>."]))
    text = page_of(folder).text
    assert (text.count(INTERRUPTED_NOTE), text.count("Look <here>.")) == (0, 1)


def test_whether_it_has_ended_and_how_to_make_it_again_is_said_where_it_is_known(folder: Path) -> None:
    for told in (False, True):
        text = page_of(folder).text
        assert ("not finished" in text, "The command is not known" in text) == (told, told)
        edit(folder / "summary.json", lambda summary: summary.update(finished=None))
        edit(folder / "order.json", lambda order: order.update(asked={}))


def test_caveats_of_blocks_tries_and_runs_are_on_the_page(folder: Path) -> None:
    sentence, again = "It went wrong <by> itself.", "The host disturbed 1-tomcat-platform, so it was measured once more"

    def change(summary: Any) -> None:
        first = summary["runs"][0]
        stolen = {"rule": "much_stolen", "outcome": "failed", "level": "invalid", "host_cause": True}
        summary["runs"].insert(1, first | {"run": f"{first['run']}-try-2"})
        first.update(verdict="invalid", rules=[stolen])
        summary["runs"][-1].update(verdict="invalid", reasons=[sentence])

    edit(folder / "summary.json", change)
    caveats, text = caveats_of(read_experiment(folder)), page_of(folder).text.partition(" Caveats Unfolded ")[0]
    lines = (folder / "summary.md").read_text().splitlines()

    assert (len(caveats.dropped), len(caveats.host)) == (1, 1)
    assert again in caveats.host[0]
    assert f"- {caveats.dropped[0]}" in lines
    assert [told for told in (*caveats.dropped, *caveats.host, sentence) if told not in text] == []


def test_names_from_outside_stay_text(folder: Path) -> None:
    hostile(folder)
    edit(first_run(folder) / "raw" / "about.json", lambda about: about["jvm"].update(vendor=HOSTILE))
    edit(folder / "summary.json", lambda summary: [run.update(raw_sha256=None) for run in summary["runs"]])

    page = page_of(folder)

    assert not page.tags & {"script", "img"}
    assert "<script>alert" not in page.html
    assert page.text.count(HOSTILE) > 5
    assert first_run(folder).name in page.text
    edit(folder / "order.json", lambda order: order.update(colours={HOSTILE: '"><script>alert(2)</script>'}))
    with pytest.raises(ParseError, match="colours"):
        page_of(folder)


def test_a_figure_of_0_is_in_no_ratio(folder: Path) -> None:
    figures = {"cpu_ms_per_request": 0.0, "throughput_rps": 0.0}
    edit(folder / "summary.json", lambda summary: [run.update(figures) for run in summary["runs"]])
    assert "nan" not in page_of(folder).text.split()


def test_the_command_says_where_page_is_or_why_there_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (exit_code("report", str(folder)), *capsys.readouterr()) == (0, f"report: {folder}/report.html\n", "")
    assert Page((folder / "report.html").read_text()).open == []

    (folder / "summary.json").unlink()
    assert exit_code("report", str(folder)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize("shares", [{}, {"backend": 0.2}])
def test_steal_that_is_not_known_of_the_approach_is_a_dash(folder: Path, shares: dict[str, float]) -> None:
    edit(folder / "summary.json", lambda summary: [run.update(steal_shares=shares) for run in summary["runs"]])
    assert "20.0" not in page_of(folder).html.partition('<section id="runs">')[2]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\u3000=", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_cell_of_the_table_is_a_formula(folder: Path, start: str) -> None:
    edit(folder / "summary.json", lambda summary: summary["runs"][0].update(approach=f"{start}1+1"))
    write_report(folder)
    assert f",'{start}1+1," in (folder / "table.csv").read_text()


def test_what_turns_or_hides_letters_is_in_no_file(folder: Path) -> None:
    odd = "\u202e\u200b\u2066\u2028\ufeff\x1b\u3164\u180e\ufff9\U000e0041"
    edit(folder / "summary.json", lambda summary: summary["runs"][0].update(approach=f"mine{odd}", reasons=[odd]))
    write_report(folder)
    files = [folder / name for name in ("summary.md", "table.csv", "report.html")] + [*(folder / "plots").iterdir()]

    assert [path.name for path in files if {*odd} & {*path.read_text()}] == []
    assert f"mine{'?' * len(odd)}" in (folder / "table.csv").read_text()
