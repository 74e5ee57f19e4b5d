"""Watching a tool: when it is told to stop, also when telling of it hangs."""

import threading
from pathlib import Path

import pytest

from loomlab.run import process
from loomlab.run.console import Stop
from loomlab.run.process import Watch, run_tool


def test_a_tool_is_stopped_in_time_though_telling_of_it_hangs(tmp_path: Path) -> None:
    hangs, seconds = threading.Event(), list[float]()

    def tell(_: object, elapsed_s: float) -> None:
        seconds.append(elapsed_s)
        hangs.wait(60)

    run, samples = run_tool(["sleep", "60"], tmp_path / "out", 3.0, 60.0, Stop(), tell)
    hangs.set()

    assert (run.stopped_by, run.killed) == ("hard cap", False)
    assert len(samples) >= 4
    assert len(seconds) == 1
    assert run.ended - run.started < 30


def test_a_tool_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "REPORT_GRACE_S", 0.5)
    command = ["sh", "-c", "trap '' INT; while :; do sleep 0.1; done"]

    run, _ = run_tool(command, tmp_path / "out", 0.5, 60, Stop(), lambda *_: None)

    assert (run.stopped_by, run.killed, run.exit_code) == ("hard cap", True, -9)


def test_the_watch_asks_for_an_end_once_nothing_more_is_read() -> None:
    watch, stop = Watch(0, hard_cap_s=100, stall_s=25), Stop()

    assert watch.reason(1, 500, stop) is None
    assert watch.reason(25.9, 500, stop) is None
    assert watch.reason(26, 500, stop) == "stall"
    assert watch.reason(27, 501, stop) is None
    assert watch.reason(100, 502, stop) == "hard cap"
    stop.requested = True
    assert watch.reason(101, 503, stop) == "interrupt"


def test_a_kernel_that_does_not_tell_what_was_read_accuses_nobody() -> None:
    watch = Watch(0, hard_cap_s=100, stall_s=25)

    assert [watch.reason(second, None, Stop()) for second in (1, 90)] == [None, None]
