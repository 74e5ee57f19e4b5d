"""What is read of cgroups, from trees of both versions."""

from pathlib import Path

import pytest

from loomlab.basics.errors import HostError
from loomlab.exporter.trees import Quota, tree_at
from recorded import replace, unpack

V1_WITH_QUOTA = "2d74e0a5b8e56c0ecd4e1f9dff3a58eb0c8e2c67334f97e8d559eb2160879dcb"
V1_WITHOUT = "90fc0208b1c7a33bd2e9829a3363b022b37e9f935570c032460ea35b894f0686"
V2_OF_SYSTEMD = "4f1c9a03be67d8125e9a03be67d8125e9a03be67d8125e9a03be67d8125e7b20"
V2_WITHOUT = "c07d51e2994ab8f6" * 4
V2_ROOTLESS = "9b3e60d15c7f2a84" * 4
SYSTEMD = f"/system.slice/docker-{V2_OF_SYSTEMD}.scope"
CGROUPFS = f"/docker/{V2_WITHOUT}"
SESSION = "/user.slice/user-1000.slice/user@1000.service/user.slice"
ROOTLESS = f"{SESSION}/docker-{V2_ROOTLESS}.scope"


def test_version_1_tells_cpu_memory_threads_kills_and_quota(tmp_path: Path) -> None:
    usage = tree_at(unpack(1, tmp_path)).usage(f"/docker/{V1_WITH_QUOTA}")

    assert usage.cpu_seconds == 1.609644804
    assert usage.anonymous_bytes == 36458496
    assert usage.threads == 1
    assert usage.oom_kills == 0
    assert usage.quota == Quota(quota_us=5000, period_us=100_000, periods=134, throttled_periods=117)


def test_version_2_tells_the_same(tmp_path: Path) -> None:
    usage = tree_at(unpack(2, tmp_path)).usage(SYSTEMD)

    assert usage.cpu_seconds == 3.540013
    assert usage.anonymous_bytes == 35045376
    assert usage.threads == 42
    assert usage.oom_kills == 2
    assert usage.quota == Quota(quota_us=30_000, period_us=100_000, periods=178, throttled_periods=81)


@pytest.mark.parametrize(("cgroup", "held_mb", "threads"), [(SYSTEMD, 33, 42), (CGROUPFS, 25, 12), (ROOTLESS, 8, 4)])
def test_version_2_tells_the_threads_and_the_memory_that_were_there(
    tmp_path: Path, cgroup: str, held_mb: int, threads: int
) -> None:
    """Those that `make_cgroups/init` asks for; a process has a little memory besides."""
    root = unpack(2, tmp_path)
    usage = tree_at(root).usage(cgroup)

    assert usage.threads == threads == len((root / cgroup[1:] / "cgroup.threads").read_text().split())
    assert usage.anonymous_bytes is not None
    assert held_mb << 20 <= usage.anonymous_bytes < (held_mb + 1) << 20


@pytest.mark.parametrize(("version", "container"), [(1, V1_WITHOUT), (2, V2_WITHOUT)])
def test_without_a_quota_there_is_none(tmp_path: Path, version: int, container: str) -> None:
    assert tree_at(unpack(version, tmp_path)).usage(f"/docker/{container}").quota is None


@pytest.mark.parametrize(("version", "cgroup", "limit"), [
    (1, f"/docker/{V1_WITH_QUOTA}", 64 << 20), (1, f"/docker/{V1_WITHOUT}", None),
    (2, SYSTEMD, 96 << 20), (2, CGROUPFS, None), (2, ROOTLESS, 32 << 20),
])  # fmt: skip
def test_the_memory_limit_is_told_where_there_is_one(
    tmp_path: Path, version: int, cgroup: str, limit: int | None
) -> None:
    assert tree_at(unpack(version, tmp_path)).usage(cgroup).memory_limit_bytes == limit


def test_kills_are_counted_in_version_1_too(tmp_path: Path) -> None:
    root = unpack(1, tmp_path)
    replace(root / f"memory/docker/{V1_WITHOUT}/memory.oom_control", "oom_kill 0", "oom_kill 3")

    assert tree_at(root).usage(f"/docker/{V1_WITHOUT}").oom_kills == 3


def test_a_kernel_that_does_not_count_kills_tells_none(tmp_path: Path) -> None:
    root = unpack(1, tmp_path)
    replace(root / f"memory/docker/{V1_WITHOUT}/memory.oom_control", "oom_kill 0\n", "")

    assert tree_at(root).usage(f"/docker/{V1_WITHOUT}").oom_kills is None


def test_a_rootless_engine_without_the_cpu_controller_still_tells_cpu_time(tmp_path: Path) -> None:
    root = unpack(2, tmp_path)
    (root / f"docker/{V2_WITHOUT}/cpu.max").unlink()

    usage = tree_at(root).usage(CGROUPFS)

    assert usage.quota is None
    assert usage.cpu_seconds == 3.455869


def test_a_kernel_counts_cpu_time_where_the_cpu_controller_is_off(tmp_path: Path) -> None:
    usage = tree_at(unpack(2, tmp_path)).usage(ROOTLESS)

    assert (usage.cpu_seconds, usage.quota, usage.oom_kills) == (0.861507, None, 0)


@pytest.mark.parametrize("version", [1, 2])
def test_containers_are_found_by_their_ids_wherever_the_engine_puts_them(tmp_path: Path, version: int) -> None:
    root = unpack(version, tmp_path)
    rootless = "user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + "ab" * 32 + ".scope"
    (root / ("cpuacct" if version == 1 else "") / rootless).mkdir(parents=True)

    found = tree_at(root).find()

    assert found == {"ab" * 32: f"/{rootless}"} | (
        {one: f"/docker/{one}" for one in (V1_WITH_QUOTA, V1_WITHOUT)}
        if version == 1
        else {V2_OF_SYSTEMD: SYSTEMD, V2_WITHOUT: CGROUPFS, V2_ROOTLESS: ROOTLESS}
    )


@pytest.mark.parametrize(("version", "seconds"), [(1, 1076.445627738), (2, 9.664)])
def test_the_root_is_the_host(tmp_path: Path, version: int, seconds: float) -> None:
    assert tree_at(unpack(version, tmp_path)).host_cpu_seconds() == seconds


def test_version_1_with_an_empty_version_2_beside_it_is_version_1(tmp_path: Path) -> None:
    root = unpack(1, tmp_path)
    (root / "unified").mkdir()
    (root / "unified" / "cgroup.controllers").write_text("\n")

    assert V1_WITHOUT in tree_at(root).find()


def test_a_folder_without_cgroups_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"mount the host's /sys/fs/cgroup there"):
        tree_at(tmp_path)


def test_time_that_others_stole_is_not_the_hosts(tmp_path: Path) -> None:
    replace(unpack(2, tmp_path) / "cpu.stat", "usage_usec 9664000", "usage_usec 19664000")

    assert tree_at(tmp_path).host_cpu_seconds() == 9.664
