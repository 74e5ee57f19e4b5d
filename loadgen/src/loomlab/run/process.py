"""Runs a tool to its end, watches that it still gets answers, and samples the host meanwhile."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from loomlab.basics.errors import CannotMeasureError
from loomlab.records.models import HostSample, StopReason, ToolRun
from loomlab.run import hoststat
from loomlab.run.console import TICK_S, Stop

SAMPLE_EVERY_S = 1.0
STALL_S = 25.0
"""ab gives up, and discards everything, after 30 s of silence; told to stop earlier, it reports what it has."""
REPORT_GRACE_S = 30.0  # after SIGINT a tool may take so long to sort and print what it has


def run_tool(
    command: list[str],
    output: Path,
    hard_cap_s: float,
    stall_s: float,
    stop: Stop,
    tell: Callable[[float], None],
) -> tuple[ToolRun, list[HostSample]]:
    """The tool's run and host samples, one a second and one at each end; raises CannotMeasureError if it cannot start.
    On request, at the hard cap, or when it has read nothing for `stall_s`, it is stopped by SIGINT, so that it reports,
    and killed 30 s later. `tell` gets the seconds since the start, on a thread of its own, as it may be slow."""
    run = ToolRun(command=command, started=time.time(), ended=0, exit_code=0)
    with output.open("wb") as sink:
        try:
            # a session of its own: Ctrl-C reaches the tool only through `stop`, in order.
            process = subprocess.Popen(  # noqa: S603 - the command is built by a Tool, no shell
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True
            )
        except OSError as error:
            raise CannotMeasureError(f"{command[0]} cannot be started ({error.strerror}): is it installed?") from error
    try:
        samples = [hoststat.sample(process.pid)]
        started = sampled_at = read_at = kill_at = time.monotonic()
        read_bytes, telling = None, threading.Thread()
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(TICK_S)
                break
            now, read_before = time.monotonic(), read_bytes
            if now - sampled_at >= SAMPLE_EVERY_S:
                sampled_at = now
                samples.append(hoststat.sample(process.pid))
                if not telling.is_alive():
                    telling = threading.Thread(target=tell, args=[time.time() - run.started], daemon=True)
                    telling.start()
            read_bytes = hoststat.read_bytes(process.pid)
            if read_bytes is None or read_bytes != read_before:
                read_at = now
            if run.stopped_by is None:
                over: dict[StopReason, bool] = {
                    "interrupt": stop.requested,
                    "stall": now - read_at >= stall_s,
                    "hard cap": now - started >= hard_cap_s,
                }
                run.stopped_by = next((reason for reason, met in over.items() if met), None)
                if run.stopped_by:
                    os.kill(process.pid, signal.SIGINT)
                    kill_at = now + REPORT_GRACE_S
            elif now >= kill_at and not run.killed:
                run.killed = True
                process.kill()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    run.ended, run.exit_code = time.time(), process.returncode
    return run, [*samples, hoststat.sample(process.pid)]
