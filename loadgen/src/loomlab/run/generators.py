"""Several load generators of a run, each in a container of its own: all begin their shares of a load at one time."""

import fcntl
import math
import time
from collections.abc import Callable
from pathlib import Path

from loomlab.basics.errors import CannotMeasureError
from loomlab.records.files import HOST, TOOL, Moment, Name, Record, read_record, write_json
from loomlab.records.load import Load
from loomlab.records.models import HostLog, HostSample, ToolRun
from loomlab.run.console import Stop
from loomlab.run.process import Generator, network_counters
from loomlab.tools.known import tool
from loomlab.tools.several import folder_of
from loomlab.tools.tool import Tool

FOLDER = "generators"  # of a run's, as long as it goes: bin/experiment.sh removes it
AHEAD_S, LOOK_EVERY_S = 1, 0.05  # a share is handed out so long before it begins
READY_WITHIN_S = 60


class Share(Record):
    """What another load generator is to do: request.json of its own folder."""

    tool: Name
    load: Load
    raw: Path
    start_at: Moment
    longest_s: float
    ramp_s: int


def _own(folder: Path, number: int, name: str) -> Path:
    return folder / str(number) / name


def _death(number: int) -> CannotMeasureError:
    return CannotMeasureError(f"Load generator {number} died, or never began: see raw/loomlab-{number}.log.")


class Generators(Generator):
    """The first of so many; with the others, which `serve` it, it shares the folder."""

    folder: Path

    def __init__(self, folder: Path, count: int) -> None:
        self.folder, self._count = folder, count

    def wait_until_ready(self, stop: Stop) -> None:
        """Until the others live, or should have come to life."""
        self.folder.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + READY_WITHIN_S
        while not all(map(self._lives, range(2, self._count + 1))) and time.monotonic() < deadline:
            if stop.requested:
                return
            stop.pause(LOOK_EVERY_S)

    def send(
        self, driver: Tool, load: Load, raw: Path, longest_s: float, stop: Stop, tell: Callable[[float], None],
        ramp_s: int = 0,
    ) -> tuple[ToolRun, list[HostSample]]:  # fmt: skip
        """Of the first one; what the others left is in their folders. Rates interleave. Also raises CannotMeasureError
        where one does not live."""
        own, *others = load.shares(self._count)
        start_at = time.time() + AHEAD_S
        for number, part in enumerate(others, 2):
            if not self._lives(number):
                raise _death(number)
            begins = start_at + (number - 1) / (load.rate_rps or math.inf)
            (theirs := folder_of(raw, number)).mkdir()
            share = Share(tool=driver.name, load=part, raw=theirs, start_at=begins, longest_s=longest_s, ramp_s=ramp_s)
            write_json(_own(self.folder, number, "request.json"), share)
        stop.pause(start_at - time.time())
        done = super().send(driver, own, raw, longest_s, stop, tell, ramp_s)
        for number in range(2, len(others) + 2):
            ended = folder_of(raw, number) / TOOL
            while self._lives(number) and not ended.exists():
                time.sleep(LOOK_EVERY_S)
            if not ended.exists():
                raise _death(number)
        return done

    def _lives(self, number: int) -> bool:
        """Whether it has its lock."""
        try:
            with _own(self.folder, number, "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False


def serve(folder: Path, number: int, stop: Stop) -> None:
    """Does its shares, one after another, until it is told to stop."""
    asked, lock_file = (_own(folder, number, name) for name in ("request.json", "lock"))
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    with lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while not stop.requested:
            if share := read_record(asked, Share):
                asked.unlink()
                _do(share, stop)
            else:
                stop.pause(LOOK_EVERY_S)


def _do(share: Share, stop: Stop) -> None:
    """Its last file tells that it has ended."""
    before = network_counters()
    stop.pause(share.start_at - time.time())
    run, samples = Generator().send(
        tool(share.tool), share.load, share.raw, share.longest_s, stop, lambda _: None, share.ramp_s
    )
    write_json(share.raw / HOST, HostLog(samples=samples, network_before=before, network_after=network_counters()))
    write_json(share.raw / TOOL, run)
