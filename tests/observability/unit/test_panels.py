"""Panels have ranges of their unit or title, and series told apart by what their legend says."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from fake import LOAD, steady
from watching.check import problems
from watching.panels import BY_RUN_TIME, PanelQuery, UnknownUnitError, plausible, queries_of

THROUGHPUT = PanelQuery("Compare", "Throughput", "range", "sum by (service) (rate(x[8s]))", "reqps", "{{service}}")


def test_queries_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "queries"
    file.write_text(json.dumps(asdict(THROUGHPUT)) + "\n" + json.dumps(asdict(THROUGHPUT)) + "\n")
    assert queries_of(file) == [THROUGHPUT, THROUGHPUT]


def test_labels_are_those_of_the_legend_or_of_the_table() -> None:
    assert THROUGHPUT.labels == ("service",)
    assert replace(THROUGHPUT, legend="p99").labels == ()
    assert replace(THROUGHPUT, expr=f"max {BY_RUN_TIME} (x)").labels == ("run", "seconds")


def test_only_compare_wants_every_approach() -> None:
    assert THROUGHPUT.compares
    assert not replace(THROUGHPUT, dashboard="Lab health").compares
    assert not replace(THROUGHPUT, legend="busy").compares


def test_a_title_goes_before_the_unit() -> None:
    assert plausible(THROUGHPUT, LOAD).admits(LOAD.rate_rps)
    assert plausible(replace(THROUGHPUT, panel="Backend lateness", unit="s"), LOAD).admits(0.02)


def test_a_limit_is_not_what_it_limits() -> None:
    limit = replace(THROUGHPUT, panel="Heap", unit="bytes", legend="limit")
    assert plausible(limit, LOAD).admits(12 << 30)
    assert not plausible(replace(limit, legend="{{service}}"), LOAD).admits(12 << 30)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(UnknownUnitError, match="'furlongs'"):
        plausible(replace(THROUGHPUT, unit="furlongs"), LOAD)


@pytest.mark.parametrize("factor", [1000, 0.001])
@pytest.mark.parametrize(
    ("panel", "unit", "true"),
    [
        ("Throughput", "reqps", 100),
        ("p99", "s", 0.95),
        ("CPU per request", "ms", 4),
        ("CPU", "suffix:cores", 0.4),
        ("RSS", "bytes", 350e6),
        ("OS threads", "none", 120),
        ("Errors", "percentunit", 0.03),
        ("Backend lateness", "s", 0.01),
        ("Backend lateness", "percentunit", 0.03),
        ("Scrape duration", "s", 0.05),
        ("Headroom", "percentunit", 0.9),
    ],
)
def test_a_wrong_unit_fails(panel: str, unit: str, true: float, factor: float) -> None:
    wanted = plausible(replace(THROUGHPUT, panel=panel, unit=unit), LOAD)
    assert problems([steady(true, service="x")], wanted) == []
    assert problems([steady(true * factor, service="x")], wanted) != []
