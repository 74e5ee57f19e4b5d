"""Whether a page of container metrics tells what a container does."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loomlab.basics.errors import HostError
from loomlab.exporter.seen import Figures, figures_of, lacking, prove
from loomlab.run.prometheus import UnreachableError
from served import serving

ID = "4f1c9a03be67"
GOOD = Figures(cpu_seconds=11.0, rss_bytes=40e6, threads=9)


def page(cpu_s: float, identity: str = f"/docker/{ID}d8125e") -> str:
    labels = f'{{id="{identity}",container_label_com_docker_compose_service="loadgen"'
    return (
        f'container_cpu_usage_seconds_total{labels},cpu="total"}} {cpu_s} 1795428672000\n'
        f"container_memory_rss{labels}}} 4e+07 1795428672000\n"
        f"container_threads{labels}}} 9 1795428672000\n"
        'container_threads{id="/docker/0123"} 77\n'
    )


@contextmanager
def served(wrong: bool = False) -> Iterator[str]:
    """A page that tells this process's CPU time; or one that knows other containers only."""

    def answer(_: str) -> tuple[int, bytes]:
        return 200, page(time.process_time(), f"/docker/{'0' if wrong else ''}{ID}").encode()

    with serving(answer) as server:
        yield f"{server.origin}/metrics"


@pytest.mark.parametrize(
    "identity", [f"/docker/{ID}d8", f"/system.slice/docker-{ID}d8.scope", f"/docker/77/docker/{ID}"]
)
def test_a_container_is_known_by_the_beginning_of_its_id(identity: str) -> None:
    assert figures_of(page(11.0, identity), ID) == GOOD


def test_a_page_without_the_container_tells_nothing_of_it() -> None:
    assert figures_of(page(11.0, "/docker/0"), ID) == Figures(None, None, None)


def test_another_page_is_named() -> None:
    with pytest.raises(UnreachableError, match="does not hold metrics"):
        figures_of("<html>{", ID)


def test_nothing_lacks_where_cpu_rss_and_threads_arrive() -> None:
    assert lacking(Figures(10.0, 40e6, 9), GOOD, 1.0) is None


@pytest.mark.parametrize(
    ("after", "named"),
    [
        (Figures(None, None, None), "does not know this container"),
        (Figures(10.1, 40e6, 9), "CPU time (0.1 s shown, 1.00 s spent)"),
        (Figures(14.0, 40e6, 9), "CPU time (4 s shown"),
        (Figures(None, 40e6, 9), "CPU time (none s shown"),
        (Figures(11.0, 4096, 9), "RSS (4,096 bytes shown)"),
        (Figures(11.0, None, 9), "RSS (none bytes shown)"),
        (Figures(11.0, 40e6, 1), "threads (1 shown, at least 6 running)"),
        (Figures(11.0, 40e6, None), "threads (none shown"),
    ],
)
def test_what_lacks_is_named(after: Figures, named: str) -> None:
    assert named in (lacking(Figures(10.0, 40e6, 9), after, 1.0) or "")


def test_a_page_that_tells_the_container_it_is_asked_from_is_proof() -> None:
    with served() as url:
        prove(url, ID, cap_s=10)


def test_one_that_does_not_is_refused_after_the_cap() -> None:
    with served(wrong=True) as url, pytest.raises(HostError, match="does not know this container"):
        prove(url, ID, cap_s=1)


def test_a_page_that_nobody_serves_is_refused_after_the_cap() -> None:
    with pytest.raises(HostError, match=r"cannot be read: http://127\.0\.0\.1:1/metrics did not answer"):
        prove("http://127.0.0.1:1/metrics", ID, cap_s=0.5)
