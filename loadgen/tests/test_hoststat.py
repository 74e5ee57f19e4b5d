"""Readings of /proc."""

import os
from pathlib import Path

import pytest

from loomlab.run import hoststat

STAT = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 10 0 20 100 5 1 2 3 0 0\ncpu1 0 0 0 7 0 0 0 0 0 0\nintr 5\n"


def test_cpus_are_read_without_guest_time() -> None:
    assert hoststat.parse_cpus(STAT) == {"0": [10, 0, 20, 100, 5, 1, 2, 3], "1": [0, 0, 0, 7, 0, 0, 0, 0]}


def test_a_thread_name_may_hold_brackets_and_spaces() -> None:
    stat = "7 (a) b) S 1 1 1 0 -1 4194304 1 0 0 0 " + "150 50 0 0 20 0 1 0 1 1 1"

    assert hoststat.parse_thread_seconds(stat) == pytest.approx(200 / hoststat.CLOCK_TICKS)


def test_network_counters_are_found_by_name() -> None:
    text = "TcpExt: SyncookiesSent SyncookiesFailed TCPSynRetrans\nTcpExt: 1 0 42\nIpExt: InOctets\nIpExt: 9\n"

    assert hoststat.parse_network(text) == {"TCPSynRetrans": 42}
    assert hoststat.parse_network("Tcp: MaxConn ActiveOpens\nTcp: -1 7\n") == {"ActiveOpens": 7}


def test_a_start_of_the_host_has_its_own_name_where_the_kernel_tells_it(tmp_path: Path) -> None:
    told = tmp_path / "sys" / "kernel" / "random"
    told.mkdir(parents=True)
    (told / "boot_id").write_text("1b4e28ba\n")

    assert hoststat.boot_id(tmp_path) == "1b4e28ba"
    assert hoststat.boot_id(tmp_path / "elsewhere") is None


def test_this_process_can_be_sampled() -> None:
    got = hoststat.sample(os.getpid())

    assert got.cpus
    assert str(os.getpid()) in got.tool_threads
    assert got.monotonic
    assert got.tool_waits
    waited_s, slices = got.tool_waits[str(os.getpid())]
    assert waited_s >= 0 and slices > 0
    assert hoststat.read_bytes(os.getpid())
    assert {"TCPSynRetrans", "ActiveOpens"} <= hoststat.network_counters().keys()


def test_a_sample_carries_the_clocks_time_and_one_that_nobody_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000.0)
    monkeypatch.setattr("time.monotonic", lambda: 7.5)

    got = hoststat.sample(os.getpid())

    assert (got.time, got.monotonic) == (1_000.0, 7.5)


def test_an_ended_process_leaves_the_cpus() -> None:
    got = hoststat.sample(2**22 + 1)

    assert got.cpus
    assert (got.tool_threads, hoststat.read_bytes(2**22 + 1)) == ({}, None)


def test_waits_are_the_second_and_turns_the_third_figure() -> None:
    assert hoststat.parse_waits("5000000000 1500000000 42\n") == (1.5, 42)


def test_a_kernel_that_does_not_tell_of_waits_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(STAT)
    (tmp_path / "7" / "task" / "7").mkdir(parents=True)

    assert hoststat.sample(7, tmp_path).tool_waits is None
