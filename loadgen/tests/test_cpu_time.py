"""How the time of CPUs and threads was spent, on counters as /proc has them."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from loomlab.judge.series import busiest_thread_full_share, cpu_waits_ms, cpus_full_share, full_share
from loomlab.records.models import HostSample
from loomlab.run import process
from loomlab.run.shares import shares_of

IDLING = [10, 0, 0, 90, 0, 0, 0, 0]


def busy(second: int, *jiffies: int) -> HostSample:
    """CPUs that were busy so long of 100 jiffies a second."""
    cpus = {str(cpu): [spent, 0, 0, 100 * second - spent, 0, 0, 0, 0] for cpu, spent in enumerate(jiffies)}
    return HostSample(time=second, cpus=cpus, tool_threads={})


def growing(seconds: int = 20, **each_second: list[int]) -> list[HostSample]:
    """Counters (user, nice, system, idle, iowait, irq, softirq, steal) of CPUs grow by that each second."""
    return [
        HostSample(
            time=second,
            cpus={cpu[1:]: [second * grown for grown in grows] for cpu, grows in each_second.items()},
            tool_threads={},
        )
        for second in range(seconds + 1)
    ]


def test_a_set_is_full_only_when_all_its_cpus_are() -> None:
    samples = [busy(0, 0, 0), busy(1, 100, 100), busy(2, 200, 150), busy(3, 300, 151)]

    assert cpus_full_share(samples, None) == cpus_full_share(samples, {"1"}) == pytest.approx(1 / 3)
    assert cpus_full_share(samples, {"0"}) == 1
    assert cpus_full_share(samples, {"9"}) is cpus_full_share(samples[:1], None) is None


def test_a_cpu_that_waits_for_a_disk_is_not_busy() -> None:
    assert cpus_full_share(growing(_0=[0, 0, 0, 0, 100, 0, 0, 0]), None) == 0


@pytest.mark.parametrize(("used", "share"), [(0, 0), (100, 1)])
def test_counters_that_stand_still_do_not_show_an_idle_cpu(used: int, share: float) -> None:
    """For half of the time; it was as busy then as after, or the lab does not know."""
    samples = growing(40, _2=[used, 0, 0, 100 - used, 0, 0, 0, 0])
    for sample in samples[20:40]:
        sample.cpus = samples[19].cpus

    assert cpus_full_share(samples, {"2"}) == share


def test_cpus_whose_counters_move_in_turn_are_known_from_one_move_of_all_to_the_next() -> None:
    counters = enumerate([(0, 0), (100, 0), (100, 200), (300, 200), (300, 400)])
    samples = [
        HostSample(time=second, cpus={f"{cpu}": [spent, *[0] * 7] for cpu, spent in enumerate(told)}, tool_threads={})
        for second, told in counters
    ]

    assert cpus_full_share(samples, None) == 1


def test_the_busiest_thread_counts_by_time() -> None:
    def threads(second: float, **spent_s: float) -> HostSample:
        return HostSample(time=second, cpus={}, tool_threads=spent_s)

    samples = [threads(0, a=0, b=0), threads(1, a=0.96, b=0.1), threads(3, a=1.96, b=0.2)]

    assert busiest_thread_full_share(samples) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("stretches", "share"),
    [
        ([(1.0, 0.2)] * 15 + [(25, 0.7)], None),  # 18 s of it may have been full
        ([(1.0, 0.2)] * 15 + [(25, 0.1)], 0),  # 2.6 s of 40 cannot matter
        ([(1.0, 0.2)] * 37 + [(3, 0.9)], 0),
        ([(1.0, 0.2)] * 15 + [(25, 0.95)], 25 / 40),
        ([(1.0, 1.0)] * 5 + [(1.0, 0.2)] * 10 + [(25, 0.7)], 5 / 40),
        ([(1.0, 0.0)] * 39 + [(1.0, 20.0)], None),  # the counter had stood still
    ],
)
def test_what_a_hole_may_hide(stretches: list[tuple[float, float]], share: float | None) -> None:
    assert full_share(stretches) == share


def test_shares_are_those_of_the_set() -> None:
    samples = growing(_0=[30, 10, 10, 20, 5, 1, 4, 20], _1=[0, 0, 0, 100, 0, 0, 0, 0])

    approach, both = shares_of(samples, {"0"}, [(2, 12)]), shares_of(samples, None, [(2, 12)])

    assert approach is not None and both is not None
    assert (approach.busy, approach.interrupts, approach.steal) == pytest.approx((0.5, 0.05, 0.2))
    assert approach.cpu_seconds == 10
    assert approach.stolen_of_needed == pytest.approx(0.2 / 0.75)
    idle = shares_of(samples, {"1"}, [(2, 12)])
    assert idle is not None and idle.stolen_of_needed == 0
    assert (both.busy, both.interrupts, both.steal, both.cpu_seconds) == pytest.approx((0.25, 0.025, 0.1, 20))


def test_a_span_between_samples_is_interpolated() -> None:
    samples = [*(busy(second, 0) for second in range(5)), *(busy(second, 100 * (second - 4)) for second in range(5, 9))]
    got = shares_of(samples, {"0"}, [(3.5, 4.5)])
    assert got is not None and got.busy == pytest.approx(0.5)


def test_a_hole_or_counters_that_stand_still_matter_at_the_ends_of_the_span_only() -> None:
    samples = growing(_0=IDLING, _1=IDLING)
    for sample in samples[9:13]:
        sample.cpus["0"] = samples[8].cpus["0"]
    hole = [sample for sample in samples if not 8 <= sample.time < 12]

    assert shares_of(samples, {"0"}, [(2, 11)]) is None
    assert shares_of(samples, {"1"}, [(2, 11)]) is not None
    assert shares_of(hole, {"1"}, [(2, 18)]) is not None
    assert shares_of(hole, {"1"}, [(9, 18)]) is shares_of(hole, {"1"}, [(2, 10)]) is None


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 25), (5, 5.5)])
def test_nothing_is_told_of_a_span_beyond_the_samples(start: float, end: float) -> None:
    samples = growing(_0=IDLING)
    assert shares_of(samples, {"0"}, [(start, end)]) is None
    assert shares_of(samples, {"7"}, [(0, 5)]) is shares_of([], None, [(0, 5)]) is None


Waits = Mapping[str, tuple[float, int]]


def waiting(*each: tuple[float, int]) -> list[HostSample]:
    """A sample a second: in each, one thread waited so long, in so many turns."""
    totals: list[Waits] = [{"7": (0.0, 0)}]
    for waited_s, turns in each:
        totals.append({"7": (totals[-1]["7"][0] + waited_s, totals[-1]["7"][1] + turns)})
    return [HostSample(time=at, cpus={}, tool_threads={}, tool_waits=dict(waits)) for at, waits in enumerate(totals)]


@pytest.mark.parametrize(
    ("samples", "start", "end", "mean_ms", "p99_ms"),
    [
        # The mean of the worst hundredth of the seconds, of those within the span.
        (waiting(*[(0.1, 100)] * 198, *[(5.0, 100)] * 2), 0, 200, (198 * 1 + 2 * 50) / 200, 50),
        (waiting(*[(0.1, 100)] * 198, *[(5.0, 100)] * 2), 0, 190, 1, 1),
        (waiting(*[(9.0, 100)] * 3, *[(0.1, 100)] * 5, *[(9.0, 100)] * 3), 3, 8, 1, 1),
        # A second with few turns counts as much as any: a tool that starves has two, of 0.4 s each.
        (waiting(*[(0.02, 500)] * 20, *[(0.8, 2)] * 4, *[(0.02, 500)] * 16), 0, 40, (4 * 400 + 36 * 0.04) / 40, 400),
        # A stretch without a turn belongs to the next one.
        (waiting((0, 0), (0, 0), (3.0, 3)), 0, 3, 1000, 1000),
        (waiting((0.1, 100), (0, 0), (0, 0), (0.9, 1)), 0, 4, (1 + 3 * 900) / 4, 900),
    ],
)
def test_waits_for_a_cpu(samples: list[HostSample], start: float, end: float, mean_ms: float, p99_ms: float) -> None:
    assert cpu_waits_ms(samples, [(start, end)]) == pytest.approx((mean_ms, p99_ms))


def test_of_a_span_that_was_hardly_sampled_or_without_turns_no_wait_is_told() -> None:
    samples = waiting(*[(0.1, 100)] * 40)
    silent = [one.model_copy(update={"tool_waits": None}) for one in samples]

    assert cpu_waits_ms([*samples[:20], *samples[23:]], [(0, 40)])[0] == pytest.approx(1)
    for untold in ([*samples[:20], *samples[25:]], samples[:30], silent, [], waiting(*[(0.0, 0)] * 40)):
        assert cpu_waits_ms(untold, [(0, 40)]) == (None, None)


def test_threads_that_come_and_go_count_while_they_are_there() -> None:
    first, second = waiting((0.2, 10))
    second.tool_waits = {"7": (0.2, 10), "8": (99.0, 1)}
    assert cpu_waits_ms([first, second], [(0, 1)])[0] == pytest.approx(20)


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
    got = process.sample(7, proc_in(tmp_path, stat=THREAD, schedstat="5000000000 1500000000 42\n"))

    assert got.cpus == {"0": [10, 0, 20, 100, 5, 1, 2, 3], "1": [0, 0, 0, 7, 0, 0, 0, 0]}
    assert got.tool_threads == {"8": pytest.approx(200 / process.CLOCK_TICKS)}
    assert got.tool_waits == {"8": (1.5, 42)}


@pytest.mark.parametrize("files", [{"stat": THREAD}, {"stat": "", "schedstat": ""}])
def test_what_the_kernel_does_not_tell_of_a_thread_is_no_error(tmp_path: Path, files: dict[str, str]) -> None:
    assert process.sample(7, proc_in(tmp_path, **files)).tool_waits is None


def test_an_ended_process_leaves_the_cpus() -> None:
    got = process.sample(2**22 + 1)
    assert got.cpus
    assert (got.tool_threads, got.tool_waits, process.read_bytes(2**22 + 1)) == ({}, None, None)


def test_this_process_can_be_sampled() -> None:
    got = process.sample(os.getpid())

    assert str(os.getpid()) in got.tool_threads
    assert got.monotonic
    assert got.tool_waits
    assert process.read_bytes(os.getpid())
    assert process.network_counters().keys() == {"TCPSynRetrans", "ActiveOpens"}


def test_network_counters_are_found_by_name(tmp_path: Path) -> None:
    assert process.network_counters(tmp_path) == {}
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "netstat").write_text(
        "TcpExt: SyncookiesSent TCPSynRetrans\nTcpExt: 1 42\nIpExt: InOctets\nIpExt: 9\n"
    )
    (tmp_path / "net" / "snmp").write_text("Tcp: MaxConn ActiveOpens\nTcp: -1 7\n")

    assert process.network_counters(tmp_path) == {"TCPSynRetrans": 42, "ActiveOpens": 7}


def test_shares_of_stretches_weigh_by_time_and_are_unknown_if_one_is() -> None:
    spent = [50 * min(second, 30) + 10 * max(second - 30, 0) for second in range(41)]
    samples = [busy(second, jiffies, jiffies) for second, jiffies in enumerate(spent)]

    together = shares_of(samples, None, [(0, 30), (30, 40)])
    assert together
    assert together.busy == pytest.approx(0.4)
    assert (together.cpu_seconds, together.cpus) == (80, 2)
    assert shares_of(samples, None, [(0, 30), (60, 70)]) is None
