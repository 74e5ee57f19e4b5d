import pytest

from loomlab_dashboards.frame import Json
from loomlab_dashboards.substitute import Window, queries, values_of

WINDOW = Window(0, 900)


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
    with pytest.raises(ValueError, match="no variable aproach: use one of approach"):
        values_of(one_query("x"), WINDOW, {"aproach": "x"})
