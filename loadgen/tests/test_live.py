"""What can be seen of a run while it goes, over real HTTP."""

import io
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from loads import CLOSED, load_of, request_of
from loomlab.records.load import OpenRate, RateStep, Shape
from loomlab.run import live
from loomlab.run.console import CLEAR, Progress
from loomlab.run.live import CpuSets, LiveFigures, LiveProgress
from loomlab.run.management import exposed_values
from loomlab.run.process import CLOCK_TICKS
from loomlab.run.prometheus import answered
from loomlab.tools.known import tool
from served import prometheus

STEPS = OpenRate((RateStep(250, 60), RateStep(500, 30), RateStep(1000, 60)))
RUN_DIR = Path("results/20261121T060000Z-ladder/runs/3-tomcat-virtual")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Its one element stands for the module's monotonic time."""
    now = [1000.0]
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: now[0], time=lambda: 1_795_000_000.0))
    yield now


def served(shape: Shape, scenario: str | None = None) -> tuple[LiveFigures, int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    load = load_of(shape, 200, "/epoch-millis?delayInMillis=5", origin="http://tomcat-virtual:8080")
    request = request_of(load, tool="vegeta", approach="tomcat-virtual", scenario=scenario)
    return LiveFigures(request, RUN_DIR, Progress(), port), port


def page(port: int) -> str:
    return answered(f"http://127.0.0.1:{port}/metrics")


@pytest.mark.parametrize("scenario", ["rate-ladder", None])
def test_the_run_that_goes_on_is_named(scenario: str | None) -> None:
    assert (
        'lab_run_info{approach="tomcat-virtual",endpoint="/epoch-millis",experiment="20261121T060000Z-ladder",'
        f'jdk="25",run="3-tomcat-virtual",scenario="{scenario or ""}",tool="vegeta"}} 1.0\n'
    ) in page(served(STEPS, scenario)[1])


def test_one_phase_is_current() -> None:
    figures, port = served(CLOSED)
    for current in live.PHASES:
        figures.phase(current)

        text = page(port)
        assert all(f'lab_run_phase{{phase="{phase}"}} {float(phase == current)}\n' in text for phase in live.PHASES)


def test_a_closed_load_offers_connections_and_no_rate() -> None:
    text = page(served(CLOSED)[1])

    assert exposed_values(text).get("lab_offered_connections") == 200
    assert "lab_offered_rate_rps" not in text
    assert 'lab_idle_cpu_seconds_total{role="loadgen"}' in text


def test_the_offered_rate_follows_the_steps_and_the_seconds_are_those_of_the_measure_phase(clock: list[float]) -> None:
    figures, port = served(STEPS)

    def told(after_s: float) -> tuple[float, float]:
        clock[0] = 1000 + after_s
        values = exposed_values(page(port))
        return values["lab_run_elapsed_seconds"], values["lab_offered_rate_rps"]

    figures.phase("warm-up")
    assert told(0) == (0, 0)
    figures.phase("measure")
    steps = {0: 250, 59: 250, 60: 500, 89: 500, 90: 1000, 149: 1000, 150: 0}
    assert [told(second) for second in steps] == [*steps.items()]
    figures.phase("collect")
    assert told(20) == (0, 0)


def shown(url: str, name: str, *seconds: float) -> list[str]:
    """What is shown at each of these seconds."""
    lines: list[str] = []
    console = SimpleNamespace(show=lambda phase, text, how_far: lines.append(f"{phase}{how_far}  {text}"))
    progress = LiveProgress("tomcat-virtual", load_of(STEPS), tool(name), url, cast("Progress", console))
    for second in seconds:
        progress.show(second)
    return lines


def rates(**by_status: float) -> list[dict[str, object]]:
    return [{"metric": {"status": status[1:]}, "value": [0, str(rate)]} for status, rate in by_status.items()]


def test_a_tool_with_live_figures_tells_how_many_requests_end_and_fail_a_second() -> None:
    with prometheus(rates(_200=499.6), 503, rates(_200=1400, _503=90.4, _0=10)) as (url, queries):
        lines = shown(url, "vegeta", 30, 32, 400)

    assert lines == [
        "measure 20 %, 120 s left  500 requests/s, 0 errors/s (vegeta)",
        "measure 21 %, 118 s left  requests a second: unknown",
        "measure 100 %, 0 s left  1,500 requests/s, 100 errors/s (vegeta)",
    ]
    assert set(queries) == {'sum by (status) (rate(request_seconds_count{job="vegeta"}[5s]))'}


def test_of_a_tool_without_live_figures_the_server_counts() -> None:
    with prometheus(rates(_200=1000)) as (url, queries):
        lines = shown(url, "ab", 75)

    assert lines == ["measure 50 %, 75 s left  1,000 requests/s, 0 errors/s (the server's count)"]
    assert queries == ['sum by (status) (rate(lab_requests_seconds_count{service="tomcat-virtual"}[5s]))']


@pytest.fixture
def on_cpu_3(monkeypatch: pytest.MonkeyPatch) -> None:
    """The load generator's."""
    monkeypatch.setattr("loomlab.run.live.os.sched_getaffinity", lambda _: {3})


def write_stat(proc: Path, *idle_and_iowait: tuple[int, int]) -> None:
    """Of a host with a CPU for each pair, in seconds."""
    lines = ["cpu  1 2 3 4 5 6 7 8 9 10"]
    for cpu, (idle, iowait) in enumerate(idle_and_iowait):
        seconds = (50, 2, 30, idle, iowait, 70, 80, cpu + 1, 0, 0)
        lines.append(" ".join([f"cpu{cpu}", *(str(second * CLOCK_TICKS) for second in seconds)]))
    (proc / "stat").write_text("\n".join(lines) + "\n")


def cpu_sets(proc: Path, backend_cpus: str, approach_cpus: str, monitoring_cpus: str | None = "1") -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(CpuSets(backend_cpus, approach_cpus, monitoring_cpus, proc))
    return registry


def of_role(registry: CollectorRegistry, figure: str, *roles: str) -> list[float | None]:
    return [registry.get_sample_value(f"lab_{figure}", {"role": role}) for role in roles]


@pytest.mark.usefixtures("on_cpu_3")
def test_figures_are_those_of_the_cpus_a_role_may_run_on_without_interrupts(tmp_path: Path) -> None:
    write_stat(tmp_path, (1, 0), (20, 5), (300, 0), (4000, 50))
    registry, roles = cpu_sets(tmp_path, "1-2", "0"), ("loadgen", "backend", "approach")

    assert of_role(registry, "available_cpus", *roles) == [1, 2, 1]
    assert of_role(registry, "idle_cpu_seconds_total", *roles) == [4050, 325, 1]
    assert of_role(registry, "busy_cpu_seconds_total", *roles) == [82, 164, 82]
    assert of_role(registry, "stolen_cpu_seconds_total", *roles) == [4, 2 + 3, 1]


@pytest.mark.usefixtures("on_cpu_3")
@pytest.mark.parametrize(
    ("approach_cpus", "monitoring_cpus", "alone"),
    [
        ("0", "1,3", True), ("0", None, True), ("0", "0-1", False), ("0", "", False),
        ("", "1", False), ("1", "1", False), ("3", "1", False), ("0-1", "1", False),
    ],
)  # fmt: skip
def test_of_cpus_that_the_approach_shares_with_the_lab_nothing_is_told(
    tmp_path: Path, approach_cpus: str, monitoring_cpus: str | None, alone: bool
) -> None:
    write_stat(tmp_path, (1, 0), (20, 5), (3, 0), (4, 5))
    registry = cpu_sets(tmp_path, "1", approach_cpus, monitoring_cpus)
    assert of_role(registry, "available_cpus", "approach") == [1 if alone else None]


@pytest.mark.usefixtures("on_cpu_3")
def test_idle_time_never_falls_and_a_backend_without_a_set_has_every_cpu(tmp_path: Path) -> None:
    write_stat(tmp_path, (10, 5), (1, 0))
    registry = cpu_sets(tmp_path, "", "")
    seconds = []
    for iowait in (5, 4, 6):
        write_stat(tmp_path, (10, iowait), (1, 0))
        seconds += of_role(registry, "idle_cpu_seconds_total", "backend")

    assert seconds == [16, 16, 17]


def test_a_phase_begins_at_once_and_then_speaks_now_and_then() -> None:
    stream = io.StringIO()
    progress = Progress(stream, "2/3 tomcat-virtual")

    progress.show("warm-up", "burst 1")
    progress.show("warm-up", "too early")
    progress.show("measure", "10 requests", " 12 %")
    progress.say("A message.")
    progress.end()

    assert stream.getvalue().splitlines() == [
        "[2/3 tomcat-virtual] warm-up  burst 1", "[2/3 tomcat-virtual] measure 12 %  10 requests", "A message.",
    ]  # fmt: skip


def test_what_a_server_answered_moves_no_terminal() -> None:
    stream, said = io.StringIO(), "it did not answer (\x1b]0;mine\x07\nloom-lab: all is well)"
    progress = Progress(stream, "1/1 x")

    progress.show("measure", said)
    progress.say(said)

    first, second = stream.getvalue().splitlines()
    assert first.endswith(second)
    assert not {"\x1b", "\x07"} & {*second}


def test_a_terminal_keeps_one_line_of_progress() -> None:
    stream = io.StringIO()
    progress = Progress(stream, "1/1 x", terminal=True)

    progress.show("measure", "10 requests")
    progress.say("A message.")
    progress.show("collect", "waiting")
    progress.end()

    assert stream.getvalue() == (
        f"{CLEAR}[1/1 x] measure  10 requests{CLEAR}A message.\n{CLEAR}[1/1 x] collect  waiting{CLEAR}"
    )
