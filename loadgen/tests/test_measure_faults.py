"""What the verdict says of users and of vegeta when the server fails them."""

from pathlib import Path
from typing import Any

import pytest

from loomlab.records.models import Run
from saying import failed
from server import EVERY, running
from test_measure import complete, judged, measure, small
from test_prometheus import prometheus

pytestmark = pytest.mark.tools

RATE = {"rate_rps": 200, "requests": None}
BOTH = pytest.mark.parametrize(("tool", "load"), [("users", {}), ("vegeta", RATE)])


def run_of(folder: Path, address: str, tool: str, behaviour: str | None, **load: Any) -> Run:
    """Against a server that behaves so; None: there is none."""
    out = small(folder, address, tool=tool, **load)
    with prometheus(complete(address)) as (url, _):
        process = measure(out, prometheus_url=url)
        if behaviour is None:
            process.communicate(timeout=60)
        else:
            with running(address, 0.05, behaviour):
                process.communicate(timeout=90)
    assert process.returncode == 0
    return judged(out)


@BOTH
def test_a_twentieth_that_is_refused_is_too_much(tmp_path: Path, tool: str, load: dict[str, Any]) -> None:
    run = run_of(tmp_path, "127.0.0.61", tool, "non2xx", **load)

    assert "too_many_errors" in failed(run.rules)
    assert run.requests is not None
    assert run.errors == run.failures["503"] == pytest.approx(run.requests / EVERY, rel=0.2)


def test_users_send_nothing_twice_and_vegeta_does_on_a_new_connection(tmp_path: Path) -> None:
    users = run_of(tmp_path / "users", "127.0.0.64", "users", "reset")
    vegeta = run_of(tmp_path / "vegeta", "127.0.0.65", "vegeta", "reset", **RATE)

    assert "too_many_errors" in failed(users.rules)
    assert users.errors == users.failures["connection reset"] > 0
    assert "connections_reopened" in failed(vegeta.rules)
    assert not vegeta.errors


@BOTH
def test_a_server_that_is_not_there_gives_no_figures(tmp_path: Path, tool: str, load: dict[str, Any]) -> None:
    run = run_of(tmp_path, "127.0.0.62", tool, None, **load)

    assert "too_many_errors" in failed(run.rules)
    assert run.failures == {"connection refused": run.requests}
    assert run.throughput_rps is run.latency_ms.p50 is None


def test_what_a_stalled_server_leaves_waiting_times_out(tmp_path: Path) -> None:
    run = run_of(tmp_path, "127.0.0.63", "users", "stall", duration_s=20)

    assert "too_many_errors" in failed(run.rules)
    assert run.errors == run.failures["time-out"] >= 20
    assert run.failed_latency_ms.p50 == pytest.approx(30_000, rel=0.1)
