"""What the host has: asked by the host's shell, for a container sees only its own part of it."""

from collections.abc import Mapping

from loomlab.records.models import Record


class Host(Record):
    """`open_files` is the hard limit of a process in a container; `cpu_order` names every CPU, hardware threads of a
    core next to each other; `free_mb` is the room for results."""

    cpus: int
    memory_mb: int
    open_files: int
    cpu_order: list[int]
    free_mb: int


def host_of(environment: Mapping[str, str]) -> Host:
    """From HOST_CPUS, HOST_MEMORY_MB, HOST_OPEN_FILES, HOST_CPU_ORDER (with spaces between), HOST_FREE_MB."""
    return Host(
        cpus=int(environment["HOST_CPUS"]),
        memory_mb=int(environment["HOST_MEMORY_MB"]),
        open_files=int(environment["HOST_OPEN_FILES"]),
        cpu_order=[int(cpu) for cpu in environment["HOST_CPU_ORDER"].split()],
        free_mb=int(environment["HOST_FREE_MB"]),
    )
