"""Runs a tool to its end while it samples the kernel; and short loads of a warm-up, with what they cost the server."""

import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loomlab.basics.errors import CannotMeasureError, ParseError
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Users
from loomlab.records.models import HostSample, StopReason, ToolRun
from loomlab.records.raw import CPU_MODES, Burst, BurstPhase
from loomlab.records.requestlog import latency_figures
from loomlab.run.console import TICK_S, Stop
from loomlab.run.management import Management
from loomlab.tools import several
from loomlab.tools.tool import Tool, ToolReport

EVERY_S = 1.0
STALL_S = 25.0
"""ab gives up, and discards everything, after 30 s of silence; told to stop earlier, it reports what it has."""
REPORT_GRACE_S = 30.0  # after SIGINT a tool may take so long to sort and print what it has
FEWEST_CONNECTIONS = 10  # that a burst keeps busy, so that it has a throughput to speak of
DRAIN_TICK_S = 0.2
LONGEST_DRAIN_S = 120  # one pinned carrier serves 200 requests of 300 ms in a minute
PROC = Path("/proc")
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
NETWORK_COUNTERS = ("TCPSynRetrans", "ActiveOpens")
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(len(CPU_MODES))


def begun(command: list[str], output: Path, **pipes: int) -> subprocess.Popen[bytes]:
    """The tool's process, in a session of its own: Ctrl-C reaches it only through `Stop`. Raises CannotMeasureError."""
    with output.open("wb") as sink:
        streams: dict[str, Any] = {"stdout": sink, "stderr": sink} | pipes
        try:
            process: subprocess.Popen[bytes] = subprocess.Popen(command, start_new_session=True, **streams)  # noqa: S603
        except OSError as error:
            raise CannotMeasureError(f"{command[0]} cannot be started ({error.strerror}): is it installed?") from error
    return process


def run_tool(
    command: list[str], output: Path, hard_cap_s: float, stall_s: float, stop: Stop, tell: Callable[[float], None]
) -> tuple[ToolRun, list[HostSample]]:
    """The tool's run and host samples, one a second and one at each end; raises CannotMeasureError. On request, at the
    hard cap, or when it has read nothing for `stall_s`, it is stopped by SIGINT, so that it reports, and killed later.
    `tell`, which may be slow, gets the seconds since the start."""
    run = ToolRun(command=command, started=time.time(), ended=0, exit_code=0)
    process = begun(command, output, stdin=subprocess.DEVNULL)
    try:
        samples = [sample(process.pid)]
        started = sampled_at = read_at = kill_at = time.monotonic()
        had, telling = None, threading.Thread()
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(TICK_S)
                break
            now, had_before = time.monotonic(), had
            if now - sampled_at >= EVERY_S:
                sampled_at = now
                samples.append(sample(process.pid))
                if not telling.is_alive():
                    telling = threading.Thread(target=tell, args=[time.time() - run.started], daemon=True)
                    telling.start()
            had = read_bytes(process.pid)
            if had is None or had != had_before:
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
    return run, [*samples, sample(process.pid)]


class Generator:
    """The load generator of a run."""

    folder: Path | None = None  # where bursts leave their files; None: where temporary ones are

    def wait_until_ready(self, stop: Stop) -> None:
        """At once."""

    def send(
        self, driver: Tool, load: Load, raw: Path, longest_s: float, stop: Stop, tell: Callable[[float], None],
        ramp_s: int = 0,
    ) -> tuple[ToolRun, list[HostSample]]:  # fmt: skip
        """As `run_tool`."""
        stall_s = STALL_S if driver.discards else math.inf
        return run_tool(driver.command(load, raw, ramp_s=ramp_s), driver.output(raw), longest_s, stall_s, stop, tell)


def busy_connections(load: Load, answer_s: float) -> int:
    """As many as the load keeps busy at its height when an answer takes `answer_s`; ten at least, or all."""
    shape = load.shape
    busy: float = load.connections
    if isinstance(shape, OpenRate):
        busy = max(step.rate_rps for step in shape.steps) * answer_s
    elif isinstance(shape, Users):
        think_s = sum(shape.think_s) / 2
        busy = shape.most * answer_s / (answer_s + think_s) if think_s else shape.most
    return min(max(math.ceil(busy), FEWEST_CONNECTIONS), load.connections)


def at_rate(load: Load, rate_rps: float, lasts_s: float) -> Load:
    return replace(load, shape=OpenRate((RateStep(round(rate_rps, 3), max(round(lasts_s), 1)),)))


def burst_of(load: Load, connections: int, waves: int, latency_ms: float, limit_s: float) -> Load:
    """A burst of it that keeps `connections` busy for so many whole waves of `latency_ms`; of a rate on all of them."""
    if isinstance(load.shape, OpenRate):
        return at_rate(load, 1000 * connections / max(latency_ms, 1), min(waves * latency_ms / 1000, limit_s))
    shape = Closed(requests=waves * connections, duration_s=max(int(limit_s), 1))
    return replace(load, connections=connections, shape=shape)


