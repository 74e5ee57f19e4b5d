"""What is read off the container's state and off /about."""

from typing import Any

import pytest

from loomlab.judge.containers import container_failure
from loomlab.records.about import backend_pool, platform_threads
from rawrun import RawRun


@pytest.mark.parametrize(
    ("changes", "state", "said"),
    [
        ({}, {}, None),
        ({}, {"OOMKilled": True, "Running": False}, "The container under test was killed because memory ran out"),
        ({}, {"OOMKilled": True}, "A process of the container under test was killed because memory ran out"),
        ({"RestartCount": 2}, {}, "restarted 2 times"),
        ({}, {"Running": False, "ExitCode": 137}, "exit code 137"),
        ({}, {"StartedAt": "2026-11-18T10:13:40.123456789Z"}, "started"),
    ],
)
def test_the_containers_state(changes: dict[str, Any], state: dict[str, Any], said: str | None) -> None:
    good = RawRun()
    inspected = [good.container | changes | {"State": good.state | state}]

    got = container_failure(inspected, 1_794_996_000)

    assert got is None if said is None else said in (got or "")


@pytest.mark.parametrize("inspected", [None, [], {}, [{}]])
def test_without_a_state_the_container_is_not_accused(inspected: Any) -> None:
    assert container_failure(inspected, 0) is None


def test_only_platform_threads_are_a_pool_to_be_exhausted() -> None:
    about = {"concurrency": "virtual-threads", "inbound": {"max_threads": 200}}

    assert platform_threads(about) is None
    assert platform_threads(about | {"concurrency": "platform-threads"}) == 200
    assert platform_threads({"error": "no answer"}) is platform_threads(None) is None


def test_the_pool_is_the_one_of_one_address() -> None:
    assert backend_pool({"outbound": {"max_connections": 900, "max_connections_per_route": 500}}) == 500
    assert backend_pool({"error": "no answer"}) is None
    assert backend_pool(None) is None
