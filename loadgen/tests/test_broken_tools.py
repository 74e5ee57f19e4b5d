"""Tools that fail: the run is invalid with the reason, what they wrote is kept. They are scripts under a tool's name,
for no real tool fails on request."""

import os
from pathlib import Path

import pytest

from loomlab.run import process
from loomlab.run.process import run_tool
from loomlab.run.stop import Stop
from server import running
from test_measure import complete, judged, measure, small
from test_prometheus import prometheus

pytestmark = pytest.mark.tools

GARBAGE = "echo '\\000\\377 <html>502</html>'"


def named(folder: Path, tool: str, body: str) -> str:
    """A PATH that begins with a program of that name."""
    script = folder / tool
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("tool", "program"), [("ab", "ab"), ("hey", "hey"), ("vegeta", "lab-rates"), ("users", "lab-users")]
)
@pytest.mark.parametrize(("body", "code"), [(GARBAGE, 0), (f"{GARBAGE}; exit 3", 3), ("kill -9 $$", -9), ("exit 1", 1)])
def test_a_tool_that_prints_garbage_exits_or_is_killed_makes_the_run_invalid(
    tmp_path: Path, tool: str, program: str, body: str, code: int
) -> None:
    rate = {"rate_rps": 50, "requests": None} if tool == "vegeta" else {}
    out = small(tmp_path, "127.0.0.51", tool=tool, duration_s=2, **rate)
    with running("127.0.0.51", 0.01), prometheus(complete("127.0.0.51")) as (url, _):
        process = measure(out, named(tmp_path, program, body), url)
        _, problems = process.communicate(timeout=60)
    assert "Traceback" not in problems

    run = judged(out)
    assert run.verdict == "invalid"
    assert run.throughput_rps is None
    assert tool in run.reasons[0]
    assert f'"exit_code": {code}' in (out / "raw" / "tool.json").read_text()
    assert (out / "raw" / f"{tool}.txt").exists()


def test_a_tool_that_hangs_is_told_to_stop_at_its_hard_cap(tmp_path: Path) -> None:
    run, _ = run_tool(["sleep", "60"], tmp_path / "out.txt", 1, 60, Stop(), lambda *_: None)

    assert run.stopped_by == "hard cap"
    assert not run.killed


def test_a_tool_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "REPORT_GRACE_S", 1)
    command = ["sh", "-c", "trap '' INT; while :; do sleep 1; done"]

    run, _ = run_tool(command, tmp_path / "out.txt", 1, 60, Stop(), lambda *_: None)

    assert run.stopped_by == "hard cap"
    assert run.killed
