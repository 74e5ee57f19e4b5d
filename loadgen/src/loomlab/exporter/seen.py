"""Whether a page of container metrics tells what a container really does: the one this runs in."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from loomlab.basics.errors import HostError
from loomlab.run.prometheus import UnreachableError, answered

CPU, RSS, THREADS = "container_cpu_usage_seconds_total", "container_memory_rss", "container_threads"
MORE_THREADS = 5
LEAST_RSS_BYTES = 2**20
TOLD_CPU = (0.5, 2.0)
"""Of what this process spent: the page is read a moment before or after."""
BURN_S = 1.0


@dataclass(frozen=True)
class Figures:
    """Of one container; None: the page does not tell."""

    cpu_seconds: float | None
    rss_bytes: float | None
    threads: float | None


def prove(url: str, container: str, cap_s: float) -> None:
    """Returns when the page tells CPU, RSS and threads of the container whose ID begins so, which must be the one that
    this process runs in; raises HostError after that time."""
    deadline = time.monotonic() + cap_s
    with _more_threads():
        while missing := _missing(url, container):
            if time.monotonic() > deadline:
                raise HostError(missing)


def _missing(url: str, container: str) -> str | None:
    """What a look at the page lacks, as a sentence."""
    try:
        before, spent_before = figures_of(answered(url), container), time.process_time()
        _burn(BURN_S)
        after, spent = figures_of(answered(url), container), time.process_time() - spent_before
    except UnreachableError as error:
        time.sleep(BURN_S)
        return f"The page of container metrics cannot be read: {error}."
    return lacking(before, after, spent)


def lacking(before: Figures, after: Figures, spent_s: float) -> str | None:
    """What two looks do not tell of a container that spent so much CPU time between them, as a sentence; None: nothing
    lacks."""
    if after == Figures(None, None, None):
        return "The page of container metrics does not know this container."
    wrong = []
    told_s = None if before.cpu_seconds is None or after.cpu_seconds is None else after.cpu_seconds - before.cpu_seconds
    if told_s is None or not TOLD_CPU[0] * spent_s <= told_s <= TOLD_CPU[1] * spent_s:
        wrong.append(f"CPU time ({_shown(told_s)} s shown, {spent_s:.2f} s spent)")
    if after.rss_bytes is None or after.rss_bytes < LEAST_RSS_BYTES:
        wrong.append(f"RSS ({_shown(after.rss_bytes)} bytes shown)")
    if after.threads is None or after.threads < 1 + MORE_THREADS:
        wrong.append(f"threads ({_shown(after.threads)} shown, at least {1 + MORE_THREADS} running)")
    return f"The page of container metrics does not show a container's {', '.join(wrong)}." if wrong else None


def figures_of(page: str, container: str) -> Figures:
    """Of the container whose ID begins so; raises UnreachableError for another page."""
    values: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                if sample.name in {CPU, RSS, THREADS} and _is_of(sample.labels, container):
                    values[sample.name] = sample.value
    except ValueError as error:
        raise UnreachableError(f"it does not hold metrics ({error})") from error
    return Figures(values.get(CPU), values.get(RSS), values.get(THREADS))


def _is_of(labels: Mapping[str, str], container: str) -> bool:
    """The cgroup's name is the ID, or a systemd scope's."""
    return labels.get("id", "").rpartition("/")[2].removeprefix("docker-").startswith(container)


def _burn(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@contextmanager
def _more_threads() -> Iterator[None]:
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(MORE_THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:,.6g}"
