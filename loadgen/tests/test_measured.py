"""The page and the charts that docs/tools/measured.py makes of kept summaries have their figures and their doubts."""

import gzip
import re
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from loomlab.answer.loads import load_groups
from loomlab.records.contrasts import Contrast
from loomlab.records.models import Latency, Run
from loomlab.records.raw import LiveBytes
from loomlab.report.experiment import Experiment
from loomlab.report.opening import caveats_of, opening_of
from report_folder import LOAD, experiment_of, run_of
from saying import figures

DOCS = next(path for path in (Path(__file__).parents[2] / "docs", Path("/lab/docs")) if path.exists())
COSTS = {"tomcat-virtual": 0.8, "tomcat-platform": 1.0, "virtual-netty": 1.5, "webflux-netty": 1.2}
HELD = {"tomcat-virtual": 20, "tomcat-platform": 80, "virtual-netty": 30, "webflux-netty": 40}
"""CPU in ms and memory in KiB of a request at the highest load."""
AGAINST = {"tomcat-virtual": "tomcat-platform", "virtual-netty": "webflux-netty"}
WORDS = ("lower", "higher", "no difference", "not significant")
SVG = "{http://www.w3.org/2000/svg}"


def measured() -> Any:
    spec = spec_from_file_location("measured", DOCS / "tools" / "measured.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def swept(factor: int = 1, **changes: Any) -> Experiment:
    """The headline approaches at two loads: at the smaller one their CPU hangs on the block and their memory is one; at
    the larger one that of memory is so many times as much."""
    runs = []
    for repeat, name in product(range(1, 6), COSTS):
        off = (repeat - 3) * (name in AGAINST)  # one side's CPU differs from block to block
        for cell, connections, cost, kib in (
            (1, 500, 1.0 + repeat * 3 % 5 * (name in AGAINST), 7),
            (2, 2000, COSTS[name] * (1 + off / 100), factor * (HELD[name] + repeat % 2)),
        ):
            run: dict[str, Any] = {
                "cell": cell, "run": f"{cell}{repeat}-{name}", "load": replace(LOAD, connections=connections),
                "cpu_ms_per_request": cost, "latency_ms": Latency(p99=99_000 + repeat), "reasons": [],
                "live_bytes_per_request": LiveBytes(heap=1024 * kib, stacks_off_heap=0, kernel=0),
            }  # fmt: skip
            runs.append(run_of(name, repeat, **run | changes))
    contrasts = [Contrast(a=a, b=b, kind="controlled", differs=[]) for a, b in AGAINST.items()]
    told: dict[str, Any] = {"started": "2026-11-18T11:20:20Z", "environment": {"stand_in_images": False}}
    return experiment_of(runs, contrasts=contrasts, **told)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs" / "results" / "measured"
    folder.mkdir(parents=True)
    (tmp_path / "docs" / "images").mkdir()
    (tmp_path / "docs" / "explanation").mkdir()
    for page in ("README.md", "docs/explanation/memory.md"):
        (tmp_path / page).write_text("Before.\n<!-- measured -->\nold\n<!-- /measured -->\nAfter.\n")
    for name, experiment in (("headline", swept()), ("headline-untimed", swept(factor=3))):
        text = experiment.summary.model_dump_json(by_alias=True).encode()
        (folder / f"{name}.json.gz").write_bytes(gzip.compress(text))
    return tmp_path / "docs"


def test_the_answer_has_memory_at_the_highest_load_and_cpu_at_each(docs: Path) -> None:
    lines = measured().answer(measured().kept(docs))
    rows = [line.strip("|").split(" | ") for line in lines[2:5]]

    assert re.findall(r"[\d,]+ connections", lines[0]) == ["500 connections", "2,000 connections"]
    assert [row[0].count("**") for row in rows] == [2, 0, 2]
    assert [re.findall(r"[\d.]+", row[1].partition(":")[0]) for row in rows] == [
        ["20.6", "80.6"], ["61.8", "242"], ["30.6", "40.6"],
    ]  # fmt: skip
    assert ["−60 KiB" in rows[0][1], "−180 KiB" in rows[1][1], "−10 KiB" in rows[2][1]] == [True] * 3
    assert ["not significant" in row[2] for row in rows] == [True] * 3
    assert [re.findall(r"[−+\d.]+", row[3])[:3] for row in rows] == [
        ["0.800", "1.00", "−20"], ["0.800", "1.00", "−20"], ["1.50", "1.20", "+25"],
    ]  # fmt: skip


def test_what_is_not_significant_or_the_same_is_said_beside_its_figure() -> None:
    module, experiment = measured(), swept()
    first = experiment.comparisons(module.CPU)[-1]

    told = {word: module._cell(first.model_copy(update={"word": word})) for word in WORDS}
    assert module._cell(first.model_copy(update={"blocks": first.blocks[:3]})) == f"{told['lower']}, 3 blocks only"
    assert {word: text.removeprefix(told["lower"]) for word, text in told.items()} == {
        "lower": "", "higher": "",
        "no difference": ", within ±10 %",
        "not significant": ", not significant; corrected for 4 comparisons",
    }  # fmt: skip
    assert told["lower"] == told["higher"] == "1.50 instead of 1.20 ms: +25 % (+23 to +27)"


def test_a_section_has_the_counts_the_sentences_the_doubts_and_the_table() -> None:
    doubt = "The backend was late."
    experiment = swept()
    spoilt: Run = experiment.runs[0].model_copy(update={"verdict": "suspect", "reasons": [doubt]})
    runs = [spoilt, *experiment.runs[1:]]
    summary = experiment.summary.model_copy(update={"runs": runs})
    page = measured().page({"headline": Experiment("headline", summary, None, load_groups(runs))})

    assert f"suspect: {doubt}" in page
    assert "40 runs: 39 valid, 1 suspect." in page
    assert "2026-11-18" in page
    said = [line.removeprefix("- ") for line in page.splitlines() if line.startswith("- ")]
    found = opening_of(experiment)
    assert said == [*found.found, found.unclear, *found.more, f"suspect: {doubt}"]
    assert {"20", "0.800", "1.00"} <= figures(
        next(one for one in said if "2,000" in one and "tomcat" in one and "CPU" in one)
    )
    assert sum(line.startswith("| 2,000 connections | ") for line in page.splitlines()) == 4


def test_the_chart_has_what_changes_in_percent_of_the_other_side(docs: Path) -> None:
    module = measured()
    rows = module.answers(module.kept(docs))
    memory, cpu = (rows[0].by(figure) for figure in (module.MEMORY, module.CPU))

    assert module._percent(cpu, cpu.effect) == pytest.approx(-20, abs=0.1)
    assert module._percent(memory, memory.effect) == pytest.approx(-100 * 60 / 80.6)
    drawn = ElementTree.fromstring(module.chart(rows))  # noqa: S314 - just made
    names = [text.text or "" for text in drawn.iter(f"{SVG}text")]
    assert [sum(name.startswith(figure.title) for name in names) for figure in (module.MEMORY, module.CPU)] == [3, 3]
    dots = {mark.get("y"): float(mark.attrib["x"]) for mark in drawn.iter(f"{SVG}use") if mark.get("clip-path") is None}
    bars = [
        re.findall(r"[ML] (\S+) (\S+)", path.attrib["d"])
        for path in drawn.iter(f"{SVG}path")
        if "width: 4" in path.get("style", "")
    ]
    assert [float(low) <= dots[y] <= float(high) for (low, y), (high, _) in bars] == [True] * 6


def test_pages_and_charts_are_written_and_the_dark_one_in_its_colours(docs: Path) -> None:
    module = measured()
    module.write(docs.parent, docs.parent)

    for page, lines in (("README.md", module.answer), ("docs/explanation/memory.md", module.memory)):
        text = (docs.parent / page).read_text()
        drawn = ["Before.", "<!-- measured -->", *lines(module.kept(docs)), "<!-- /measured -->", "After.", ""]
        assert text == "\n".join(drawn)
    light, dark = ((docs / "images" / f"answer-{name}.svg").read_text() for name in ("light", "dark"))
    assert (docs / "results" / "measured.md").read_text().count("\n## ") == 2
    assert "var(--" not in dark
    assert module.DARK["ink"] in dark
    assert "var(--ink, " in light


def test_doubts_of_every_run_and_of_the_whole_are_on_the_page_and_blocks_that_do_not_count() -> None:
    doubt = "The backend was late."
    experiment = swept(verdict="suspect", reasons=[doubt])
    runs = [experiment.runs[0].model_copy(update={"verdict": "invalid"}), *experiment.runs[1:]]
    summary = experiment.summary.model_copy(update={"runs": runs, "environment": {"stand_in_images": True}})
    spoilt = Experiment("headline", summary, None, load_groups(runs))
    page, caveats = measured().page({"headline": spoilt}), caveats_of(spoilt)
    dropped = [one.dropped[0] for one in spoilt.comparisons(measured().CPU) if one.dropped]
    assert dropped

    assert [told for told in (doubt, *caveats.whole, *dropped) if told not in page] == []
