"""Writes tests/golden/hey anew from the hey that is installed: `python make_golden_hey.py`."""

import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loomlab.records.load import Closed, Load, Shape, Target
from loomlab.tools.hey import Hey
from loomlab.tools.tool import Tool
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


def main() -> None:
    (GOLDEN / "hey").mkdir(parents=True, exist_ok=True)
    for behaviour in BEHAVIOURS:
        with running("127.0.0.11", 0.1, behaviour):
            hey(behaviour)
    with running("127.0.0.11", 0.1):
        hey("interrupted", end=signal.SIGINT, requests=100_000)
        hey("killed", end=signal.SIGKILL, requests=100_000)
    hey("refused")
    hey("unknown-host", "http://no-such-host.invalid:8080")


if __name__ == "__main__":
    main()
