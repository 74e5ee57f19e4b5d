"""Whether a page of container metrics tells what a container really does: the one this runs in."""

import math
import threading
import time
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from loomlab.basics.errors import HostError
from loomlab.run.prometheus import UnreachableError, answered

CPU, RSS, THREADS = "container_cpu_usage_seconds_total", "container_memory_rss", "container_threads"
MORE_THREADS = 5
LEAST_RSS_BYTES = 2**20
LEAST_CPU, MOST_CPU = 0.5, 2.0
"""Of what this process spent: the page is read a moment before or after."""
BURN_S = 1.0


def prove(url: str, container: str, cap_s: float) -> None:
    """Returns when the page tells CPU, RSS and threads of the container whose ID begins so, which must be the one that
    this process runs in; raises HostError after that time."""
    deadline = time.monotonic() + cap_s
    end = threading.Event()
    for _ in range(MORE_THREADS):
        threading.Thread(target=end.wait, daemon=True).start()
    try:
        while lacks := _lacks(url, container):
            if time.monotonic() > deadline:
                raise HostError(lacks)
    finally:
        end.set()


def _lacks(url: str, container: str) -> str | None:
    """What two looks at the page, between which CPU time is spent, do not tell."""
    try:
        before, began_s = figures_of(answered(url), container), time.process_time()
        until = time.monotonic() + BURN_S
        while time.monotonic() < until:
            pass
        after, spent_s = figures_of(answered(url), container), time.process_time() - began_s
    except UnreachableError as error:
        time.sleep(BURN_S)
        return f"The page of container metrics cannot be read: {error}."
    return lacking(before, after, spent_s)


def lacking(before: dict[str, float], after: dict[str, float], spent_s: float) -> str | None:
    """What two looks do not tell of a container that spent so much CPU time between them, as a sentence; None: nothing
    lacks."""
    if not after:
        return "The page of container metrics does not know this container."
    cpu_s = after.get(CPU, math.nan) - before.get(CPU, math.nan)
    rss_bytes, threads = after.get(RSS, math.nan), after.get(THREADS, math.nan)
    wrong = []
    if not LEAST_CPU * spent_s <= cpu_s <= MOST_CPU * spent_s:
        wrong.append(f"CPU time ({cpu_s:.6g} s shown, {spent_s:.2f} s spent)")
    if not rss_bytes >= LEAST_RSS_BYTES:
        wrong.append(f"RSS ({rss_bytes:,.6g} bytes shown)")
    if not threads >= 1 + MORE_THREADS:
        wrong.append(f"threads ({threads:.6g} shown, at least {1 + MORE_THREADS} running)")
    named = ", ".join(wrong).replace("nan", "none")
    return f"The page of container metrics does not show a container's {named}." if wrong else None


def figures_of(page: str, container: str) -> dict[str, float]:
    """Of the container whose ID begins so, by metric; raises UnreachableError for another page."""
    try:
        return {
            sample.name: sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if sample.name in {CPU, RSS, THREADS} and _id_of(sample.labels).startswith(container)
        }
    except ValueError as error:
        raise UnreachableError(f"it does not hold metrics ({error})") from error


def _id_of(labels: Mapping[str, str]) -> str:
    """The cgroup's name is the ID, or a systemd scope's."""
    return labels.get("id", "").rpartition("/")[2].removeprefix("docker-")
