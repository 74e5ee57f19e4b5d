"""Readings of /proc."""

import os
from pathlib import Path

import pytest

from loomlab.run import hoststat

STAT = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 10 0 20 100 5 1 2 3 0 0\ncpu1 0 0 0 7 0 0 0 0 0 0\nintr 5\n"
THREAD = "7 (a) b) S 1 1 1 0 -1 4194304 1 0 0 0 150 50 0 0 20 0 1 0 1 1 1"


def proc_in(folder: Path, **files: str) -> Path:
    """Of a process 7 with one thread, whose files these are."""
    task = folder / "7" / "task" / "8"
    task.mkdir(parents=True)
    (folder / "stat").write_text(STAT)
    for name, text in files.items():
        (task / name).write_text(text)
    return folder


def test_a_reading_has_cpus_without_guest_time_and_each_threads_cpu_and_waits(tmp_path: Path) -> None:
    got = hoststat.sample(7, proc_in(tmp_path, stat=THREAD, schedstat="5000000000 1500000000 42\n"))

    assert got.cpus == {"0": [10, 0, 20, 100, 5, 1, 2, 3], "1": [0, 0, 0, 7, 0, 0, 0, 0]}
    assert got.tool_threads == {"8": pytest.approx(200 / hoststat.CLOCK_TICKS)}
    assert got.tool_waits == {"8": (1.5, 42)}


@pytest.mark.parametrize("files", [{"stat": THREAD}, {"stat": "", "schedstat": ""}])
def test_what_the_kernel_does_not_tell_of_a_thread_is_no_error(tmp_path: Path, files: dict[str, str]) -> None:
    assert hoststat.sample(7, proc_in(tmp_path, **files)).tool_waits is None


def test_an_ended_process_leaves_the_cpus() -> None:
    got = hoststat.sample(2**22 + 1)

    assert got.cpus
    assert (got.tool_threads, got.tool_waits, hoststat.read_bytes(2**22 + 1)) == ({}, None, None)


def test_this_process_can_be_sampled() -> None:
    got = hoststat.sample(os.getpid())

    assert str(os.getpid()) in got.tool_threads
    assert got.monotonic
    assert got.tool_waits
    assert hoststat.read_bytes(os.getpid())
    assert hoststat.network_counters().keys() == {"TCPSynRetrans", "ActiveOpens"}


def test_network_counters_are_found_by_name(tmp_path: Path) -> None:
    assert hoststat.network_counters(tmp_path) == {}
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "netstat").write_text(
        "TcpExt: SyncookiesSent TCPSynRetrans\nTcpExt: 1 42\nIpExt: InOctets\nIpExt: 9\n"
    )
    (tmp_path / "net" / "snmp").write_text("Tcp: MaxConn ActiveOpens\nTcp: -1 7\n")

    assert hoststat.network_counters(tmp_path) == {"TCPSynRetrans": 42, "ActiveOpens": 7}


def test_a_start_of_the_host_has_its_own_name_where_the_kernel_tells_it(tmp_path: Path) -> None:
    folder = tmp_path / "sys" / "kernel" / "random"
    folder.mkdir(parents=True)
    (folder / "boot_id").write_text("1b4e28ba\n")

    assert hoststat.boot_id(tmp_path) == "1b4e28ba"
    assert hoststat.boot_id(tmp_path / "elsewhere") is None
