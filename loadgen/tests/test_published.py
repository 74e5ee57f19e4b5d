"""A paper's tables, claims and charts in the report of an experiment that runs it."""

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loomlab.report.page import write_report
from measured_folder import PUBLISHED
from ordered import SCENARIOS
from published_folder import SAMPLES, published_folder
from report_folder import folder_of
from test_report import Parts
from test_report_folders import edit

SVG = "{http://www.w3.org/2000/svg}"
PANELS = {"levels": 12, "resources": 4, "course": 24, "iterations": 4, "two-by-two": 4}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = tmp_path_factory.mktemp("papers")
    return {
        name: published_folder(made / name, paper, scenario, raw=name in {"course", "iterations"})
        for name, (paper, scenario) in SAMPLES.items()
    }


def page(folder: Path) -> Parts:
    return Parts((folder / "report.html").read_text())


def svg(folder: Path) -> ElementTree.Element:
    return ElementTree.fromstring((folder / "published.svg").read_text())  # noqa: S314 - ours


@pytest.mark.parametrize("name", SAMPLES)
def test_its_charts_are_on_the_page_and_in_a_file_of_their_own(folders: dict[str, Path], name: str) -> None:
    panels = svg(folders[name]).findall(f"{SVG}g")
    told = page(folders[name])

    assert len(panels) == PANELS[name]
    assert "published" in told.sections
    assert told.open == []
    assert "published.svg" in told.links


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_of_a_chart_lies_outside_of_it(folders: dict[str, Path], name: str) -> None:
    root = svg(folders[name])
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])

    for group in root.findall(f"{SVG}g"):
        x, y = (float(one) for one in group.attrib["transform"][len("translate(") : -1].split())
        for text in group.iter(f"{SVG}text"):
            assert 0 <= x + float(text.attrib["x"]) <= width
            assert 0 <= y + float(text.attrib["y"]) <= height
        for way in group.iter(f"{SVG}path"):
            points = [point.split(",") for point in way.attrib["d"][1:].split("L")]
            assert all(0 <= x + float(a) <= width and 0 <= y + float(b) <= height for a, b in points)


def test_the_file_says_which_colour_is_which_approach(folders: dict[str, Path]) -> None:
    told = [text.text for text in svg(folders["levels"]).findall(f"{SVG}text")]

    assert {"microhttp-platform", "microhttp-virtual", "microhttp-async", "as published", "here"} <= set(told)


def test_the_file_says_how_runs_that_are_not_valid_are_drawn(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(folders["levels"], tmp_path / "copy")
    keys = {"suspect run", "invalid run"}
    assert not keys & {text.text for text in svg(folder).findall(f"{SVG}text")}

    edit(folder / "summary.json", lambda told: told["runs"][0].update(verdict="suspect"))
    write_report(folder, PUBLISHED, SCENARIOS)
    assert keys & {text.text for text in svg(folder).findall(f"{SVG}text")} == {"suspect run"}

    edit(folder / "summary.json", lambda told: told["runs"][1].update(verdict="invalid"))
    write_report(folder, PUBLISHED, SCENARIOS)
    assert keys <= {text.text for text in svg(folder).findall(f"{SVG}text")}


def test_a_table_has_its_rows_and_levels_and_what_differs_in_the_set_up(folders: dict[str, Path]) -> None:
    text = page(folders["resources"]).text

    assert "Servlet with Virtual Threads" in text
    assert "20,000 connections, here 900" in text
    assert "99% percentile, ms 1,792" in text
    assert "JDK of both servlet approaches: Open JDK 19 Early Access Build 22" in text
    assert "c5.4xlarge, 16 CPUs" in text
    assert "All originals called the backend through a reactive client" in text


def test_what_was_announced_and_never_published_stands_below_each_table(folders: dict[str, Path]) -> None:
    text = page(folders["resources"]).text

    for row in ("CPU per request, ms", "CPU, % of the approach's CPUs", "RSS, MiB", "threads"):
        assert text.count(f"{row} not published") == 3


def test_claims_are_answered_from_the_experiment(folders: dict[str, Path]) -> None:
    text = page(folders["two-by-two"]).text

    assert "With a pool of four platform threads, Tomcat takes 40 s" in text
    assert "to be above 38 s and below 42 s 50 connections: 40.1 s (40.1 s to 40.1 s); published 40.01 s" in text
    assert "ab has trouble with the answers" not in text


def test_a_claim_about_several_scenarios_is_answered_at_the_loads_of_this_one(folders: dict[str, Path]) -> None:
    text = page(folders["course"]).text

    assert "On Netty virtual threads answer as soon as WebFlux." in text
    assert "was not run there" not in text


def test_time_outs_are_told_for_what_they_are(folders: dict[str, Path]) -> None:
    told = [text.text or "" for text in svg(folders["two-by-two"]).iter(f"{SVG}text")]
    bars = [
        bar.attrib["class"] for bar in svg(folders["two-by-two"]).iter(f"{SVG}rect") if "bar" in bar.attrib["class"]
    ]

    assert sum("timed out" in text for text in told) == 2
    assert "40.0 s, 77 timed out" in told
    assert (bars.count("bar failed"), bars.count("bar")) == (2, 6)


def test_remarks_and_what_rows_measure_otherwise_are_told(folders: dict[str, Path]) -> None:
    assert "its 40 s are two such waits" in page(folders["two-by-two"]).text
    assert "Latencies count from the start of a request, as vegeta's do" in page(folders["iterations"]).text


def test_two_iterations_are_drawn_on_one_scale(folders: dict[str, Path]) -> None:
    ticks = [
        [text.text for text in group.findall(f"{SVG}text") if text.attrib.get("text-anchor") == "end"]
        for group in svg(folders["iterations"]).findall(f"{SVG}g")
    ]

    assert len(ticks) == 4
    assert ticks.count(ticks[0]) == 4


def test_an_experiment_of_no_paper_has_neither(tmp_path: Path) -> None:
    own = folder_of(tmp_path, ("tomcat-virtual",), repeats=1)
    write_report(own, PUBLISHED, SCENARIOS)

    assert "published" not in page(own).sections
    assert not (own / "published.svg").exists()


@pytest.mark.parametrize("missing", ["papers", "scenarios"])
def test_a_report_is_made_without_what_is_not_at_hand(folders: dict[str, Path], tmp_path: Path, missing: str) -> None:
    folder = shutil.copytree(folders["two-by-two"], tmp_path / "copy")
    at_hand = {"papers": PUBLISHED, "scenarios": SCENARIOS} | {missing: tmp_path / "nowhere"}

    write_report(folder, **at_hand)

    assert "published" not in page(folder).sections


def test_an_order_that_does_not_tell_its_host_costs_only_the_machine(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(folders["two-by-two"], tmp_path / "copy")
    edit(folder / "order.json", lambda told: told.update(host={}))

    write_report(folder, PUBLISHED, SCENARIOS)

    assert "published" in page(folder).sections
    assert "one of 2 CPUs" in page(folders["two-by-two"]).text
    assert "one of 2 CPUs" not in page(folder).text


def test_each_half_of_a_chart_has_its_own_values(folders: dict[str, Path]) -> None:
    for group in svg(folders["levels"]).findall(f"{SVG}g"):
        title, *tips = [one.text or "" for one in group.iter(f"{SVG}title")]
        assert tips
        assert {tip[0].isdigit() for tip in tips} == {title.endswith("here")}
