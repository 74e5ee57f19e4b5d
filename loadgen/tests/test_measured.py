"""The pages and the charts that docs/tools/measured.py makes of kept summaries; what they say is in docs/, as drawn."""

import gzip
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from loomlab.records.contrasts import Contrast
from loomlab.records.models import Latency
from loomlab.records.raw import LiveBytes
from loomlab.report.experiment import Experiment
from report_folder import LOAD, experiment_of, run_of

DOCS = next(path for path in (Path(__file__).parents[2] / "docs", Path("/lab/docs")) if path.exists())
COSTS = {"tomcat-virtual": 0.8, "tomcat-platform": 1.0, "virtual-netty": 1.5, "webflux-netty": 1.2}
HELD = {"tomcat-virtual": 20, "tomcat-platform": 80, "virtual-netty": 30, "webflux-netty": 40}
"""CPU in ms and memory in KiB of a request at the highest load."""
AGAINST = {"tomcat-virtual": "tomcat-platform", "virtual-netty": "webflux-netty"}


def measured() -> Any:
    spec = spec_from_file_location("measured", DOCS / "tools" / "measured.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def swept(factor: int = 1) -> Experiment:
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
            runs.append(run_of(name, repeat, **run))
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
