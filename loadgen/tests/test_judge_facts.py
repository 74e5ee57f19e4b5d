"""What is read off the container's state and off /about."""

from pathlib import Path
from typing import Any

import pytest

from loomlab.judge.containers import container_failure
from loomlab.judge.facts import container_of
from loomlab.judge.judge import judge_run
from loomlab.records.about import backend_pool, platform_threads
from rawrun import RawRun, write
from saying import figures, unknown

STATES: list[tuple[dict[str, Any], dict[str, Any], str | None]] = [
    # changes, changes of its state, numbers in what is said
    ({}, {}, None),
    ({}, {"OOMKilled": True, "Running": False}, ""),
    ({}, {"OOMKilled": True}, ""),
    ({"RestartCount": 2}, {}, "2"),
    ({}, {"Running": False, "ExitCode": 137}, "137"),
    ({}, {"StartedAt": "2026-11-18T10:13:40.123456789Z"}, "820.1"),
]


def damaged_states() -> list[Any]:
    wrong = [("StartedAt", "yesterday"), ("StartedAt", 5), ("StartedAt", None), ("Running", "yes"), ("OOMKilled", 1)]
    states = [inspected({}, {name: value}) for name, value in wrong]
    return [*states, inspected({"RestartCount": "many"}, {}), [{"State": "running"}]]


def inspected(changes: dict[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    good = RawRun()
    return [good.container | changes | {"State": good.state | state}]


@pytest.mark.parametrize(("changes", "state", "numbers"), STATES)
def test_the_containers_state(changes: dict[str, Any], state: dict[str, Any], numbers: str | None) -> None:
    got = container_failure(container_of(inspected(changes, state)), 1_794_996_000)

    assert (got is None) is (numbers is None)
    assert set((numbers or "").split()) <= figures(got)


@pytest.mark.parametrize("told", [[], {}, [None], [{}], [{"State": {}}], *damaged_states()])
def test_without_a_state_it_is_not_known_whether_the_container_failed(told: Any, run_dir: Path) -> None:
    write(run_dir, "container.json", told)

    run = judge_run(run_dir)

    assert unknown(run.rules) == {"container_failed"}
    assert run.verdict == "suspect"


def test_only_platform_threads_are_a_pool_to_be_exhausted() -> None:
    about = {"concurrency": "virtual-threads", "inbound": {"max_threads": 200}}

    assert platform_threads(about) is None
    assert platform_threads(about | {"concurrency": "platform-threads"}) == 200
    assert platform_threads({"error": "no answer"}) is platform_threads(None) is None


def test_the_pool_is_the_one_of_one_address() -> None:
    assert backend_pool({"outbound": {"max_connections": 900, "max_connections_per_route": 500}}) == 500
    assert backend_pool({"error": "no answer"}) is None
    assert backend_pool(None) is None
