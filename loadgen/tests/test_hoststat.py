"""Readings of /proc."""

import os

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


def test_this_process_can_be_sampled() -> None:
    got = hoststat.sample(os.getpid())

    assert got.cpus
    assert str(os.getpid()) in got.tool_threads
    assert got.tool_read_bytes
    assert {"TCPSynRetrans", "ActiveOpens"} <= hoststat.network_counters().keys()


def test_an_ended_process_leaves_the_cpus() -> None:
    got = hoststat.sample(2**22 + 1)

    assert got.cpus
    assert (got.tool_threads, got.tool_read_bytes) == ({}, None)
