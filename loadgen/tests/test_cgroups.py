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


def test_version_1_tells_cpu_memory_threads_kills_and_quota(tmp_path: Path) -> None:
    usage = tree_at(unpack(1, tmp_path)).usage(f"/docker/{V1_WITH_QUOTA}")

    assert usage.cpu_seconds == 1.609644804
    assert usage.anonymous_bytes == 36458496
    assert usage.threads == 1
    assert usage.oom_kills == 0
    assert usage.quota == Quota(quota_us=5000, period_us=100_000, periods=134, throttled_periods=117)


def test_version_2_tells_the_same(tmp_path: Path) -> None:
    usage = tree_at(unpack(2, tmp_path)).usage(f"/system.slice/docker-{V2_OF_SYSTEMD}.scope")

    assert usage.cpu_seconds == 48.213907
    assert usage.anonymous_bytes == 431087616
    assert usage.threads == 1041
    assert usage.oom_kills == 2
    assert usage.quota == Quota(quota_us=150_000, period_us=100_000, periods=2113, throttled_periods=97)


@pytest.mark.parametrize(("version", "container"), [(1, V1_WITHOUT), (2, V2_WITHOUT)])
def test_without_a_quota_there_is_none(tmp_path: Path, version: int, container: str) -> None:
    assert tree_at(unpack(version, tmp_path)).usage(f"/docker/{container}").quota is None


@pytest.mark.parametrize(("version", "cgroup", "limit"), [
    (1, f"/docker/{V1_WITH_QUOTA}", 64 << 20), (1, f"/docker/{V1_WITHOUT}", None),
    (2, f"/system.slice/docker-{V2_OF_SYSTEMD}.scope", 1536 << 20), (2, f"/docker/{V2_WITHOUT}", None),
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

    usage = tree_at(root).usage(f"/docker/{V2_WITHOUT}")

    assert usage.quota is None
    assert usage.cpu_seconds == 7.120448


@pytest.mark.parametrize("version", [1, 2])
def test_containers_are_found_by_their_ids_wherever_the_engine_puts_them(tmp_path: Path, version: int) -> None:
    root = unpack(version, tmp_path)
    rootless = "user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + "ab" * 32 + ".scope"
    (root / ("cpuacct" if version == 1 else "") / rootless).mkdir(parents=True)

    found = tree_at(root).find()

    assert found == {"ab" * 32: f"/{rootless}"} | (
        {one: f"/docker/{one}" for one in (V1_WITH_QUOTA, V1_WITHOUT)}
        if version == 1
        else {V2_OF_SYSTEMD: f"/system.slice/docker-{V2_OF_SYSTEMD}.scope", V2_WITHOUT: f"/docker/{V2_WITHOUT}"}
    )


@pytest.mark.parametrize(("version", "seconds"), [(1, 1076.445627738), (2, 1262.764151)])
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
