"""Runs a tool to its end, watches that it still gets answers, and samples the host meanwhile."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from loomlab.basics.errors import CannotMeasureError
from loomlab.records.models import HostSample, ToolRun
from loomlab.run import hoststat
from loomlab.run.stop import TICK_S, Stop

SAMPLE_EVERY_S = 1.0
STALL_S = 25.0
"""ab gives up, and discards everything, after 30 s of silence; told to stop earlier, it reports what it has."""
REPORT_GRACE_S = 30.0
"""After SIGINT a tool may take so long to sort and print what it has."""

OnSample = Callable[[HostSample, float], None]
StoppedBy = Literal["stall", "hard cap", "interrupt"]


class Watch:
    """When the tool must be told to stop: on request, at the hard cap, or when it has read nothing for `stall_s`."""

    def __init__(self, started: float, hard_cap_s: float, stall_s: float) -> None:
        self._last_read_at = self._started = started
        self._hard_cap_s = hard_cap_s
        self._stall_s = stall_s
        self._read_bytes: int | None = None

    def reason(self, now: float, read_bytes: int | None, stop: Stop) -> StoppedBy | None:
        """`now` in seconds of the clock `started` was read from."""
        if read_bytes is None or read_bytes != self._read_bytes:
            self._read_bytes, self._last_read_at = read_bytes, now
        if stop.requested:
            return "interrupt"
        if now - self._last_read_at >= self._stall_s:
            return "stall"
        if now - self._started >= self._hard_cap_s:
            return "hard cap"
        return None


def run_tool(
    command: list[str], output: Path, hard_cap_s: float, stall_s: float, stop: Stop, on_sample: OnSample
) -> tuple[ToolRun, list[HostSample]]:
    """The tool's run and host samples, one a second and one at each end.

    stdout and stderr go to `output`. The tool is told to stop by SIGINT, so that it reports what it has, and killed
    30 s later. Raises CannotMeasureError when it cannot be started.
    """
    with output.open("wb") as sink:
        started = time.time()
        try:
            # A session of its own: Ctrl-C reaches the tool only through `stop`, in order.
            process = subprocess.Popen(  # noqa: S603 - the command is built by a Tool, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotMeasureError(f"{command[0]} cannot be started ({error.strerror}): is it installed?") from error
        try:
            run, samples = _follow(
                process, command, started, Watch(time.monotonic(), hard_cap_s, stall_s), stop, on_sample
            )
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    return run, samples


def _follow(
    process: subprocess.Popen[bytes],
    command: list[str],
    started: float,
    watch: Watch,
    stop: Stop,
    on_sample: OnSample,
) -> tuple[ToolRun, list[HostSample]]:
    samples = [hoststat.sample(process.pid)]
    sampled_at = time.monotonic()
    teller = Teller(on_sample)
    stopped_by: StoppedBy | None = None
    killed = False
    kill_at = 0.0
    while not _ended(process):
        now = time.monotonic()
        if now - sampled_at >= SAMPLE_EVERY_S:
            sampled_at = now
            samples.append(hoststat.sample(process.pid))
            teller.tell(samples[-1], time.time() - started)
        if stopped_by is None:
            stopped_by = watch.reason(now, hoststat.read_bytes(process.pid), stop)
            if stopped_by:
                os.kill(process.pid, signal.SIGINT)
                kill_at = now + REPORT_GRACE_S
        elif now >= kill_at and not killed:
            killed = True
            process.kill()
    ended = time.time()
    samples.append(hoststat.sample(process.pid))
    run = ToolRun(
        command=command,
        started=started,
        ended=ended,
        exit_code=process.returncode,
        stopped_by=stopped_by,
        killed=killed,
    )
    return run, samples


class Teller:
    """Tells of samples on a thread of its own, the latest only: what is slow to tell must not keep the tool from being
    stopped in time."""

    def __init__(self, on_sample: OnSample) -> None:
        self._on_sample = on_sample
        self._told: threading.Thread | None = None

    def tell(self, sample: HostSample, elapsed_s: float) -> None:
        if self._told is None or not self._told.is_alive():
            self._told = threading.Thread(target=self._on_sample, args=(sample, elapsed_s), daemon=True)
            self._told.start()


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(TICK_S)
    except subprocess.TimeoutExpired:
        return False
    return True
