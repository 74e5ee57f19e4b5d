"""Writes experiments without end, by the lab's own code, and tells on the console what is on the disk; the guest
runs it until it is cut off."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from loomlab.answer.summary import summarise
from loomlab.judge.judge import judge_run
from loomlab.records.files import checksum, write_json
from loomlab.records.models import Request
from loomlab.records.order import order_file, set_state
from loomlab.run.console import Progress, Stop
from loomlab.run.measure import Measurement
from ordered import planned
from rawrun import RawRun

RESULTS = Path("/results")
SHELLS = "container.json"  # which the host's shell writes, once the load generator has ended


def tell(what: str, folder: Path, checksum: str = "-") -> None:
    print(what, folder.relative_to(RESULTS), checksum, flush=True)  # noqa: T201


def measure(run_dir: Path, request: Request, good: Path) -> None:
    """As the load generator does, with what was measured before."""
    one = Measurement(request, run_dir, "http://nobody", Stop(), Progress())
    raw = one.files.raw
    raw.mkdir(parents=True)
    set_state(run_dir, "running")
    write_json(one.files.request, request)
    for path in good.glob("*.json"):
        if path.name not in {SHELLS, one.files.request.name}:
            write_json(raw / path.name, json.loads(path.read_bytes()))
    one.tool.output(raw).write_bytes(one.tool.output(good).read_bytes())
    one.tool.rows(raw).write_bytes(gzip.decompress(one.tool.rows(good, ".gz").read_bytes()))
    one.tool.finish(raw)
    one.finish()
    tell("finished", run_dir, checksum(raw))
    set_state(run_dir, "finished")


def folders() -> Iterator[Path]:
    number = 0
    while True:
        yield RESULTS / f"20260101T{number:06}Z-power"
        number += 1


def main() -> None:
    good = RawRun().write(Path("/tmp/good")) / "raw"  # noqa: S108 - the guest's own
    order = planned(Path("/tmp/lab"), approaches=["tomcat-platform", "tomcat-virtual"])  # noqa: S108
    print("ready", flush=True)  # noqa: T201
    for folder in folders():
        (folder / "runs").mkdir(parents=True)
        write_json(order_file(folder), order.model_copy(update={"experiment": folder.name}))
        for run in order.runs:
            run_dir = folder / "runs" / run.run
            measure(run_dir, run.request, good)
            (run_dir / "raw" / SHELLS).write_bytes((good / SHELLS).read_bytes())
            judge_run(run_dir)
            tell("judged", run_dir)
            set_state(run_dir, "judged")
        summarise(folder, interrupted=False)
        tell("summed", folder)


main()
