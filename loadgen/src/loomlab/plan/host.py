"""What the host has, and how it is shared out.

A container sees its CPUs, its memory and the limits that the engine gives: those of the engine's machine, where it is a
virtual one.
"""

import os
import re
import resource
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import HostError
from loomlab.records.record import Record

MOST_FILES = 1_048_576
CPUS = Path("/sys/devices/system/cpu")
CGROUPS = Path("/sys/fs/cgroup")
CPUSETS = ("cpuset.cpus.effective", "cpuset/cpuset.effective_cpus", "cpuset/cpuset.cpus")
"""Of version 2, of version 1, and of version 1 without its newer file."""
CPU_INFO = Path("/proc/cpuinfo")

type Size = dict[str, str]
"""Compose's variables for CPUs, CPU sets and memory of each part."""


class Host(Record):
    cpus: int
    memory_mb: int
    open_files: int
    """The hard limit of a process in a container."""
    cpu_order: list[int]
    """Every CPU, hardware threads of a core next to each other."""
    free_mb: int
    """Room for results."""
    cpu_model: str | None = None
    governor: str | None = None
    """None as in most virtual machines, where the kernel tells none."""


def this_host(results: Path) -> Host:
    """The host, as a process without limits of its own sees it."""
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
    """The name that the first CPU gives itself."""
    model = re.search(r"^model name\s*: *(.+)$", file.read_text(), re.MULTILINE) if file.exists() else None
    return model[1] if model else None


def governor(folder: Path = CPUS) -> str | None:
    """What sets the CPUs' frequencies; several where they differ."""
    files = sorted(folder.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return ", ".join(dict.fromkeys(file.read_text().strip() for file in files)) or None


def cpus_given(folder: Path = CGROUPS) -> list[int]:
    """The CPUs that the engine may hand out: fewer than the machine's where the engine runs in a container itself, all
    of the machine's where no cgroup tells."""
    for file in (folder / name for name in CPUSETS):
        if file.exists() and (cpus := parse_cpu_list(file.read_text())):
            return sorted(map(int, cpus))
    return list(range(os.cpu_count() or 1))


def cpu_order(cpus: Sequence[int], folder: Path = CPUS) -> list[int]:
    """The CPUs by package and core; by number where the kernel does not tell them of every CPU."""
    cores: list[tuple[int, int, int]] = []
    for cpu in cpus:
        files = [folder / f"cpu{cpu}" / "topology" / name for name in ("physical_package_id", "core_id")]
        if not all(file.exists() for file in files):
            return list(cpus)
        package, core = (int(file.read_text()) for file in files)
        cores.append((package, core, cpu))
    return [cpu for _, _, cpu in sorted(cores)]


def size_of(name: str, host: Host, connections: int, folder: Path) -> Size:
    """`auto`, or a file of the folder; raises HostError where the host is smaller than that file asks for."""
    return auto_size(host, connections) if name == "auto" else named_size(name, host, folder)


def auto_size(host: Host, connections: int) -> Size:
    """The host split 2:1:1 between approach, backend and load generator by CPU sets; on few CPUs the last two share.

    No quota beside them: even one as large as the set throttles in some periods. Memory follows the connections up to
    the same split: 10,000 want some 6 GB.
    """
    half, quarter = max(1, host.cpus // 2), max(1, (host.cpus - host.cpus // 2) // 2)
    approach = host.cpu_order[:half]
    backend = host.cpu_order[half : half + quarter] or approach
    loadgen = host.cpu_order[half + quarter :] or backend
    return {
        "APPROACH_CPUS": "0",
        "APPROACH_CPUSET": _listed(approach),
        "APPROACH_MEMORY": f"{min(host.memory_mb // 2, 1024 + connections // 2)}m",
        "BACKEND_CPUS": "0",
        "BACKEND_CPUSET": _listed(backend),
        "BACKEND_MEMORY": f"{min(host.memory_mb // 4, 1024)}m",
        "LOADGEN_CPUS": "0",
        "LOADGEN_CPUSET": _listed(loadgen),
        "LOADGEN_MEMORY": f"{min(host.memory_mb // 4, 2048 + connections // 2)}m",
        "MONITORING_CPUSET": _listed(sorted({*backend, *loadgen})),
    }


def _listed(cpus: Iterable[int]) -> str:
    return ",".join(map(str, cpus))


def named_size(name: str, host: Host, folder: Path) -> Size:
    """The KEY=VALUE lines of the size's file."""
    lines = (folder / f"{name}.env").read_text(encoding="utf-8").splitlines()
    size = dict(line.split("=", 1) for line in lines if re.match("[A-Z_]+=", line))
    sets = [parse_cpu_list(value) or set() for key, value in size.items() if key.endswith("_CPUSET")]
    cpus = {int(cpu) for cpus in sets for cpu in cpus}
    memory_mb = sum(memory_mb_of(value) for key, value in size.items() if key.endswith("_MEMORY"))
    lacking = [cpu for cpu in sorted(cpus) if cpu not in host.cpu_order]
    cure = "use SIZE=auto, or a larger host"
    if lacking:
        raise HostError(
            f"SIZE={name} needs {max(cpus) + 1} CPUs, among them CPU {lacking[0]}, and the engine may use "
            f"{host.cpus} ({_listed(sorted(host.cpu_order))}): {cure}."
        )
    if memory_mb > host.memory_mb:
        raise HostError(f"SIZE={name} needs {memory_mb} MB of memory and this host has {host.memory_mb} MB: {cure}.")
    return size


def memory_mb_of(text: str) -> int:
    """The megabytes of `1536m` or `2g`."""
    return int(text[:-1]) * (1024 if text.endswith("g") else 1)
