"""Readings of /proc."""

import os

import pytest

from loomlab import hoststat
from loomlab.models import HostSample

STAT = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 10 0 20 100 5 1 2 3 0 0\ncpu1 0 0 0 7 0 0 0 0 0 0\nintr 5\n"


def sample(second: float, *busy_jiffies: int, thread_s: float = 0) -> HostSample:
    """CPUs that were busy so long of 100 jiffies a second, and one thread of the tool."""
    return HostSample(
        time=second,
        cpus={str(cpu): [busy, 0, 0, int(second * 100) - busy, 0, 0, 0, 0] for cpu, busy in enumerate(busy_jiffies)},
        tool_threads={"7": thread_s},
        tool_read_bytes=None,
    )


def test_cpus_are_read_without_guest_time() -> None:
    assert hoststat.parse_cpus(STAT) == {"0": [10, 0, 20, 100, 5, 1, 2, 3], "1": [0, 0, 0, 7, 0, 0, 0, 0]}


def test_a_thread_name_may_hold_brackets_and_spaces() -> None:
    stat = "7 (a) b) S 1 1 1 0 -1 4194304 1 0 0 0 " + "150 50 0 0 20 0 1 0 1 1 1"

    assert hoststat.parse_thread_seconds(stat) == pytest.approx(200 / hoststat.CLOCK_TICKS)


def test_network_counters_are_found_by_name() -> None:
    text = "TcpExt: SyncookiesSent TCPSynRetrans ListenDrops\nTcpExt: 1 42 0\nIpExt: InOctets\nIpExt: 9\n"

    assert hoststat.parse_network(text) == {"TCPSynRetrans": 42, "ListenDrops": 0}
    assert hoststat.parse_network("Tcp: MaxConn ActiveOpens\nTcp: -1 7\n") == {"ActiveOpens": 7}


@pytest.mark.parametrize(("text", "cpus"), [("", None), ("1", {"1"}), ("0-2,5", {"0", "1", "2", "5"})])
def test_cpu_lists(text: str, cpus: set[str] | None) -> None:
    assert hoststat.parse_cpu_list(text) == cpus


def test_a_set_is_full_only_when_all_its_cpus_are() -> None:
    samples = [sample(0, 0, 0), sample(1, 100, 100), sample(2, 200, 150), sample(3, 300, 151)]

    assert hoststat.full_share(samples, None, 0.95) == pytest.approx(1 / 3)
    assert hoststat.full_share(samples, {"0"}, 0.95) == 1
    assert hoststat.full_share(samples, {"1"}, 0.5) == pytest.approx(2 / 3)
    assert hoststat.full_share(samples, {"9"}, 0.5) is None
    assert hoststat.full_share(samples[:1], None, 0.5) is None


def test_the_busiest_thread_is_weighed_by_time() -> None:
    samples = [sample(0, 0, thread_s=0), sample(1, 0, thread_s=0.96), sample(3, 0, thread_s=1.96)]

    assert hoststat.busiest_thread_full_share(samples, 0.95) == 0.5


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
