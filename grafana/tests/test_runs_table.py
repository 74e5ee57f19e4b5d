"""The table of judged runs: its columns, its links, and how it is drawn."""

import re
from typing import Any

import pytest

from lab import COMMITTED
from loomlab_dashboards.frame import Json
from loomlab_dashboards.prometheus import Series
from loomlab_dashboards.series import table
from loomlab_dashboards.substitute import panels

RUNS, THIS_RUN = (panels(COMMITTED[name])[0] for name in ("compare", "one-run"))
both = pytest.mark.parametrize("panel", [RUNS, THIS_RUN], ids=["compare", "one-run"])
COLUMNS = [
    "run", "load", "jdk", "verdict", "req/s", "p99", "CPU per request", "RSS", "held per waiting request",
    "held in the heap", "in stacks, off-heap", "in the kernel", "allocated per request", "threads",
    "reasons", "experiment", "began", "ended",
]  # fmt: skip


def answers(panel: Json, *runs: dict[str, float]) -> list[list[Series]]:
    """Of each query, the figure that each run has of its column."""
    verdict: list[Series] = [{"metric": labels(run) | {"reasons": "It was late."}, "value": [0, "1"]} for run in runs]
    figures: list[list[Series]] = [
        [{"metric": labels(run), "value": [0, str(run[column])]} for run in runs if column in run]
        for column in (target["legendFormat"] for target in panel["targets"][1:])
    ]
    return [verdict, *figures]


def labels(run: dict[str, float]) -> dict[str, str]:
    number = f"{run['number']:.0f}"
    return {
        "experiment": "e", "run": f"{number}-a", "approach": "a", "load": "1,000", "jdk": "25", "verdict": "suspect",
    }  # fmt: skip


def links(panel: Json, column: str) -> list[Any]:
    (override,) = [one for one in panel["fieldConfig"]["overrides"] if one["matcher"]["options"] == column]
    return [link for one in override["properties"] if one["id"] == "links" for link in one["value"]]


@both
def test_it_opens_its_dashboard(panel: Json) -> None:
    assert panel["type"] == "table"
    assert panel["gridPos"]["y"] == 1


@both
def test_a_row_has_verdict_figures_and_reasons(panel: Json) -> None:
    run = {"number": 1, "req/s": 1051, "p99": 1.167, "CPU per request": 0.518, "began": 1.7e12}
    [row] = table(panel, answers(panel, run))
    assert list(row) == COLUMNS
    assert (row["run"], row["verdict"], row["reasons"]) == ("1-a", "suspect", "It was late.")
    assert (row["req/s"], row["p99"], row["CPU per request"]) == ("1,051", "1.17 s", "0.518 ms")
    assert row["RSS"] == ""
    assert row["began"] == "2023-11-14 22:13:20"


@both
def test_the_newest_run_is_first(panel: Json) -> None:
    rows = table(panel, answers(panel, *({"number": one, "began": 1000.0 * one} for one in (2, 10, 1))))
    assert [row["run"] for row in rows] == ["10-a", "2-a", "1-a"]


@both
def test_a_run_links_to_one_run_in_its_own_time(panel: Json) -> None:
    (link,) = links(panel, "run")
    assert link["url"].startswith("/d/loomlab-one-run/")
    for part in (
        "var-experiment=${__data.fields.experiment}", "var-run=${__data.fields.run}",
        "from=${__data.fields.began.numeric}", "to=${__data.fields.ended.numeric}",
    ):  # fmt: skip
        assert part in re.split(r"[?&]", link["url"])


@both
def test_an_experiment_links_to_all_its_runs_and_to_its_report(panel: Json) -> None:
    compare, report = links(panel, "experiment")
    assert compare["url"].endswith(
        "&from=${__data.fields.experiment_began.numeric}&to=${__data.fields.experiment_ended.numeric}"
    )
    assert (report["url"], report["targetBlank"]) == (
        "${results:raw}/${__data.fields.experiment}/report.html",
        True,
    )


@both
def test_every_field_that_a_link_names_is_a_column_and_no_two_values_share_one(panel: Json) -> None:
    (organised,) = [one["options"] for one in panel["transformations"] if one["id"] == "organize"]
    values = {f"Value #{target['refId']}": target["legendFormat"] for target in panel["targets"][1:]}
    assert organised["renameByName"] == values
    fields = {organised["renameByName"].get(one, one) for one in organised["indexByName"]}
    named = re.findall(r"__data\.fields\.(\w+)", str(panel["fieldConfig"]))
    assert named
    assert set(named) <= fields - set(organised["excludeByName"])
