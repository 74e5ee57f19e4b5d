"""The lab's own conventions, over the committed JSON, so that an edit by hand is caught as well."""

import re
from collections.abc import Iterator

import pytest

from lab import COMMITTED, LAB, approaches, override, panel_of, settings
from loomlab_dashboards.frame import Json
from loomlab_dashboards.palette import APPROACHES, FINE, IDLE
from loomlab_dashboards.panels import LIMIT, MIN_STEP
from loomlab_dashboards.queries import OUTSIDE_MEASURE, UNMEASURED, WINDOW_FULL_S
from loomlab_dashboards.substitute import panels

CURRENT_TYPES = {"timeseries", "trend", "heatmap", "state-timeline", "stat", "table"}
WITH_LEGEND = {"timeseries", "trend"}
UNITS = {"none", "bytes", "s", "ms", "percentunit", "reqps", "cps", "suffix:cores"}
"""Grafana takes any word, and shows one that it does not know behind the value."""
RANGES = {"$__rate_interval", "$__range", "$__range:1s", "$__interval", "$__interval:1s"}
OF_THE_WHOLE_PHASE = "CPU per request"
"""The panel whose line is of the measured phase up to then: its last value is that of the run."""
UIDS = {"compare": "loomlab-compare", "one-run": "loomlab-one-run", "lab-health": "loomlab-lab-health"}


def colour(panel: Json, series: str) -> str | None:
    fixed = override(panel, series, "color")
    return fixed["fixedColor"] if fixed else None


def all_panels() -> Iterator[tuple[str, Json]]:
    for document in COMMITTED.values():
        for panel in panels(document):
            yield f"{document['title']}: {panel['title']}", panel


each_panel = pytest.mark.parametrize("panel", [pytest.param(panel, id=name) for name, panel in all_panels()])
each_dashboard = pytest.mark.parametrize("name", COMMITTED)


@each_panel
def test_it_has_a_title_and_one_sentence(panel: Json) -> None:
    assert panel["title"]
    assert re.fullmatch(r"[A-Z0-9p][^.]*\.", panel["description"]), panel["description"]


@each_panel
def test_its_type_is_current_and_its_unit_known(panel: Json) -> None:
    assert panel["type"] in CURRENT_TYPES
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS


@each_panel
def test_its_data_source_is_the_chosen_one(panel: Json) -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    assert panel["datasource"] == chosen
    assert all(target["datasource"] == chosen for target in panel["targets"])


@each_panel
def test_its_queries_have_a_least_step_and_differ_by_name(panel: Json) -> None:
    assert all(target["interval"] == MIN_STEP for target in panel["targets"])
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


@each_panel
def test_its_windows_are_those_of_the_dashboard(panel: Json) -> None:
    for target in panel["targets"]:
        assert set(re.findall(r"\[([^\]]*)\]", target["expr"])) <= RANGES, target["expr"]


@each_panel
def test_it_asks_once_or_over_time_as_its_type_needs(panel: Json) -> None:
    once = panel["type"] in {"trend", "stat", "table"}
    assert all(target["instant"] == once and target["range"] != once for target in panel["targets"])


@each_panel
def test_its_legend_can_be_read(panel: Json) -> None:
    if panel["type"] in WITH_LEGEND:
        legend = panel["options"]["legend"]
        assert (legend["displayMode"], legend["placement"], legend["showLegend"]) == ("table", "bottom", True)
    names = [target["legendFormat"] for target in panel["targets"]]
    assert all(names)
    assert len({*names}) == len(names) or {*names} - {LIMIT} == {"{{service}}"}


@each_panel
def test_every_approach_has_its_colour(panel: Json) -> None:
    if panel["type"] in WITH_LEGEND:
        for approach, fixed in APPROACHES.items():
            assert colour(panel, approach) == fixed
            assert colour(panel, f"20261121T161808Z-vegeta-r100/1-{approach}") == fixed


@pytest.mark.parametrize(
    "name", ["tomcat-virtual-2", "virtual", "jetty-virtual p99", "20261121T161808Z-tomcat-virtual/1-unknown"]
)
def test_other_series_have_no_colour_of_an_approach(name: str) -> None:
    assert colour(panel_of("compare", "Throughput"), name) is None


@each_dashboard
def test_it_is_read_only_tagged_and_keeps_its_address(name: str) -> None:
    document = COMMITTED[name]
    assert document["uid"] == UIDS[name]
    assert document["tags"] == ["loom-lab"]
    assert document["editable"] is False
    assert document["schemaVersion"] == 42
    assert "id" not in document


@each_dashboard
def test_ids_are_unique(name: str) -> None:
    ids = [panel["id"] for panel in COMMITTED[name]["panels"]]
    assert len({*ids}) == len(ids)


