"""The report of a whole experiment: its parts in order, self-contained, the same bytes each time, small."""

import base64
import csv
import hashlib
import io
import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loomlab.report.course import MOST_POINTS
from loomlab.report.page import PACKAGE, write_report
from report_folder import HEADLINE, folder_of

SECTIONS = [
    "answer", "table", "contrasts", "ratios", "loads", "latency", "course", "doubts", "environment", "again", "raw",
]  # fmt: skip
MOST_BYTES = 2_000_000
VOID = frozenset({"meta", "link", "br"})


class Parts(HTMLParser):
    """What a page is made of; `open` is empty at the end of a page whose elements are all closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.counts: dict[str, int] = {}
        self.open: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.sections += [told["id"] or ""] if tag == "section" else []
        self.ids += [told["id"] or ""] if "id" in told else []
        self.links += [told["href"] or ""] if tag == "a" else []
        self.sources += [told[name] or "" for name in ("src", "srcset", "data", "action") if name in told]
        assert not [name for name in told if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def parts_of(folder: Path) -> Parts:
    return Parts(write_report(folder).read_text())


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), loads=(500, 2000), repeats=3)


@pytest.fixture(scope="module")
def page(experiment: Path) -> Parts:
    return parts_of(experiment)


def test_its_parts_stand_in_the_order_in_which_they_are_asked(page: Parts) -> None:
    assert page.sections == SECTIONS
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_it_needs_nothing_but_itself(experiment: Path, page: Parts) -> None:
    text = (experiment / "report.html").read_text()

    assert page.sources == []
    assert not [link for link in page.links if "//" in link]
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text


def test_uplots_licence_is_in_it_and_the_script_is_the_one_that_its_policy_allows(experiment: Path) -> None:
    write_report(experiment)
    text = (experiment / "report.html").read_text()
    script = text.rpartition("<script>")[2].partition("</script>")[0]

    assert PACKAGE.joinpath("vendored/LICENSE").read_text().strip() in script
    assert "The above copyright notice and this permission notice shall be included in" in script
    assert f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in text


def test_every_link_leads_to_a_file_of_the_folder(experiment: Path, page: Parts) -> None:
    files = [link for link in page.links if not link.startswith("#")]

    assert len(files) > 2 * 24
    assert [link for link in files if not (experiment / link).exists()] == []
    assert [link for link in page.links if link.startswith("#") and link[1:] not in page.ids] == []


def test_it_is_the_same_each_time_and_wherever_the_folder_lies(experiment: Path, tmp_path: Path) -> None:
    first = write_report(experiment).read_bytes()
    copy = tmp_path / "elsewhere" / experiment.name
    shutil.copytree(experiment, copy)

    assert write_report(experiment).read_bytes() == first
    assert write_report(copy).read_bytes() == first


def test_it_does_not_depend_on_the_hash_seed_nor_the_time_zone(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ("tomcat-platform", "tomcat-virtual"), repeats=1)
    first = write_report(folder).read_bytes()
    environment = {"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path), "TZ": "Asia/Kathmandu"}

    subprocess.run([sys.executable, "-m", "loomlab", "report", folder], check=True, env=environment)  # noqa: S603

    assert (folder / "report.html").read_bytes() == first


def test_sixty_runs_stay_below_two_megabytes(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, loads=(500, 1000, 2000), repeats=5)

    assert len(list((folder / "runs").iterdir())) == 60
    assert write_report(folder).stat().st_size < MOST_BYTES


def test_every_repeat_is_a_dot_and_every_block_a_ratio(experiment: Path) -> None:
    write_report(experiment)
    text = (experiment / "report.html").read_text()

    for run in json.loads((experiment / "summary.json").read_text())["runs"]:
        assert f"<title>{run['run']}: " in text
    assert text.count("<title>block 1: ") == text.count("<title>block 3: ") > 0


def test_every_plot_is_a_file_that_needs_no_style_of_the_page(experiment: Path) -> None:
    write_report(experiment)
    text = (experiment / "report.html").read_text()
    files = sorted((experiment / "plots").iterdir())

    assert len(files) == text.count('role="img"') > 15
    assert {"cpu-per-request-over-load.svg", "ratios-of-cpu-per-request-at-2000-connections.svg"} <= {
        file.name for file in files
    }
    for file in files:
        told = file.read_text()
        assert ElementTree.fromstring(told).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - just made
        assert "var(" not in told
        assert all(f">{name}</text>" in told for name in HEADLINE)


def test_the_table_has_a_row_for_each_approach_at_each_load(experiment: Path) -> None:
    write_report(experiment)
    rows = list(csv.DictReader(io.StringIO((experiment / "table.csv").read_text())))

    assert [(row["load"], row["approach"]) for row in rows] == [
        (load, name) for load in ("500", "2000") for name in sorted(HEADLINE)
    ]
    runs = json.loads((experiment / "summary.json").read_text())["runs"]
    for row in rows:
        costs = [
            run["cpu_ms_per_request"]
            for run in runs
            if run["approach"] == row["approach"] and run["concurrency"] == int(row["load"])
        ]
        assert float(row["cpu_ms_per_request_lowest"]) == pytest.approx(min(costs))
        assert float(row["cpu_ms_per_request_highest"]) == pytest.approx(max(costs))
        assert min(costs) < float(row["cpu_ms_per_request"]) < max(costs)


def test_the_seconds_of_every_run_are_there_to_draw(experiment: Path) -> None:
    write_report(experiment)
    text = (experiment / "report.html").read_text()
    data = json.loads(text.partition('id="courses">')[2].partition("</script>")[0])

    assert [group["label"] for group in data["groups"]] == [
        f"{load} connections, repeat {repeat}" for load in ("500", "2,000") for repeat in (1, 2, 3)
    ]
    for group in data["groups"]:
        assert sorted(run["approach"] for run in group["runs"]) == sorted(HEADLINE)
        for run in group["runs"]:
            assert (run["interior"], run["loaded"]) == ([1.9, 59.9], [0.0, 60.9])
            assert set(run["panels"]) == {"throughput", "p50", "p99", "cpu", "rss", "threads"}
            assert all(len(points) <= MOST_POINTS for points in run["panels"].values())
            begun = -run["from"] // run["step"]
            assert run["panels"]["throughput"][begun + 5] == pytest.approx(100, abs=2)
            assert run["panels"]["p50"][begun + 5] == pytest.approx(905, rel=0.01)
            assert run["panels"]["cpu"][begun + 30] == pytest.approx(0.13, abs=0.05)


def test_the_command_makes_the_same_order_again(page: Parts) -> None:
    assert "make sweep CONCURRENCY=1000 SEED=1 " in page.text


def test_a_single_run_says_what_an_interval_needs(tmp_path: Path) -> None:
    alone = parts_of(folder_of(tmp_path, ("tomcat-virtual",), repeats=1))

    assert alone.sections == [name for name in SECTIONS if name != "loads"]
    assert "tomcat-virtual needs 1." in alone.text
    assert "nothing to compare" in alone.text


def test_two_repeats_give_no_interval(tmp_path: Path) -> None:
    page = parts_of(folder_of(tmp_path, repeats=2))

    assert "REPEATS=5" in page.text
    assert 'class="interval"' not in next(tmp_path.glob("*/report.html")).read_text()


def test_the_summary_begins_with_the_sentences_and_the_table(experiment: Path, page: Parts) -> None:
    lines = (experiment / "summary.md").read_text().splitlines()

    said = [line.removeprefix("- ") for line in lines[4 : lines.index("Every run:")] if line.startswith("- ")]
    assert len(said) > 4
    assert [sentence for sentence in said if sentence not in page.text] == []
    assert sum(line.startswith("| 500 connections | ") for line in lines) == len(HEADLINE)


def test_commands_that_start_often_do_not_wait_for_what_reports_need() -> None:
    script = "import sys, loomlab.cli; print([name for name in ('jinja2', 'scipy', 'numpy') if name in sys.modules])"

    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert told.stdout == "[]\n"


def test_the_environment_is_what_was_recorded(page: Parts) -> None:
    told = page.text.partition(" Environment ")[2].partition(" Make it again ")[0]

    for words in (
        "CPU not recorded", "CPU governor not recorded", "CPUs 2", "memory 23.5 GiB", "kernel 6.18.44", "limits ",
        "PLATFORM_THREADS", "images backend sha256:4a03f6", "stand-in base images yes", "tools ab ",
        "heap at most 677 MiB", "arguments -XX:+UseParallelGC, ", "tool at 2,000 connections vegeta attack ",
    ):  # fmt: skip
        assert words in told
