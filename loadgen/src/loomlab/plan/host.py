"""What the host has, as a container sees it, and how it is shared; and what the lab has, read from the checkout."""

import hashlib
import os
import re
import resource
import shutil
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import yaml

from loomlab.basics.errors import HostError, UsageError
from loomlab.basics.grouping import parse_cpu_list
from loomlab.plan.scenarios import names
from loomlab.plan.variables import Asked, model_of
from loomlab.records.files import Record

MOST_FILES = 1_048_576
PORTS = 64_511  # 1024 to 65535 of one address, which compose.yaml gives every container
GENERATOR_FILES, APPROACH_FILES = 50, 500  # descriptors of the tool and of a JVM beside those of their connections
THREADS = 32_000  # Linux' default vm.max_map_count leaves room for so many
SOURCES = (
    "compose.yaml", ".env", "services", "database", "loadgen/Dockerfile", "loadgen/entrypoint",
    "loadgen/requirements.txt", "loadgen/src", "loadgen/tools", "loadgen/users",
)  # fmt: skip
NO_SOURCES = frozenset(
    {"target", "test", "tests", "contract-tests", "__pycache__", "answer", "published", "report", "show", "statistics"}
)
"""Folders of those that change no run: of no image, or of what is said of judged runs. Nor are hidden ones taken."""


class Host(Record):
    cpus: int
    memory_mb: int
    open_files: int  # the hard limit of a process in a container
    cpu_order: list[int]  # every CPU, hardware threads of a core next to each other
    free_mb: int  # room for results
    cpu_model: str | None = None
    governor: str | None = None
    """What sets the CPUs' frequencies, several where they differ; None where the kernel does not tell."""
    thp: str | None = None
    """When the kernel gives memory in huge pages: always, madvise or never; None where it does not tell."""
    swap_mb: int | None = None


def this_host(results: Path, root: Path = Path("/")) -> Host:
    """The host as a process without limits of its own sees it, /sys and /proc below `root`."""
    folder, info = root / "sys/devices/system/cpu", root / "proc/cpuinfo"
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    model = re.search(r"^model name\s*: *(.+)$", info.read_text(), re.MULTILINE) if info.exists() else None
    huge_pages, memory = root / "sys/kernel/mm/transparent_hugepage/enabled", root / "proc/meminfo"
    thp = re.search(r"\[(\w+)\]", huge_pages.read_text()) if huge_pages.exists() else None
    swap = re.search(r"^SwapTotal: *(\d+) kB$", memory.read_text(), re.MULTILINE) if memory.exists() else None
    governors = [file.read_text().strip() for file in sorted(folder.glob("cpu[0-9]*/cpufreq/scaling_governor"))]

    def core_of(cpu: int) -> list[int]:
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
        thp=thp and thp[1],
        swap_mb=swap and int(swap[1]) // 1024,
    )


def size_of(
    name: str, host: Host, connections: int, folder: Path, together: int = 1, own_cpus: int | None = None,
    *, apart: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Compose's variables for each part's CPUs and memory: `auto`, for so many approaches together, or a file's;
    `apart`: this host is the load generator's alone."""
    own = {"LOADGEN_CPUSET": _listed(sorted(host.cpu_order))} if apart else {}
    if name == "auto":
        return auto_size(host, connections, together, own_cpus) | own
    if own_cpus:
        raise UsageError(f"CPUS={own_cpus} does not go with SIZE={name}, whose file has them: use SIZE=auto.")
    text = (folder / f"{name}.env").read_text(encoding="utf-8")
    size = dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.MULTILINE)) | own
    here = {key: value for key, value in size.items() if key.startswith("LOADGEN") or not apart}
    sets = [parse_cpu_list(value) or set() for key, value in here.items() if key.endswith("_CPUSET")]
    cpus = {int(cpu) for each in sets for cpu in each}
    memory_mb = sum(memory_mb_of(value) for key, value in here.items() if key.endswith("_MEMORY"))
    cure = "use SIZE=auto, or a larger host"
    if lacking := cpus.difference(host.cpu_order):
        had = f"{host.cpus} ({_listed(sorted(host.cpu_order))})"
        needed = f"{max(cpus) + 1} CPUs, among them CPU {min(lacking)}"
        raise HostError(f"SIZE={name} needs {needed}, and the engine may use {had}: {cure}.")
    if memory_mb > host.memory_mb:
        raise HostError(f"SIZE={name} needs {memory_mb} MB of memory and this host has {host.memory_mb} MB: {cure}.")
    return size


