"""Raw files that disagree with one another, or with what can be: nothing of them is passed in silence."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loomlab.answer.finish import finish
from loomlab.basics.errors import ParseError
from loomlab.judge.judge import judge_run
from rawrun import LATENCY_MS, SECONDS, RawRun, at, write
from saying import failed
from test_strangers import made


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.report.update({"Complete requests": 2000, "Keep-Alive requests": 2000}),
        lambda run: run.report.update({"Complete requests": len(run.rows)}) or run.rows.extend(run.rows[::40]),
        lambda run: run.tool.update(exit_code=-9),
        lambda run: run.rows.__setitem__(0, (0, LATENCY_MS)),
        lambda run: run.rows.append((int(at(SECONDS - 1)), 10**15)),
        lambda run: run.rows.append((int(at(5)), -(10**15))),
        lambda run: run.report.update({"Time taken for tests": "27.000 seconds"}),
        lambda run: run.report.update({"Time taken for tests": "999999999.000 seconds"}),
    ],
    ids=["more-counted", "duplicates", "killed", "1970", "ends-after-the-run", "negative", "too-short", "too-long"],
)
def test_a_report_is_not_believed_against_its_rows_its_exit_code_or_the_time(
    change: Callable[[RawRun], Any], tmp_path: Path
) -> None:
    run = RawRun()
    change(run)

    got = run.judged(tmp_path)

    assert got.verdict == "invalid"
    assert "tool_failed" in failed(got.rules)


DAMAGED: list[tuple[str, Callable[[Any], Any]]] = [
    ("request.json", lambda _: "{"),
    ("request.json", lambda _: {"tool": 1}),
    ("tool.json", lambda told: told | {"started": math.nan}),
    ("request.json", lambda told: told | {"backend_cpus": "x"}),
    ("request.json", lambda told: told | {"load": told["load"] | {"connections": 0}}),
    ("metrics.json", lambda told: told | {"containers": [{"metric": 5, "values": []}]}),
    ("metrics.json", lambda told: told | {"containers": [{"metric": {"le": "x"}, "values": []}]}),
    ("metrics.json", lambda _: [1]),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_record_or_one_of_what_cannot_be_is_told_with_its_name(
    name: str, damage: Callable[[Any], Any], run_dir: Path
) -> None:
    write(run_dir, name, damage(json.loads((run_dir / "raw" / name).read_text())))

    with pytest.raises(ParseError, match=name):
        judge_run(run_dir)


def test_a_damaged_record_costs_its_run_alone(tmp_path: Path) -> None:
    folder = made(tmp_path, runs=2)
    write(folder / "runs" / "1-tomcat-virtual", "warmup.json", {"cap_s": math.inf})

    with pytest.warns(UserWarning, match="1-tomcat-virtual cannot be judged"):
        summary = finish(folder)

    assert [run.run for run in summary.runs] == ["2-tomcat-virtual"]
