"""What the kernel says about the host's CPUs, the tool's threads and the load generator's network."""

import itertools
import os
import time
from collections.abc import Mapping
from pathlib import Path

from loomlab.models import HostSample

PROC = Path("/proc")
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
NETWORK_COUNTERS = ("TCPSynRetrans", "RetransSegs", "ListenOverflows", "ListenDrops", "ActiveOpens")
STEAL = 7


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
        cpus=parse_cpus((proc / "stat").read_text(encoding="ascii")),
        tool_threads=_thread_seconds(proc / str(pid)),
        tool_read_bytes=read_bytes(pid, proc),
    )


def _thread_seconds(process: Path) -> dict[str, float]:
    seconds = {}
    try:
        for task in (process / "task").iterdir():
            seconds[task.name] = parse_thread_seconds((task / "stat").read_text(errors="replace"))
    except (OSError, IndexError):
        return seconds
    return seconds


def read_bytes(pid: int, proc: Path = PROC) -> int | None:
    """APR reads sockets with read(), so a tool's answers show in rchar; None where the kernel does not tell."""
    try:
        fields: Mapping[str, str] = dict(
            line.split(": ") for line in (proc / str(pid) / "io").read_text(encoding="ascii").splitlines()
        )
        return int(fields["rchar"])
    except (OSError, KeyError, ValueError):
        return None


def parse_cpu_list(cpus: str) -> set[str] | None:
    """A cpuset list such as `0-2,5` as CPU numbers; None (all CPUs) for an empty one; ValueError for another text."""
    if not cpus.strip():
        return None
    numbers: set[str] = set()
    for part in cpus.split(","):
        first, _, last = part.strip().partition("-")
        numbers |= {str(number) for number in range(int(first), int(last or first) + 1)}
    return numbers


def full_share(samples: list[HostSample], cpus: set[str] | None, threshold: float) -> float | None:
    """Share of the sampled seconds in which every CPU of the set was busy to `threshold` (0 to 1) or more.

    Idle and iowait are not busy, steal is. None without samples of these CPUs.
    """
    verdicts = []
    for before, after in itertools.pairwise(samples):
        names = after.cpus.keys() if cpus is None else cpus
        busy = [_busy(before.cpus[name], after.cpus[name]) for name in names if name in before.cpus.keys() & after.cpus]
        if busy:
            verdicts.append(min(busy) >= threshold)
    return sum(verdicts) / len(verdicts) if verdicts else None


def _busy(before: list[int], after: list[int]) -> float:
    spent = [new - old for old, new in zip(before, after, strict=True)]
    total = sum(spent)
    return 1 - (spent[3] + spent[4]) / total if total > 0 else 0.0


def busiest_thread_full_share(samples: list[HostSample], threshold: float) -> float | None:
    """Share of the sampled seconds in which one thread of the tool used `threshold` of a CPU or more."""
    verdicts = []
    for before, after in itertools.pairwise(samples):
        shares = [
            (after.tool_threads[thread] - spent) / (after.time - before.time)
            for thread, spent in before.tool_threads.items()
            if thread in after.tool_threads and after.time > before.time
        ]
        if shares:
            verdicts.append(max(shares) >= threshold)
    return sum(verdicts) / len(verdicts) if verdicts else None
