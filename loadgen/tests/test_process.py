"""Watching a tool: when it is told to stop, also when telling of it hangs."""

import threading
from pathlib import Path

import pytest

from loomlab.run import process
from loomlab.run.console import Stop
from loomlab.run.process import run_tool


def test_a_tool_is_stopped_in_time_though_telling_of_it_hangs(tmp_path: Path) -> None:
    hangs, seconds = threading.Event(), list[float]()

    def tell(elapsed_s: float) -> None:
        seconds.append(elapsed_s)
        hangs.wait(60)

    run, samples = run_tool(["sleep", "60"], tmp_path / "out", 3.0, 60.0, Stop(), tell)
    hangs.set()

    assert (run.stopped_by, run.killed) == ("hard cap", False)
    assert len(samples) >= 4
    assert len(seconds) == 1
    assert run.ended - run.started < 30


@pytest.mark.parametrize(
    ("command", "read_bytes", "stall_s", "stop", "stopped_by"),
    [
        ("exec sleep 60", 500, 0.5, False, "stall"),
        ("exec sleep 60", 500, 60, False, "hard cap"),
        ("exec sleep 60", None, 0.5, False, "hard cap"),  # the kernel does not tell what was read
        ("exec sleep 60", 500, 60, True, "interrupt"),
        ("sleep 0.5", 500, 60, False, None),
        ("trap '' INT; while :; do sleep 0.1; done", 500, 60, False, "hard cap"),
    ],
)
def test_a_tool_is_told_to_stop_and_killed_where_it_does_not_listen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    read_bytes: int | None,
    stall_s: float,
    stop: bool,
    stopped_by: str | None,
) -> None:
    monkeypatch.setattr(process, "REPORT_GRACE_S", 0.5)
    monkeypatch.setattr("loomlab.run.process.hoststat.read_bytes", lambda _: read_bytes)
    asked = Stop()
    asked.requested = stop

    run, _ = run_tool(["sh", "-c", command], tmp_path / "out", 1.5, stall_s, asked, lambda *_: None)

    assert (run.stopped_by, run.killed) == (stopped_by, "trap" in command)
    assert run.exit_code == (0 if stopped_by is None else -9 if run.killed else -2)
