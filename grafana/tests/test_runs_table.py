"""The table of judged runs: its columns, its order and its links."""

import re

import pytest

from lab import override, panel_of, settings
from loomlab_dashboards.frame import Json
from loomlab_dashboards.palette import FINE, INVALID, SUSPECT

RUNS, THIS_RUN = panel_of("compare", "Runs"), panel_of("one-run", "This run")
each_table = pytest.mark.parametrize("panel", [RUNS, THIS_RUN], ids=["compare", "one-run"])


def columns(panel: Json) -> list[str]:
    """The names of all fields in their order."""
    organized = settings(panel)["organize"]
    order: dict[str, int] = organized["indexByName"]
    return [organized["renameByName"].get(name, name) for name in sorted(order, key=lambda name: order[name])]


@each_table
def test_it_opens_its_dashboard(panel: Json) -> None:
    assert panel["type"] == "table"
    assert panel["gridPos"]["y"] == 1


@each_table
def test_a_row_has_the_run_its_verdict_its_figures_its_reasons_and_its_times(panel: Json) -> None:
    asked = [target["legendFormat"] for target in panel["targets"]]
    figures, times = asked[1:-4], asked[-4:]
    assert {"req/s", "p99", "CPU per request", "RSS"} < {*figures}
    assert times == ["began", "ended", "experiment_began", "experiment_ended"]
    assert columns(panel) == ["run", "load", "jdk", "verdict", *figures, "reasons", "experiment", *times]
    hidden = [name for name in columns(panel) if override(panel, name, "custom.hideFrom.viz")]
    assert hidden == ["experiment_began", "experiment_ended"]


@each_table
def test_a_value_is_in_the_column_of_its_query_and_has_its_unit(panel: Json) -> None:
    values = {f"Value #{target['refId']}": target["legendFormat"] for target in panel["targets"][1:]}
    assert settings(panel)["organize"]["renameByName"] == values
    assert override(panel, "p99", "unit") == "s"
    assert override(panel, "began", "unit") == "dateTimeAsIso"


@each_table
def test_the_newest_run_is_first(panel: Json) -> None:
    assert settings(panel)["sortBy"]["sort"] == [{"field": "began", "desc": True}]


@each_table
def test_a_verdict_has_its_colour(panel: Json) -> None:
    (mapping,) = override(panel, "verdict", "mappings")
    colours = {word: each["color"] for word, each in mapping["options"].items()}
    assert colours == {"valid": FINE, "suspect": SUSPECT, "invalid": INVALID}


@each_table
def test_a_run_links_to_one_run_in_its_own_time(panel: Json) -> None:
    (link,) = override(panel, "run", "links")
    assert link["url"].startswith("/d/loomlab-one-run/")
    assert re.split(r"[?&]", link["url"])[1:] == [
        "var-experiment=${__data.fields.experiment}",
        "var-run=${__data.fields.run}",
        "from=${__data.fields.began.numeric}",
        "to=${__data.fields.ended.numeric}",
    ]


@each_table
def test_an_experiment_links_to_all_its_runs_and_to_its_report(panel: Json) -> None:
    compare, report = override(panel, "experiment", "links")
    times = "&from=${__data.fields.experiment_began.numeric}&to=${__data.fields.experiment_ended.numeric}"
    assert compare["url"].endswith(times)
    assert report["url"] == "${results:raw}/${__data.fields.experiment}/report.html"
    assert report["targetBlank"] is True


@each_table
def test_every_field_that_a_link_names_is_a_column(panel: Json) -> None:
    linked = {*re.findall(r"__data\.fields\.(\w+)", str(panel["fieldConfig"]))}
    assert linked
    assert linked <= {*columns(panel)} - {*settings(panel)["organize"]["excludeByName"]}
