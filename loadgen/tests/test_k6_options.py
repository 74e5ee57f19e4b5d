"""What k6 is told to do, and what it is not asked for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.errors import UsageError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage
from loomlab.tools.k6 import K6, REMOTE_WRITE_VARIABLE
from loomlab.tools.k6_options import load_file

CLOSED = Load("http://a:8080", (Target("/x?y=z"),), 10, Closed(requests=1200, duration_s=60), timeout_s=30)


def scenarios(load: Load) -> Any:
    return load_file(load)["options"]["scenarios"]


def test_the_requests_are_written_out_with_what_all_of_them_share() -> None:
    written = load_file(replace(CLOSED, targets=(Target("/x?y=z", "POST", ("A: b:c", "D:e"), Path("/body.json")),)))

    assert written["requests"] == [
        {
            "method": "POST",
            "url": "http://a:8080/x?y=z",
            "body": "/body.json",
            "params": {"headers": {"A": "b:c", "D": "e"}, "tags": {"name": "/x"}, "timeout": 30_000},
        }
    ]
    assert written["think_s"] is None
    assert {name: value for name, value in written["options"].items() if name != "scenarios"} == {
        "systemTags": ["error_code", "method", "name", "status"],
        "summaryTrendStats": ["count", "avg", "min", "med", "max", "p(50)", "p(90)", "p(95)", "p(99)"],
        "discardResponseBodies": True,
        "maxRedirects": 0,
        "noCookiesReset": True,
        "throw": True,
        "userAgent": "k6",
    }


def test_a_closed_load_shares_its_requests() -> None:
    assert scenarios(CLOSED) == {
        "load": {
            "executor": "shared-iterations",
            "vus": 10,
            "iterations": 1200,
            "maxDuration": "60s",
            "gracefulStop": "35s",
        }
    }


@pytest.mark.parametrize(
    ("rate_rps", "rate", "unit"), [(200, 200, "1s"), (12.5, 25, "2s"), (1 / 3, 333, "1000s"), (0.001, 1, "1000s")]
)
def test_a_constant_rate_is_whole_requests_in_whole_seconds(rate_rps: float, rate: int, unit: str) -> None:
    assert scenarios(replace(CLOSED, shape=OpenRate((RateStep(rate_rps, 60),)))) == {
        "load": {
            "executor": "constant-arrival-rate",
            "rate": rate,
            "timeUnit": unit,
            "duration": "60s",
            "preAllocatedVUs": 10,
            "maxVUs": 10,
            "gracefulStop": "35s",
        }
    }


def test_steps_of_a_rate_follow_by_jumps() -> None:
    steps = (RateStep(100, 10), RateStep(250.5, 20), RateStep(50, 5))

    assert scenarios(replace(CLOSED, shape=OpenRate(steps))) == {
        "load": {
            "executor": "ramping-arrival-rate",
            "startRate": 200,
            "timeUnit": "2s",
            "stages": [
                {"target": 200, "duration": "10s"},
                {"target": 501, "duration": "0s"},
                {"target": 501, "duration": "20s"},
                {"target": 100, "duration": "0s"},
                {"target": 100, "duration": "5s"},
            ],
            "preAllocatedVUs": 10,
            "maxVUs": 10,
            "gracefulStop": "35s",
        }
    }


def test_users_follow_the_stages_and_think() -> None:
    load = replace(CLOSED, shape=Users((UserStage(10, 5), UserStage(10, 60), UserStage(0, 5)), (1.0, 2.5)))

    assert load_file(load)["think_s"] == [1.0, 2.5]
    assert scenarios(load) == {
        "users-0": {
            "executor": "ramping-vus",
            "startVUs": 0,
            "stages": [
                {"target": 10, "duration": "5s"},
                {"target": 10, "duration": "60s"},
                {"target": 0, "duration": "5s"},
            ],
            "gracefulRampDown": "35s",
            "gracefulStop": "35s",
            "env": {"REQUEST": "0"},
        }
    }


def test_users_of_several_targets_are_groups_that_differ_by_one_at_most() -> None:
    load = replace(
        CLOSED, targets=(Target("/a"), Target("/b"), Target("/c")), shape=Users((UserStage(8, 5), UserStage(1, 5)))
    )

    groups = scenarios(load)

    assert [group["env"]["REQUEST"] for group in groups.values()] == ["0", "1", "2"]
    assert [[stage["target"] for stage in group["stages"]] for group in groups.values()] == [[3, 1], [3, 0], [2, 0]]


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (replace(CLOSED, connections=1201), "1200 for 1201"),
        (replace(CLOSED, shape=OpenRate((RateStep(10, 5), RateStep(0, 5)))), "got 0"),
        (replace(CLOSED, shape=Users((UserStage(5, 5), UserStage(11, 5)))), "11 users for 10"),
        (replace(CLOSED, shape=Users((UserStage(0, 5),))), "0 users for 10"),
    ],
)
def test_what_k6_cannot_do_is_refused(load: Load, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        K6().check(load)


def test_live_figures_are_sent_where_a_receiver_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REMOTE_WRITE_VARIABLE, raising=False)
    without = K6().command(CLOSED, tmp_path, "k6")
    monkeypatch.setenv(REMOTE_WRITE_VARIABLE, "http://prometheus:9090/api/v1/write")
    sent = K6().command(CLOSED, tmp_path, "k6")

    assert [word for word in sent if word not in without] == ["experimental-prometheus-rw"]
