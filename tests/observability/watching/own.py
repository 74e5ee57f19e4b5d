"""What the kernel itself counts of containers, read from their cgroups and processes: no exporter between."""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Version 1 and version 2, with cgroupfs and with systemd as the engine's driver.
CGROUPS = ("cpuacct/docker/*", "cpuacct/system.slice/docker-*.scope", "docker/*", "system.slice/docker-*.scope")
GONE = (errno.ENOENT, errno.ESRCH, errno.ENODEV)
CONTAINER_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Reading:
    """Of one container: CPU time since its start, and of its processes the threads and the anonymous memory."""

    cpu_seconds: float
    threads: int
    rss_anon_bytes: int


class Kernel:
    """Reads /sys/fs/cgroup and /proc of the host (its process namespace is needed, too)."""

    def __init__(self, cgroups: Path = Path("/sys/fs/cgroup"), proc: Path = Path("/proc")) -> None:
        self._cgroups = cgroups
        self._proc = proc

    def containers(self) -> dict[str, Reading]:
        """Every container by its full ID."""
        readings: dict[str, Reading] = {}
        for pattern in CGROUPS:
            for folder in self._cgroups.glob(pattern):
                name = CONTAINER_ID.search(folder.name)
                if name and (reading := self._read(folder)):
                    readings[name[0]] = reading
        return readings

    def process_cpu_seconds(self, name: str, ticks_per_second: int = 100) -> float:
        """CPU time of all processes of that name, in and out of containers."""
        seconds = 0.0
        for file in self._proc.glob("[0-9]*/stat"):
            text = _text_of(file)
            if text and text[text.index("(") + 1 : text.rindex(")")] == name:
                fields = text[text.rindex(")") + 2 :].split()
                seconds += (int(fields[11]) + int(fields[12])) / ticks_per_second
        return seconds

    def _read(self, folder: Path) -> Reading | None:
        cpu_seconds = _cpu_seconds(folder)
        if cpu_seconds is None:
            return None
        processes = list(self._processes(folder))
        return Reading(
            cpu_seconds,
            threads=sum(int(process.get("Threads", "0")) for process in processes),
            rss_anon_bytes=sum(1024 * int(process.get("RssAnon", "0").removesuffix(" kB")) for process in processes),
        )

    def _processes(self, folder: Path) -> Iterator[dict[str, str]]:
        for process_id in (_text_of(folder / "cgroup.procs") or "").split():
            status = _text_of(self._proc / process_id / "status")
            if status is not None:
                lines = (line.partition(":") for line in status.splitlines())
                yield {key: value.strip() for key, _, value in lines}


def _cpu_seconds(folder: Path) -> float | None:
    nanoseconds = _text_of(folder / "cpuacct.usage")
    if nanoseconds:
        return int(nanoseconds) / 1e9
    microseconds = re.search(r"^usage_usec (\d+)$", _text_of(folder / "cpu.stat") or "", re.MULTILINE)
    return int(microseconds[1]) / 1e6 if microseconds else None


def _text_of(file: Path) -> str | None:
    """None where the container or process ended meanwhile."""
    try:
        return file.read_text()
    except OSError as error:
        if error.errno in GONE:
            return None
        raise
