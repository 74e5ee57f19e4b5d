"""Answers of Grafana's HTTP API."""

import httpx
import pytest

from watching.grafana import Grafana, NotReadyError


def grafana_that(answers: dict[str, httpx.Response]) -> Grafana:
    def answer(request: httpx.Request) -> httpx.Response:
        return answers.get(request.url.path, httpx.Response(404))

    return Grafana("http://grafana:3000", httpx.MockTransport(answer))


def queried(status: int, **result: object) -> Grafana:
    return grafana_that({"/api/ds/query": httpx.Response(status, json={"results": {"A": result}})})


def test_it_is_ready_when_its_database_is() -> None:
    grafana_that({"/api/health": httpx.Response(200, json={"database": "ok"})}).wait(0)


@pytest.mark.parametrize("answer", [httpx.Response(503), httpx.Response(200, json={"database": "failing"})])
def test_it_is_not_ready_before(answer: httpx.Response) -> None:
    with pytest.raises(NotReadyError, match="not ready after 0 s"):
        grafana_that({"/api/health": answer}).wait(0)


def test_what_is_provisioned() -> None:
    grafana = grafana_that(
        {
            "/api/search": httpx.Response(200, json=[{"uid": "loomlab-compare"}]),
            "/api/dashboards/uid/loomlab-compare": httpx.Response(200, json={"meta": {"provisioned": True}}),
            "/api/dashboards/uid/by-hand": httpx.Response(200, json={"meta": {"provisioned": False}}),
            "/api/datasources/uid/loomlab-prometheus/health": httpx.Response(200, json={"status": "OK"}),
        }
    )
    assert grafana.dashboards() == {"loomlab-compare"}
    assert grafana.is_provisioned("loomlab-compare")
    assert not grafana.is_provisioned("by-hand")
    assert grafana.data_source_status() == "OK"


def test_frames_of_a_query_are_counted() -> None:
    assert queried(200, frames=[{}, {}]).frames("up", "range", 1, 2) == 2
    assert queried(200, frames=[]).frames("up", "instant", 1, 2) == 0


@pytest.mark.parametrize("grafana", [queried(200, error="bad_data"), queried(400, error="parse error"), queried(500)])
def test_a_refused_query_is_named(grafana: Grafana) -> None:
    with pytest.raises(ValueError, match="Grafana refused up"):
        grafana.frames("up", "range", 1, 2)
