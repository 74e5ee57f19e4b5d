"""What the host has.

A container sees its CPUs, its memory and the limits that the engine gives: those of the engine's machine, where it is a
virtual one.
"""

import os
import re
import resource
import shutil
from collections.abc import Sequence
from pathlib import Path

from loomlab.basics.cpus import parse_cpu_list
from loomlab.records.record import Record

MOST_FILES = 1_048_576
CPUS = Path("/sys/devices/system/cpu")
CGROUPS = Path("/sys/fs/cgroup")
CPUSETS = ("cpuset.cpus.effective", "cpuset/cpuset.effective_cpus", "cpuset/cpuset.cpus")
"""Of version 2, of version 1, and of version 1 without its newer file."""
CPU_INFO = Path("/proc/cpuinfo")


class Host(Record):
    """`open_files` is the hard limit of a process in a container; `cpu_order` names every CPU, hardware threads of a
    core next to each other; `free_mb` is the room for results; `cpu_model` and `governor` are None where the kernel
    does not tell them, as in most virtual machines the governor."""

    cpus: int
    memory_mb: int
    open_files: int
    cpu_order: list[int]
    free_mb: int
    cpu_model: str | None = None
    governor: str | None = None


def this_host(results: Path) -> Host:
    """Of a process without limits of its own."""
    cpus = cpus_given()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return Host(
        cpus=len(cpus),
        memory_mb=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20,
        open_files=MOST_FILES if limit == resource.RLIM_INFINITY else min(limit, MOST_FILES),
        cpu_order=cpu_order(cpus),
        free_mb=shutil.disk_usage(results).free // 2**20,
        cpu_model=cpu_model(),
        governor=governor(),
    )


def cpu_model(file: Path = CPU_INFO) -> str | None:
    """As the first CPU names itself."""
    try:
        found = re.search(r"^model name\s*: *(.+)$", file.read_text(), re.MULTILINE)
    except OSError:
        return None
    return found[1] if found else None


def governor(folder: Path = CPUS) -> str | None:
    """What sets the CPUs' frequencies; several where they differ."""
    files = sorted(folder.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return ", ".join(dict.fromkeys(file.read_text().strip() for file in files)) or None


def cpus_given(folder: Path = CGROUPS) -> list[int]:
    """The numbers of those that the engine may hand out: fewer than the machine's where the engine runs in a container
    itself, all of the machine's where no cgroup tells."""
    for name in CPUSETS:
        try:
            found = parse_cpu_list((folder / name).read_text())
        except (OSError, ValueError):
            continue
        if found:
            return sorted(map(int, found))
    return list(range(os.cpu_count() or 1))


def cpu_order(cpus: Sequence[int], folder: Path = CPUS) -> list[int]:
    """By package and core; by number where the kernel does not tell them of every CPU."""
    cores: dict[tuple[int, int, int], int] = {}
    for topology in folder.glob("cpu[0-9]*/topology"):
        number = int(topology.parent.name.removeprefix("cpu"))
        if number not in cpus:
            continue
        try:
            package, core = (int((topology / name).read_text()) for name in ("physical_package_id", "core_id"))
        except (OSError, ValueError):
            continue
        cores[package, core, number] = number
    ordered = [cores[place] for place in sorted(cores)]
    return ordered if len(ordered) == len(cpus) else list(cpus)
