"""The kernel's files, in both versions of cgroups."""

from pathlib import Path

import pytest

from watching.own import Kernel, Reading

ID = "0123456789abcdef" * 4
STATUS = "Name:\tjava\nRssAnon:\t    2048 kB\nThreads:\t29\n"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    write(tmp_path / "proc/17/status", STATUS)
    write(tmp_path / "proc/18/status", STATUS)
    return tmp_path / "proc"


@pytest.mark.parametrize(
    ("folder", "file", "text"),
    [
        (f"cpuacct/docker/{ID}", "cpuacct.usage", "1500000000\n"),
        (f"docker/{ID}", "cpu.stat", "usage_usec 1500000\nuser_usec 1000000\n"),
        (f"system.slice/docker-{ID}.scope", "cpu.stat", "usage_usec 1500000\n"),
    ],
)
def test_a_container_is_read(tmp_path: Path, proc: Path, folder: str, file: str, text: str) -> None:
    write(tmp_path / folder / file, text)
    write(tmp_path / folder / "cgroup.procs", "17\n18\n")
    assert Kernel(tmp_path, proc).containers() == {ID: Reading(1.5, threads=58, rss_anon_bytes=4 << 20)}


def test_a_process_that_ended_is_left_out(tmp_path: Path, proc: Path) -> None:
    write(tmp_path / f"docker/{ID}/cpu.stat", "usage_usec 1500000\n")
    write(tmp_path / f"docker/{ID}/cgroup.procs", "17\n99\n")
    assert Kernel(tmp_path, proc).containers()[ID].threads == 29


def test_a_container_that_ended_is_left_out(tmp_path: Path, proc: Path) -> None:
    (tmp_path / f"docker/{ID}").mkdir(parents=True)
    assert Kernel(tmp_path, proc).containers() == {}


def test_cpu_of_processes_by_name(tmp_path: Path) -> None:
    rest = "S 1 1 1 0 -1 4194560 1 1 1 1 {} {} 0 0 20 0 9 0 1"
    write(tmp_path / "1/stat", "1 (dockerd) " + rest.format(150, 50))
    write(tmp_path / "2/stat", "2 (dockerd) " + rest.format(100, 0))
    write(tmp_path / "3/stat", "3 (a (b) c) " + rest.format(9000, 0))
    assert Kernel(tmp_path, tmp_path).process_cpu_seconds("dockerd") == 3