@each_dashboard
def test_no_panels_overlap(name: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in COMMITTED[name]["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


@each_dashboard
def test_it_links_to_the_others_and_to_results(name: str) -> None:
    others, results = COMMITTED[name]["links"]
    assert (others["type"], others["tags"], others["keepTime"]) == ("dashboards", ["loom-lab"], True)
    assert results["url"] == "${results:raw}"


@each_dashboard
def test_a_finished_run_links_to_its_folder_where_prometheus_knows_it_to_be(name: str) -> None:
    (finished,) = [each for each in COMMITTED[name]["annotations"]["list"] if each["name"] == "Finished runs"]
    assert 'href="{{url}}/{{experiment}}/"' in finished["textFormat"]
    assert "lab_results_info" in finished["target"]["expr"]


@each_dashboard
def test_nobody_looks_who_does_not_ask(name: str) -> None:
    assert COMMITTED[name]["refresh"] == ""


@pytest.mark.parametrize("name", ["compare", "one-run"])
def test_it_begins_with_the_newest_experiment(name: str) -> None:
    """A query variable without a value takes its first option, but `All` where there is that."""
    (experiment,) = [each for each in COMMITTED[name]["templating"]["list"] if each["name"] == "experiment"]
    natural_descending = 8
    assert (experiment["sort"], experiment["includeAll"]) == (natural_descending, False)
    assert "current" not in experiment
    assert "lab_result_info" in experiment["query"]["query"]


def with_legend_of_windows() -> list[Json]:
    of_compare = [panel for panel in panels(COMMITTED["compare"]) if panel["type"] in WITH_LEGEND]
    return [panel for panel in of_compare if panel["title"] != OF_THE_WHOLE_PHASE]


@pytest.mark.parametrize("panel", with_legend_of_windows())
def test_what_compare_tells_of_a_line_is_of_the_measured_phase(panel: Json) -> None:
    assert {"mean", "max"} <= set(panel["options"]["legend"]["calcs"])
    for target in panel["targets"]:
        over_levels = panel["title"].startswith(("RSS", "OS threads"))
        gate, since_s = (OUTSIDE_MEASURE, 0) if over_levels else (UNMEASURED, WINDOW_FULL_S)
        gates = (f" unless on (service) {gate}", f">= {since_s})")
        assert any(gate in target["expr"] for gate in gates), target["expr"]


def test_a_figure_of_the_whole_phase_is_told_by_its_last_value_however_wide_the_steps() -> None:
    panel = panel_of("compare", OF_THE_WHOLE_PHASE)
    (target,) = panel["targets"]
    of_runs, _, without_run = target["expr"].partition(" or ")
    assert panel["options"]["legend"]["calcs"] == ["lastNotNull"]
    assert "last_over_time(run:container_cpu_ms_per_request:ratio{" in of_runs
    assert 'run=""' in without_run


def test_one_run_tells_no_mean_over_its_warm_up() -> None:
    for panel in panels(COMMITTED["one-run"]):
        if panel["type"] in WITH_LEGEND:
            assert panel["options"]["legend"]["calcs"] == ["lastNotNull"]


def test_lab_health_is_green_of_a_run_only() -> None:
    alerts = panel_of("lab-health", "Alerts")
    without, fine, _ = alerts["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert (without, fine["value"]) == ({"value": None, "color": IDLE}, 0)
    assert alerts["fieldConfig"]["defaults"]["noValue"] == "No run in progress"
    assert "lab_run_info" in alerts["targets"][0]["expr"]
    assert FINE not in str([panel for panel in panels(COMMITTED["lab-health"]) if panel["id"] != alerts["id"]])


@pytest.mark.parametrize("name", ["compare", "one-run"])
@pytest.mark.parametrize("title", ["CPU", "RSS", "Heap"])
def test_limits_are_dashed(name: str, title: str) -> None:
    panel = panel_of(name, title)
    assert panel["targets"][-1]["legendFormat"] == LIMIT
    assert override(panel, LIMIT, "custom.lineStyle") == {"fill": "dash", "dash": [10, 10]}


@each_dashboard
def test_its_variables_are_all_used_and_defined(name: str) -> None:
    document = COMMITTED[name]
    defined = {variable["name"] for variable in document["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]\w*)", str(document)))
    assert used == defined


@each_dashboard
def test_all_matches_what_has_no_such_label(name: str) -> None:
    for variable in COMMITTED[name]["templating"]["list"]:
        assert variable["type"] == "datasource" or not variable["includeAll"] or variable["multi"]
        assert not variable["includeAll"] or variable["allValue"] == ".*"


def test_compare_lets_choose_source_experiment_approach_and_jdk() -> None:
    names = [variable["name"] for variable in COMMITTED["compare"]["templating"]["list"]]
    assert names == ["datasource", "results", "experiment", "approach", "jdk"]


def test_controlled_contrasts_are_the_first_rows() -> None:
    steps = settings(panel_of("compare", "Contrasts"))
    assert steps["sortBy"]["sort"] == [{"field": "kind"}]
    assert steps["organize"]["indexByName"]["kind"] == 0


def test_nobody_edits_in_grafana_what_a_restart_would_undo() -> None:
    dashboards = (LAB / "grafana" / "provisioning" / "dashboards" / "loomlab.yaml").read_text()
    sources = (LAB / "grafana" / "provisioning" / "datasources" / "prometheus.yaml").read_text()
    assert "    allowUiUpdates: false\n" in dashboards
    assert "    editable: false\n" in sources


def test_every_approach_has_a_colour_of_its_own() -> None:
    assert list(APPROACHES) and set(APPROACHES) == set(approaches())
    assert all(re.fullmatch("#[0-9A-F]{6}", each) for each in APPROACHES.values())
    assert len({*APPROACHES.values()}) == len(APPROACHES)
