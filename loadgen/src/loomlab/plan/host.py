"""What the host has, as a container sees it (a virtual machine's, where the engine is in one), and how it is shared."""

import os
import re
import resource
import shutil
from collections.abc import Iterable
from pathlib import Path

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import HostError
from loomlab.records.files import Record

MOST_FILES = 1_048_576
PORTS = 64_511  # 1024 to 65535 of one address, which compose.yaml gives every container
GENERATOR_FILES, APPROACH_FILES = 50, 500  # descriptors of the tool and of a JVM beside those of their connections
THREADS = 32_000  # Linux' default vm.max_map_count leaves room for so many


class Host(Record):
    cpus: int
    memory_mb: int
    open_files: int  # the hard limit of a process in a container
    cpu_order: list[int]  # every CPU, hardware threads of a core next to each other
    free_mb: int  # room for results
    cpu_model: str | None = None
    governor: str | None = None
    """What sets the CPUs' frequencies, several where they differ; None where the kernel does not tell."""


def this_host(results: Path, root: Path = Path("/")) -> Host:
    """The host as a process without limits of its own sees it, /sys and /proc below `root`."""
    folder, info = root / "sys/devices/system/cpu", root / "proc/cpuinfo"
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    model = re.search(r"^model name\s*: *(.+)$", info.read_text(), re.MULTILINE) if info.exists() else None
    governors = [file.read_text().strip() for file in sorted(folder.glob("cpu[0-9]*/cpufreq/scaling_governor"))]

    def core_of(cpu: int) -> list[int]:
        """Its package and core, 0 where the kernel does not tell them; then its number."""
        files = (folder / f"cpu{cpu}" / "topology" / name for name in ("physical_package_id", "core_id"))
        return [*(int(file.read_text()) if file.exists() else 0 for file in files), cpu]

    order = sorted(os.sched_getaffinity(0), key=core_of)
    return Host(
        cpus=len(order),
        memory_mb=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20,
        open_files=MOST_FILES if limit == resource.RLIM_INFINITY else min(limit, MOST_FILES),
        cpu_order=order,
        free_mb=shutil.disk_usage(results).free // 2**20,
        cpu_model=model and model[1],
        governor=", ".join(dict.fromkeys(governors)) or None,
    )


def size_of(name: str, host: Host, connections: int, folder: Path, together: int = 1) -> dict[str, str]:
    """Compose's variables for each part's CPUs and memory: `auto`, for so many approaches together, or a file's;
    HostError if these are too many for one."""
    if name == "auto":
        return auto_size(host, connections, together)
    size = dict(re.findall(r"^([A-Z_]+)=(.*)$", (folder / f"{name}.env").read_text(encoding="utf-8"), re.MULTILINE))
    sets = [parse_cpu_list(value) or set() for key, value in size.items() if key.endswith("_CPUSET")]
    cpus = {int(cpu) for each in sets for cpu in each}
    memory_mb = sum(memory_mb_of(value) for key, value in size.items() if key.endswith("_MEMORY"))
    cure = "use SIZE=auto, or a larger host"
    if lacking := cpus.difference(host.cpu_order):
        had = f"{host.cpus} ({_listed(sorted(host.cpu_order))})"
        needed = f"{max(cpus) + 1} CPUs, among them CPU {min(lacking)}"
        raise HostError(f"SIZE={name} needs {needed}, and the engine may use {had}: {cure}.")
    if memory_mb > host.memory_mb:
        raise HostError(f"SIZE={name} needs {memory_mb} MB of memory and this host has {host.memory_mb} MB: {cure}.")
    return size


def auto_size(host: Host, connections: int, together: int = 1) -> dict[str, str]:
    """CPU sets split 2:1:1 between approach, backend and load generator, the last two on one where there are few. No
    quota: even one as large as the set throttles at times. Memory follows the connections: 10,000 want some 6 GB."""
    half, quarter = max(1, host.cpus // 2), max(1, (host.cpus - host.cpus // 2) // 2)
    approach = host.cpu_order[:half]
    backend = host.cpu_order[half : half + quarter] or approach
    loadgen = host.cpu_order[half + quarter :] or backend
    size = {"MONITORING_CPUSET": _listed(sorted({*backend, *loadgen}))}
    for part, cpus, share, most_mb in (
        ("APPROACH", approach, 2 * together, 1024 + connections // 2),
        ("BACKEND", backend, 4, 1024),
        ("LOADGEN", loadgen, 4, 2048 + connections // 2),
    ):
        memory = f"{min(host.memory_mb // share, most_mb)}m"
        size |= {f"{part}_CPUS": "0", f"{part}_CPUSET": _listed(cpus), f"{part}_MEMORY": memory}
    return size


def _listed(cpus: Iterable[int]) -> str:
    return ",".join(map(str, cpus))


def memory_mb_of(text: str) -> int:
    """The megabytes of `1536m` or `2g`."""
    return int(text[:-1]) * (1024 if text.endswith("g") else 1)
