"""What the kernel says about the host's CPUs, the tool's threads and the load generator's network."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from loomlab.records.models import HostSample

PROC = Path("/proc")
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
NETWORK_COUNTERS = ("TCPSynRetrans", "ActiveOpens")
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)
"""A CPU's columns in /proc/stat (proc_stat(5)); those beyond are guest time, which is in user already."""


def cpu_jiffies(proc: Path = PROC) -> dict[str, list[int]]:
    """The columns of each CPU, by its number."""
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
