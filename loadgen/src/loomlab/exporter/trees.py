"""What the kernel counts for each container, in the files of its cgroup, version 1 or 2."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loomlab.basics.errors import HostError

CONTAINER_ID = re.compile(r"[0-9a-f]{64}")
"""Within the name of a container's cgroup: the name itself, or that of a systemd scope."""
NO_LIMIT_BYTES = 1 << 60
"""Version 1 tells the largest number of whole pages where there is no limit."""


@dataclass(frozen=True)
class Quota:
    """CPU time of `quota_us` in each `period_us`; how many periods have passed, and how many of them throttled."""

    quota_us: int
    period_us: int
    periods: int
    throttled_periods: int


@dataclass(frozen=True)
class Usage:
    """Of the cgroup at `path`, since it was made; `inode` tells it from a later one there. `anonymous_bytes` has no
    mapped files and no kernel memory. None: the kernel does not tell, or there is no such limit."""

    path: str
    inode: int
    cpu_seconds: float
    anonymous_bytes: int | None
    threads: int | None
    oom_kills: int | None
    quota: Quota | None
    memory_limit_bytes: int | None


class Tree(Protocol):
    """A host's cgroups."""

    def find(self) -> dict[str, str]:
        """The path of each container's cgroup, by the container's ID."""

    def usage(self, path: str) -> Usage:
        """Raises OSError for a cgroup that is gone."""

    def host_cpu_seconds(self) -> float:
        """CPU time of all of the host's processes."""


def tree_at(root: Path) -> Tree:
    """The tree mounted there; raises HostError where there is none."""
    if (root / "cgroup.controllers").exists():
        return TreeV2(root)
    if (root / "cpuacct" / "cpuacct.usage").exists():
        return TreeV1(root)
    raise HostError(f"{root} holds no cgroups of version 1 or 2: mount the host's /sys/fs/cgroup there.")


class TreeV1:
    """A hierarchy for each controller; also that of a host that has version 2 beside it in `unified`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self) -> dict[str, str]:
        return _containers(self._root / "cpuacct")

    def usage(self, path: str) -> Usage:
        return Usage(
            path=path,
            inode=_folder(self._root / "cpuacct", path).stat().st_ino,
            cpu_seconds=int(self._read("cpuacct", path, "cpuacct.usage")) / 1e9,
            anonymous_bytes=self._keyed("memory", path, "memory.stat").get("total_rss"),
            threads=_whole(self._read_if_there("pids", path, "pids.current")),
            oom_kills=self._keyed("memory", path, "memory.oom_control").get("oom_kill"),
            quota=self._quota(path),
            memory_limit_bytes=self._memory_limit_bytes(path),
        )

    def host_cpu_seconds(self) -> float:
        return int(self._read("cpuacct", "", "cpuacct.usage")) / 1e9

    def _quota(self, path: str) -> Quota | None:
        quota_us = _whole(self._read_if_there("cpu", path, "cpu.cfs_quota_us"))
        if quota_us is None or quota_us <= 0:
            return None
        period_us = int(self._read("cpu", path, "cpu.cfs_period_us"))
        return _quota(quota_us, period_us, self._keyed("cpu", path, "cpu.stat"))

    def _memory_limit_bytes(self, path: str) -> int | None:
        limit = _limit(self._read_if_there("memory", path, "memory.limit_in_bytes"))
        return None if limit is None or limit >= NO_LIMIT_BYTES else limit

    def _keyed(self, controller: str, path: str, name: str) -> dict[str, int]:
        return keyed(self._read_if_there(controller, path, name) or "")

    def _read(self, controller: str, path: str, name: str) -> str:
        return _text(self._root / controller, path, name)

    def _read_if_there(self, controller: str, path: str, name: str) -> str | None:
        return _text_if_there(self._root / controller, path, name)


class TreeV2:
    """One hierarchy for all controllers; a rootless engine may not have them all."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self) -> dict[str, str]:
        return _containers(self._root)

    def usage(self, path: str) -> Usage:
        cpu = keyed(_text(self._root, path, "cpu.stat"))
        return Usage(
            path=path,
            inode=_folder(self._root, path).stat().st_ino,
            cpu_seconds=cpu["usage_usec"] / 1e6,
            anonymous_bytes=self._keyed(path, "memory.stat").get("anon"),
            threads=_whole(_text_if_there(self._root, path, "pids.current")),
            oom_kills=self._keyed(path, "memory.events").get("oom_kill"),
            quota=self._quota(path, cpu),
            memory_limit_bytes=_limit(_text_if_there(self._root, path, "memory.max")),
        )

    def host_cpu_seconds(self) -> float:
        # Some kernels add stolen time to the root's usage_usec.
        cpu = keyed(_text(self._root, "", "cpu.stat"))
        return (cpu["user_usec"] + cpu["system_usec"]) / 1e6

    def _quota(self, path: str, cpu: dict[str, int]) -> Quota | None:
        quota_us, _, period_us = (_text_if_there(self._root, path, "cpu.max") or "max").strip().partition(" ")
        return None if quota_us == "max" else _quota(int(quota_us), int(period_us), cpu)

    def _keyed(self, path: str, name: str) -> dict[str, int]:
        return keyed(_text_if_there(self._root, path, name) or "")


def keyed(text: str) -> dict[str, int]:
    """Lines of a name and a whole number, as `memory.stat` has them."""
    pairs = (line.partition(" ") for line in text.splitlines())
    return {name: int(value) for name, _, value in pairs if value.isdigit()}


def _quota(quota_us: int, period_us: int, stat: dict[str, int]) -> Quota:
    return Quota(quota_us, period_us, stat.get("nr_periods", 0), stat.get("nr_throttled", 0))


def _containers(hierarchy: Path) -> dict[str, str]:
    found = {}
    for folder, _, _ in os.walk(hierarchy):
        if match := CONTAINER_ID.search(Path(folder).name):
            found[match.group()] = f"/{Path(folder).relative_to(hierarchy)}"
    return found


def _folder(hierarchy: Path, path: str) -> Path:
    return hierarchy / path.lstrip("/")


def _text(hierarchy: Path, path: str, name: str) -> str:
    return (_folder(hierarchy, path) / name).read_text(encoding="ascii")


def _text_if_there(hierarchy: Path, path: str, name: str) -> str | None:
    try:
        return _text(hierarchy, path, name)
    except FileNotFoundError:
        return None


def _limit(text: str | None) -> int | None:
    return None if text is None or text.strip() == "max" else int(text)


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)
