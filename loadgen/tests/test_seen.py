"""Whether a page of container metrics tells what a container does."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loomlab.basics.errors import HostError
from loomlab.exporter.seen import CPU, RSS, THREADS, figures_of, lacking, sees_containers
from loomlab.run.prometheus import UnreachableError
from served import serving

ID = "4f1c9a03be67"
BEFORE = {CPU: 10.0, RSS: 40e6, THREADS: 9}


def page(cpu_s: float, identity: str) -> str:
    labels = f'{{id="{identity}",container_label_com_docker_compose_service="loadgen"'
    return (
        f'{CPU}{labels},cpu="total"}} {cpu_s} 1795428672000\n'
        f"{RSS}{labels}}} 4e+07 1795428672000\n"
        f"{THREADS}{labels}}} 9 1795428672000\n"
        f'{THREADS}{{id="/docker/0123"}} 77\n'
    )


@contextmanager
def served(identity: str) -> Iterator[str]:
    """A page that tells this process's CPU time as that container's."""

    def answer(_: str) -> tuple[int, bytes]:
        return 200, page(time.process_time(), identity).encode()

    with serving(answer) as server:
        yield f"{server.origin}/metrics"


@pytest.mark.parametrize(
    ("identity", "known"),
    [
        (f"/docker/{ID}d8", True),
        (f"/system.slice/docker-{ID}d8.scope", True),
        (f"/docker/77/docker/{ID}", True),
        ("/docker/0", False),
    ],
)
def test_a_container_is_known_by_the_beginning_of_its_id(identity: str, known: bool) -> None:
    assert figures_of(page(10.0, identity), ID) == (BEFORE if known else {})


def test_another_page_is_named() -> None:
    with pytest.raises(UnreachableError, match="does not hold metrics"):
        figures_of("<html>{", ID)


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (BEFORE | {CPU: 10.5}, None),
        (BEFORE | {CPU: 12.0}, None),
        ({CPU: 11.0, RSS: 2**20, THREADS: 6}, None),
        ({}, "does not know this container"),
        (BEFORE | {CPU: 10.4}, "CPU time (0.4 s shown, 1.00 s spent)"),
        (BEFORE | {CPU: 14.0}, "CPU time (4 s shown"),
        ({RSS: 40e6, THREADS: 9}, "CPU time (none s shown"),
        (BEFORE | {CPU: 11.0, RSS: 4096}, "RSS (4,096 bytes shown)"),
        ({CPU: 11.0, THREADS: 9}, "RSS (none bytes shown)"),
        (BEFORE | {CPU: 11.0, THREADS: 5}, "threads (5 shown, at least 6 running)"),
        ({CPU: 11.0, RSS: 40e6}, "threads (none shown"),
    ],
)
def test_what_lacks_is_named(after: dict[str, float], sentence: str | None) -> None:
    lacks = lacking(BEFORE, after, 1.0)

    assert lacks is None if sentence is None else sentence in str(lacks)


def test_a_page_that_tells_the_container_it_is_asked_from_is_proof() -> None:
    with served(f"/docker/{ID}") as url:
        sees_containers(url, ID, cap_s=10)


def test_a_page_that_does_not_or_that_nobody_serves_is_refused_after_the_cap() -> None:
    with served("/docker/0") as url, pytest.raises(HostError, match="does not know this container"):
        sees_containers(url, ID, cap_s=0.5)
    with pytest.raises(HostError, match=r"cannot be read: http://127\.0\.0\.1:1/metrics did not answer"):
        sees_containers("http://127.0.0.1:1/metrics", ID, cap_s=0.5)
