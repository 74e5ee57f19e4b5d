from collections.abc import Iterator

import promql_parser
import pytest

from lab import COMMITTED, documented_metrics, recording_rules
from loomlab_dashboards.frame import Json
from loomlab_dashboards.substitute import UnknownVariableError, Window, annotations, queries, values_of

OF_PROMETHEUS = {"up", "scrape_duration_seconds", "ALERTS"}
"""Which Prometheus makes itself, of every target and of its alerts."""
PARTS_OF_A_HISTOGRAM = ("_bucket", "_count", "_sum")
WINDOW = Window(0, 900)


def expressions() -> Iterator[tuple[str, str]]:
    for document in COMMITTED.values():
        values = values_of(document, WINDOW, {})
        yield from ((f"{query.dashboard}: {query.panel}", query.expr) for query in queries(document, values))
        yield from ((f"{document['title']}: annotation", expr) for expr in annotations(document, values))


def metrics_in(expr: str) -> set[str]:
    names: set[str] = set()

    def note(part: promql_parser.Expr) -> None:
        selector = part.vector_selector if isinstance(part, promql_parser.MatrixSelector) else part
        if isinstance(selector, promql_parser.VectorSelector) and selector.name:
            names.add(selector.name)

    promql_parser.walk(promql_parser.parse(expr), note)
    return names


def unknown(expr: str) -> set[str]:
    known = recording_rules() | documented_metrics() | OF_PROMETHEUS
    histograms = {name + part for name in known for part in PARTS_OF_A_HISTOGRAM}
    return metrics_in(expr) - known - histograms


@pytest.mark.parametrize("expr", [pytest.param(expr, id=place) for place, expr in expressions()])
def test_every_metric_is_a_rule_or_documented(expr: str) -> None:
    assert metrics_in(expr)
    assert unknown(expr) == set()


@pytest.mark.parametrize(
    "expr",
    [
        "service:lab_request:rate10s",
        "sum by (service) (rate(container_cpu_usage_secs_total[8s]))",
        "histogram_quantile(0.5, sum by (le) (rate(lab_requests_seconds_buckets[8s])))",
        "max_over_time((up * on (service) lab_run_infos)[15m:1s])",
    ],
)
def test_a_misspelt_metric_is_found(expr: str) -> None:
    assert unknown(expr)


@pytest.mark.parametrize(
    ("seconds", "step", "rate_interval"), [(60, "2s", "8s"), (900, "2s", "8s"), (7200, "12s", "14s")]
)
def test_a_longer_range_takes_longer_steps(seconds: int, step: str, rate_interval: str) -> None:
    values = Window(1000, 1000 + seconds).values()
    assert (values["__interval"], values["__rate_interval"], values["__range"]) == (step, rate_interval, f"{seconds}s")


def one_query(expr: str) -> Json:
    target = {"expr": expr, "instant": False, "legendFormat": "x"}
    panel = {"type": "timeseries", "title": "P", "fieldConfig": {"defaults": {"unit": "s"}}, "targets": [target]}
    variable = {"name": "approach"}
    return {"title": "D", "templating": {"list": [variable]}, "panels": [{"type": "row"}, panel]}


def test_variables_and_intervals_are_replaced_and_groups_are_not() -> None:
    document = one_query('label_replace(rate(x{s=~"$approach"}[$__rate_interval]), "a", "$1", "b", "(.+)")')
    (query,) = queries(document, values_of(document, WINDOW, {"approach": "tomcat-.+"}))
    assert query.expr == 'label_replace(rate(x{s=~"tomcat-.+"}[8s]), "a", "$1", "b", "(.+)")'
    assert (query.dashboard, query.panel, query.kind, query.unit) == ("D", "P", "range", "s")


def test_a_variable_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownVariableError, match="no variable aproach: use one of approach"):
        values_of(one_query("x"), WINDOW, {"aproach": "x"})
