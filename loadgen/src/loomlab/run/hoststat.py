"""What the kernel says about the host's CPUs, the tool's threads and the load generator's network."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from loomlab.records.models import HostSample

PROC = Path("/proc")
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
NETWORK_COUNTERS = ("TCPSynRetrans", "ActiveOpens")
STEAL = 7
NS_PER_S = 1_000_000_000


def parse_cpus(stat: str) -> dict[str, list[int]]:
    """/proc/stat: jiffies of each CPU, user to steal; guest time is in user already."""
    cpus = {}
    for line in stat.splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name != "cpu":
            cpus[name[3:]] = [int(value) for value in values[: STEAL + 1]]
    return cpus


def parse_thread_seconds(stat: str) -> float:
    """/proc/PID/task/TID/stat: user + system CPU seconds; the name in brackets may hold anything."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def parse_network(text: str) -> dict[str, int]:
    """/proc/net/netstat or snmp: pairs of lines, names then values; only NETWORK_COUNTERS."""
    counters: dict[str, int] = {}
    lines = text.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        pairs = zip(names.split()[1:], values.split()[1:], strict=False)
        counters |= {name: int(value) for name, value in pairs if name in NETWORK_COUNTERS}
    return counters


def boot_id(proc: Path = PROC) -> str | None:
    """The kernel's, which is another after each start; None where it does not tell."""
    try:
        return (proc / "sys" / "kernel" / "random" / "boot_id").read_text(encoding="ascii").strip() or None
    except OSError:
        return None


def network_counters(proc: Path = PROC) -> dict[str, int]:
    """Of this network namespace; without the files, an empty record."""
    counters: dict[str, int] = {}
    for name in ("netstat", "snmp"):
        try:
            counters |= parse_network((proc / "net" / name).read_text(encoding="ascii"))
        except OSError:
            continue
    return counters


def sample(pid: int, proc: Path = PROC) -> HostSample:
    """One reading; of a process that has just ended, only the CPUs."""
    return HostSample(
        time=time.time(),
        monotonic=time.monotonic(),
        cpus=parse_cpus((proc / "stat").read_text(encoding="ascii")),
        tool_threads=_thread_seconds(proc / str(pid)),
        tool_waits=_thread_waits(proc / str(pid)),
    )


def _thread_seconds(process: Path) -> dict[str, float]:
    seconds = {}
    try:
        for task in (process / "task").iterdir():
            seconds[task.name] = parse_thread_seconds((task / "stat").read_text(errors="replace"))
    except (OSError, IndexError):
        return seconds
    return seconds


def parse_waits(schedstat: str) -> tuple[float, int]:
    """/proc/PID/task/TID/schedstat (the kernel's sched-stats.rst): seconds on a run queue, and timeslices."""
    _, waited_ns, slices = schedstat.split()
    return int(waited_ns) / NS_PER_S, int(slices)


def _thread_waits(process: Path) -> dict[str, tuple[float, int]] | None:
    """None where the kernel does not tell."""
    waits = {}
    try:
        for task in (process / "task").iterdir():
            waits[task.name] = parse_waits((task / "schedstat").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return waits or None
    return waits


def read_bytes(pid: int, proc: Path = PROC) -> int | None:
    """APR reads sockets with read(), so a tool's answers show in rchar; None where the kernel does not tell."""
    try:
        fields: Mapping[str, str] = dict(
            line.split(": ") for line in (proc / str(pid) / "io").read_text(encoding="ascii").splitlines()
        )
        return int(fields["rchar"])
    except (OSError, KeyError, ValueError):
        return None
