"""How the host's CPUs and memory are shared out, as Compose's variables have it."""

import re
from collections.abc import Sequence
from pathlib import Path

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import HostError
from loomlab.plan.host import Host

KEYS = (
    "APPROACH_CPUS", "APPROACH_CPUSET", "APPROACH_MEMORY", "BACKEND_CPUS", "BACKEND_CPUSET", "BACKEND_MEMORY",
    "LOADGEN_CPUS", "LOADGEN_CPUSET", "LOADGEN_MEMORY", "MONITORING_CPUSET",
)  # fmt: skip

type Size = dict[str, str]


def size_of(name: str, host: Host, connections: int, folder: Path) -> Size:
    """`auto`, or a file of the folder; raises HostError where the host is smaller than that file asks for."""
    return auto_size(host, connections) if name == "auto" else named_size(name, host, folder)


def auto_size(host: Host, connections: int) -> Size:
    """The host split 2:1:1 between approach, backend and load generator by CPU sets; on few CPUs the last two share.

    No quota beside them: even one as large as the set throttles in some periods. Memory follows the connections up to
    the same split: 10,000 want some 6 GB.
    """
    approach = max(1, host.cpus // 2)
    backend = max(1, (host.cpus - approach) // 2)
    approach_set = host.cpu_order[:approach]
    backend_set = host.cpu_order[approach : approach + backend] or approach_set
    loadgen_set = host.cpu_order[approach + backend :] or backend_set
    return {
        "APPROACH_CPUS": "0",
        "APPROACH_CPUSET": _set(approach_set),
        "APPROACH_MEMORY": f"{min(host.memory_mb // 2, 1024 + connections // 2)}m",
        "BACKEND_CPUS": "0",
        "BACKEND_CPUSET": _set(backend_set),
        "BACKEND_MEMORY": f"{min(host.memory_mb // 4, 1024)}m",
        "LOADGEN_CPUS": "0",
        "LOADGEN_CPUSET": _set(loadgen_set),
        "LOADGEN_MEMORY": f"{min(host.memory_mb // 4, 2048 + connections // 2)}m",
        "MONITORING_CPUSET": _set(sorted({*backend_set, *loadgen_set})),
    }


def _set(cpus: Sequence[int]) -> str:
    return ",".join(map(str, cpus))


def named_size(name: str, host: Host, folder: Path) -> Size:
    """KEY=VALUE lines of the size's file."""
    lines = (folder / f"{name}.env").read_text(encoding="utf-8").splitlines()
    size = dict(line.split("=", 1) for line in lines if re.match("[A-Z_]+=", line))
    sets = (parse_cpu_list(value) or set() for key, value in size.items() if key.endswith("_CPUSET"))
    named = {int(cpu) for one in sets for cpu in one}
    cpus = 1 + max(named, default=0)
    memory_mb = sum(memory_mb_of(value) for key, value in size.items() if key.endswith("_MEMORY"))
    cure = "use SIZE=auto, or a larger host"
    lacking = sorted(named - set(host.cpu_order))
    if lacking and max(host.cpu_order) < host.cpus:
        raise HostError(f"SIZE={name} needs {cpus} CPUs and this host has {host.cpus}: {cure}.")
    if lacking:
        has = _set(sorted(host.cpu_order))
        raise HostError(f"SIZE={name} names CPU {lacking[0]} and the engine may use only {has}: {cure}.")
    if memory_mb > host.memory_mb:
        raise HostError(f"SIZE={name} needs {memory_mb} MB of memory and this host has {host.memory_mb} MB: {cure}.")
    return size


def memory_mb_of(text: str) -> int:
    """Of `1536m` or `2g`."""
    return int(text[:-1]) * (1024 if text.endswith("g") else 1)
