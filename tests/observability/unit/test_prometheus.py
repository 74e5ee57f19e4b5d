"""Answers of the HTTP API become series of finite values."""

import pytest

from fake import prometheus_that
from watching.prometheus import RefusedError, Rule

LABELS = {"service": "backend"}


def test_kinds_of_answers() -> None:
    prometheus = prometheus_that(
        {
            "up": {"resultType": "vector", "result": [{"metric": LABELS, "value": [5, "1"]}]},
            "up[2s]": {"resultType": "matrix", "result": [{"metric": LABELS, "values": [[4, "0"], [5, "1"]]}]},
            "nan": {"resultType": "vector", "result": [{"metric": {}, "value": [5, "NaN"]}]},
            "time()": {"resultType": "scalar", "result": [5, "5"]},
        }
    )
    [up] = prometheus.instant("up", 5)
    assert (up.samples, up.labels) == (((5, 1),), LABELS)
    assert prometheus.range("up[2s]", 4, 5, 1)[0].values == [0, 1]
    assert prometheus.instant("nan", 5)[0].samples == ()
    assert prometheus.instant("time()", 5)[0].values == [5]


def test_a_refused_query_is_named() -> None:
    with pytest.raises(RefusedError, match=r"sum\( : parse error|sum\(: parse error"):
        prometheus_that({}).instant("sum(", 5)


def test_rules_of_all_groups() -> None:
    rule = {"name": "service:up:sum", "type": "recording", "health": "err", "lastError": "many-to-many"}
    groups = {"groups": [{"rules": [rule]}, {"rules": [{"name": "LabX", "type": "alerting", "health": "ok"}]}]}
    assert prometheus_that({"/api/v1/rules": groups}).rules() == [
        Rule("service:up:sum", "recording", "err", "many-to-many"),
        Rule("LabX", "alerting", "ok", ""),
    ]