def auto_size(host: Host, connections: int, together: int = 1, own_cpus: int | None = None) -> dict[str, str]:
    """CPU sets split 2:1:1 between approach (or so many), backend and load generator, the last two on one if there are
    few. No quota: even one as large as the set throttles at times. Memory follows the connections: 10,000 want 6 GB."""
    half = own_cpus or max(1, host.cpus // 2)
    if own_cpus and own_cpus >= host.cpus > 1:
        raise HostError(f"CPUS={own_cpus} of {host.cpus} leaves none to backend and load generator: use fewer.")
    quarter = max(1, (host.cpus - half) // 2)
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


def by_quota(size: dict[str, str], host: Host) -> dict[str, str]:
    """The same with as many CPUs for the approach by a CFS quota on all of the host's."""
    cpus = parse_cpu_list(size["APPROACH_CPUSET"]) or host.cpu_order
    return size | {"APPROACH_CPUS": f"{len(cpus)}", "APPROACH_CPUSET": _listed(sorted(host.cpu_order))}


def _listed(cpus: Iterable[int]) -> str:
    return ",".join(map(str, cpus))


def memory_mb_of(text: str) -> int:
    return int(text[:-1]) * (1024 if text.endswith("g") else 1)


class Lab:
    """The checkout at `root`; the scenarios are where the load generator finds the bodies of their requests, too."""

    def __init__(self, root: Path = Path("/lab"), scenarios: Path = Path("/scenarios")) -> None:
        self.root = root
        self.sizes = root / "sizes"
        self.published = root / "loadgen" / "published"
        self.scenarios = scenarios
        lines = (root / ".env").read_text(encoding="utf-8").splitlines()
        self.defaults = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        services = yaml.safe_load((root / "compose.yaml").read_text(encoding="utf-8"))["services"]
        self.approaches, self.headline, self.idiomatic = (
            [name for name, service in services.items() if profile in service.get("profiles", [])]
            for profile in ("all", "headline", "idiomatic")
        )
        self._services = services
        self.services = [*services]
        self.against = {name: services[name]["x-against"] for name in self.approaches if "x-against" in services[name]}
        self.databases = [name for name in self.approaches if services[name].get("x-database") is True]
        self.without_http10 = [name for name in self.approaches if services[name].get("x-http10") is False]
        self.colours = {name: services[name]["x-colour"] for name in self.approaches if "x-colour" in services[name]}

    def asked(self, verb: str, given: Mapping[str, str]) -> Asked:
        files = {"sizes": names(self.sizes, "env"), "published": names(self.published)}
        return model_of(verb, given, {"approaches": self.approaches} | files, self.defaults)

    def variables_of(self, approach: str) -> dict[str, str]:
        """By the variables of its container, those of the lab that set them: one may set several."""
        values = self._services[approach]["environment"].items()
        return {
            name: found[1]
            for name, value in values
            if (found := re.fullmatch(r"\$\{([A-Z_]+)(?::-\w*)?\}", f"{value}"))
        }

    def image_of(self, approach: str, jdk: str) -> str:
        return str(self._services[approach]["image"]).replace("${JDK}", jdk)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of what makes and judges runs."""
        whole = hashlib.sha256()
        for source in (self.root / name for name in SOURCES):
            for path in [source] if source.is_file() else sorted(source.rglob("*")):
                parts = path.relative_to(source).parts
                if path.is_file() and not NO_SOURCES & {*parts} and not any(part[0] == "." for part in parts[:-1]):
                    whole.update(f"{path.relative_to(self.root)}\0".encode())
                    whole.update(hashlib.sha256(path.read_bytes()).digest())
        return whole.hexdigest()

    def named(self, approaches: str) -> list[str]:
        every = {"headline": self.headline, "all": self.approaches}.get(approaches) or approaches.split(",")
        return list(dict.fromkeys(every))
