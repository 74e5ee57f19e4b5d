"""Writes tests/golden/hey and tests/golden/vegeta anew from the tools that are installed:
`python make_golden_hey_vegeta.py`."""

import gzip
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target
from loomlab.tools.hey import Hey
from loomlab.tools.tool import Tool
from loomlab.tools.vegeta import METRICS_PORT, Vegeta
from server import running

GOLDEN = Path(__file__).parent / "golden"
ORIGIN = "http://127.0.0.11:8080"
BEHAVIOURS = ("well", "non2xx", "slow", "reset", "close", "noka")
STEM = "tool"


@contextmanager
def ran(
    tool: Tool, shape: Shape, origin: str = ORIGIN, end: signal.Signals | None = None, end_after_s: float = 1.0
) -> Iterator[Path]:
    """The folder the tool left its files in; `end` is sent to it after `end_after_s`."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder)
        load = Load(origin, (Target("/capabilities"),), connections=20, shape=shape, timeout_s=1)
        with tool.output(raw, STEM).open("wb") as output:
            process = subprocess.Popen(tool.command(load, raw, STEM), stdout=output, stderr=subprocess.STDOUT)  # noqa: S603
            if end is not None:
                time.sleep(end_after_s)
                process.send_signal(end)
            print(tool.name, "exit", process.wait())  # noqa: T201
        yield raw


def keep(text: str, path: Path) -> None:
    """Without the address of this host's name server."""
    path.write_text(re.sub(r" on [0-9.]+:53: ", " on 127.0.0.53:53: ", text))


def hey(name: str, origin: str = ORIGIN, end: signal.Signals | None = None, requests: int = 120) -> None:
    """What hey printed, as it printed it."""
    with ran(Hey(), Closed(requests, 9), origin, end) as raw:
        keep(Hey().output(raw, STEM).read_text(), GOLDEN / "hey" / f"{name}.txt")


def vegeta(name: str, origin: str = ORIGIN, end: signal.Signals | None = None) -> None:
    """vegeta's JSON report and the thinned requests."""
    tool = Vegeta()
    with ran(tool, OpenRate((RateStep(50, 2),)), origin, end) as raw:
        tool.finish(raw, STEM)
        keep((raw / f"{STEM}-report.json").read_text(), GOLDEN / "vegeta" / f"{name}.json")
        with gzip.open(raw / f"{STEM}-requests.csv.gz", "rt") as packed:
            keep(packed.read(), GOLDEN / "vegeta" / f"{name}.csv")


def scrape() -> None:
    """vegeta's own metrics, a second before the end of an attack of which some answers are 503."""

    def read() -> None:
        time.sleep(1.5)
        with urlopen(f"http://127.0.0.1:{METRICS_PORT}/metrics") as page:
            (GOLDEN / "vegeta" / "metrics.txt").write_bytes(page.read())

    thread = threading.Thread(target=read)
    thread.start()
    with ran(Vegeta(), OpenRate((RateStep(50, 3),))):
        thread.join()


def main() -> None:
    for tool in ("hey", "vegeta"):
        (GOLDEN / tool).mkdir(parents=True, exist_ok=True)
    for behaviour in BEHAVIOURS:
        with running("127.0.0.11", 0.1, behaviour):
            hey(behaviour)
        with running("127.0.0.11", 0.1, behaviour):
            vegeta(behaviour)
    with running("127.0.0.11", 0.1):
        hey("interrupted", end=signal.SIGINT, requests=100_000)
        hey("killed", end=signal.SIGKILL, requests=100_000)
        vegeta("interrupted", end=signal.SIGINT)
        vegeta("killed", end=signal.SIGKILL)
    with running("127.0.0.11", 0.1, "non2xx"):
        scrape()
    for one in (hey, vegeta):
        one("refused")
        one("unknown-host", "http://no-such-host.invalid:8080")


if __name__ == "__main__":
    main()
