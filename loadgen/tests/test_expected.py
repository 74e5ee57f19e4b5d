"""What a plan says of the intervals that its sweep will have."""

import math
from pathlib import Path
from typing import Any

import pytest

from compared import compared
from loomlab.answer.expected import BLOCK_DEVIATION, block_deviation, expectation
from loomlab.records.contrasts import Contrast
from loomlab.records.files import write_json
from loomlab.records.models import Summary
from ordered import planned
from test_summary import run as run_record

PAIR: dict[str, Any] = {"verb": "sweep", "tool": "users", "approaches": ("tomcat-platform", "tomcat-virtual")}


def swept(results: Path, name: str, ratios: tuple[float, ...], cpu: str = "here", partner: str | None = "b") -> None:
    """The summary of a sweep with a block for each of these ratios."""
    comparison = compared(ratios, (1.0,) * len(ratios))
    contrast = Contrast(a="a", b="b", kind="controlled", differs=[], comparisons=[comparison])
    (results / name).mkdir()
    summary = Summary(
        experiment=name, started=None, finished=None, notes=[], environment={"cpu_model": cpu}, contrasts=[contrast],
        runs=[run_record(1, partner=partner)],
    )  # fmt: skip
    write_json(results / name / "summary.json", summary)


def test_earlier_sweeps_in_slices_on_such_a_host_tell_how_far_blocks_are_apart(tmp_path: Path) -> None:
    assert block_deviation(tmp_path, "here") is None

    swept(tmp_path, "1-sweep-users-c1", (math.exp(-0.02), 1.0, math.exp(0.02)))
    swept(tmp_path, "2-sweep-users-c1", (math.exp(-0.04), 1.0, math.exp(0.04)))
    swept(tmp_path, "3-sweep-users-c1", (0.5, 1.0, 2.0), cpu="elsewhere")
    swept(tmp_path, "4-sweep-ab-c1", (0.5, 1.0, 2.0), partner=None)
    swept(tmp_path, "5-sweep-users-c1", (0.5, 2.0))
    (tmp_path / "6-sweep-users-c1").mkdir()
    (tmp_path / "6-sweep-users-c1" / "summary.json").write_text("{")

    assert block_deviation(tmp_path, "here") == pytest.approx(math.sqrt((0.02**2 + 0.04**2) / 2))


def test_a_plan_in_slices_says_how_wide_its_intervals_will_be(tmp_path: Path) -> None:
    order = planned(tmp_path, **PAIR)
    said = expectation(order, tmp_path)

    assert said is not None
    # Student's quantile of four degrees of freedom is 2.776
    assert f"± {100 * math.expm1(2.776 * BLOCK_DEVIATION / math.sqrt(5)):.1f} %" in said
    assert "With 5 blocks" in said
    assert expectation(planned(tmp_path, **PAIR, repeats=2), tmp_path) is None
    assert expectation(planned(tmp_path, **PAIR, design="alone"), tmp_path) is None
