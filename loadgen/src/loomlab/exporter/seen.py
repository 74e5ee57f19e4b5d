"""Whether a page of container metrics tells what a container really does: the one this runs in."""

import math
import socket
import threading
import time
from typing import Annotated

import typer
from prometheus_client.parser import text_string_to_metric_families

from loomlab.basics.errors import HostError
from loomlab.run.prometheus import UnreachableError, answered

CPU, RSS, THREADS = "container_cpu_usage_seconds_total", "container_memory_rss", "container_threads"
MORE_THREADS = 5
LEAST_RSS_BYTES = 2**20
LEAST_CPU, MOST_CPU = 0.5, 2.0  # of what this process spent: the page is read a moment before or after
BURN_S, PAUSE_S, CAP_S = 1.0, 0.5, 15


def sees_containers(url: Annotated[str, typer.Argument(help="A page of container metrics.")]) -> None:
    """Spend CPU time, and say whether the page tells that, RSS and threads of the container that this runs in."""
    deadline, end = time.monotonic() + CAP_S, threading.Event()
    for _ in range(MORE_THREADS):
        threading.Thread(target=end.wait, daemon=True).start()
    try:
        while lacks := _lacks(url):
            if time.monotonic() > deadline:
                raise HostError(lacks)
            time.sleep(PAUSE_S)
    finally:
        end.set()
    print("CPU, RSS and threads of a container arrive.")  # noqa: T201


def _lacks(url: str) -> str | None:
    """What two looks at the page, between which CPU time is spent, do not tell."""
    container = socket.gethostname()  # what its ID begins with
    try:
        before, began_s, until = figures_of(answered(url), container), time.process_time(), time.monotonic() + BURN_S
        while time.monotonic() < until:
            pass
        return lacking(before, figures_of(answered(url), container), time.process_time() - began_s)
    except UnreachableError as error:
        return f"The page of container metrics cannot be read: {error}."


def lacking(before: dict[str, float], after: dict[str, float], spent_s: float) -> str | None:
    """What two looks do not tell of a container that spent so much CPU time between them, as a sentence; None: nothing
    lacks."""
    if not after:
        return "The page of container metrics does not know this container."
    cpu_s = after.get(CPU, math.nan) - before.get(CPU, math.nan)
    rss_bytes, threads = after.get(RSS, math.nan), after.get(THREADS, math.nan)
    right = {
        f"CPU time ({cpu_s:.6g} s shown, {spent_s:.2f} s spent)": LEAST_CPU * spent_s <= cpu_s <= MOST_CPU * spent_s,
        f"RSS ({rss_bytes:,.6g} bytes shown)": rss_bytes >= LEAST_RSS_BYTES,
        f"threads ({threads:.6g} shown, at least {1 + MORE_THREADS} running)": threads >= 1 + MORE_THREADS,
    }
    wrong = ", ".join(words for words, is_right in right.items() if not is_right).replace("nan", "none")
    return f"The page of container metrics does not show a container's {wrong}." if wrong else None


def figures_of(page: str, container: str) -> dict[str, float]:
    """Of the container whose ID begins so, by metric; raises UnreachableError for another page."""
    try:
        return {
            sample.name: sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            # the ID, or a systemd scope's name
            if sample.name in {CPU, RSS, THREADS}
            and sample.labels.get("id", "").rpartition("/")[2].removeprefix("docker-").startswith(container)
        }
    except ValueError as error:
        raise UnreachableError(f"it does not hold metrics ({error})") from error