@dataclass(frozen=True)
class Bursts:
    """Loads that end with their last answer: cut off by the clock, reactive approaches break their connections off."""

    tool: Tool
    approach: Management
    stop: Stop
    longest_drain_s: float = LONGEST_DRAIN_S
    clock: Callable[[], float] = time.monotonic
    generator: Generator = field(default_factory=Generator)

    def run(self, phase: BurstPhase, load: Load, wait_ms: int, show: Callable[[], None]) -> Burst:
        """`wait_ms` is what a request waits at least."""
        with tempfile.TemporaryDirectory(dir=self.generator.folder) as folder:
            raw = Path(folder)
            before = self.approach.process()
            longest_s = load.shape.duration_s + load.timeout_s + STALL_S
            run, _ = self.generator.send(self.tool, load, raw, longest_s, self.stop, lambda _: show())
            self.drain(self.longest_drain_s)
            after = self.approach.process()
            several.finish(self.tool, raw)
            try:
                report, log = several.report_of(self.tool, raw), several.requests_of(self.tool, raw, wait_ms)
            except (OSError, ParseError):
                report, log = ToolReport(), None
        done = None if report.completed is None else report.completed - (0 if log is None else log.unanswered)
        errors = None if report.failed is None else report.failed + (report.non_2xx or 0)
        if done is not None and errors is not None and errors >= done:
            done = 0
        seconds = report.duration_s or run.ended - run.started
        spent_s = {
            name: getattr(after, name) - getattr(before, name)
            for name in ("cpu_s", "jit_cpu_s", "compiling_s")
            if None not in {getattr(before, name), getattr(after, name)}
        }
        return Burst(
            phase=phase,
            start=run.started,
            duration_s=seconds,
            wait_ms=wait_ms,
            requests=done,
            errors=errors,
            mean_latency_ms=latency_figures(log.latency_ms).mean if log is not None else None,
            cpu_ms_per_request=1000 * spent_s["cpu_s"] / done if done and "cpu_s" in spent_s else None,
            rss_bytes=after.rss_bytes,
            **spent_s,
        )

    def drain(self, longest_s: float) -> None:
        """Waits for what a load left behind, lest it be served in the next one."""
        deadline = self.clock() + longest_s
        while self.approach.process().inflight and self.clock() < deadline and not self.stop.requested:
            self.stop.pause(DRAIN_TICK_S)


def cpu_jiffies(proc: Path = PROC) -> dict[str, list[int]]:
    lines = (line.split() for line in (proc / "stat").read_text(encoding="ascii").splitlines())
    return {
        name[3:]: [int(value) for value in values[: STEAL + 1]]
        for name, *values in lines
        if name.startswith("cpu") and name != "cpu"
    }


def sample(pid: int, proc: Path = PROC) -> HostSample:
    """One reading; of a process that has just ended, only the CPUs."""
    return HostSample(
        time=time.time(),
        monotonic=time.monotonic(),
        cpus=cpu_jiffies(proc),
        tool_threads=_threads(proc, pid, "stat", lambda fields: (int(fields[11]) + int(fields[12])) / CLOCK_TICKS),
        tool_waits=_threads(proc, pid, "schedstat", lambda fields: (int(fields[1]) / 1e9, int(fields[2]))) or None,
    )


def _threads[T](proc: Path, pid: int, name: str, figure: Callable[[list[str]], T]) -> dict[str, T]:
    """By the fields of that file of each thread; of `stat`, by those behind its name, which may hold anything."""
    threads = {}
    with suppress(OSError):
        for task in (proc / str(pid) / "task").iterdir():
            if fields := (task / name).read_text(errors="replace").rpartition(")")[2].split():
                threads[task.name] = figure(fields)
    return threads


def network_counters(proc: Path = PROC) -> dict[str, int]:
    """Of this network namespace; without the kernel's files, an empty record."""
    counters: dict[str, int] = {}
    for name in ("netstat", "snmp"):
        with suppress(OSError):
            lines = (proc / "net" / name).read_text(encoding="ascii").splitlines()
            for names, values in zip(lines[::2], lines[1::2], strict=False):
                pairs = dict(zip(names.split(), values.split(), strict=False))
                counters |= {counter: int(pairs[counter]) for counter in NETWORK_COUNTERS if counter in pairs}
    return counters


def boot_id(proc: Path = PROC) -> str | None:
    """The kernel's, which is another after each start; None where it does not tell."""
    with suppress(OSError):
        return (proc / "sys" / "kernel" / "random" / "boot_id").read_text(encoding="ascii").strip() or None
    return None


def read_bytes(pid: int, proc: Path = PROC) -> int | None:
    """APR reads sockets with read(), so a tool's answers show in rchar; None where the kernel does not tell."""
    with suppress(OSError, StopIteration):
        lines = (proc / str(pid) / "io").read_text(encoding="ascii").splitlines()
        return next(int(line[7:]) for line in lines if line.startswith("rchar: "))
    return None
