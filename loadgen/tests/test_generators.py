"""Several load generators of a run: how they share a load, begin together, die, and are judged as one."""

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loads import load_of, rate
from loomlab.basics.errors import CannotMeasureError
from loomlab.judge.judge import judge_run
from loomlab.records.files import HOST, TOOL, read_record, write_json
from loomlab.records.load import Closed, Load, Users, UserStage
from loomlab.records.models import HostLog, Run, ToolRun
from loomlab.records.requestlog import COLUMNS, RequestLog
from loomlab.run.console import Stop
from loomlab.run.generators import Generators, serve
from loomlab.tools import ab, hey
from loomlab.tools.ab import Ab
from loomlab.tools.known import KNOWN, tool
from loomlab.tools.programs import Counts
from loomlab.tools.several import finish, folder_of, folders_of, report_of, requests_of
from rawrun import CONCURRENCY, DATE, GENERATOR_CPU, SECONDS, RawRun, at, cpu, load, ramp, rows
from saying import failed
from test_measure import loomlab, shape_of, warmed, with_program

type Requests = list[tuple[int, int, bool]]
"""Each with ms after a moment, latency in ms, and whether there was a good answer."""
S = 1_700_000_000
REQUEST = st.tuples(st.integers(0, 60_000), st.integers(2, 30_000), st.booleans())


@given(st.integers(1, 60_000), st.integers(1, 4), st.integers(0, 200_000), st.integers(1, 50))
def test_shares_are_together_the_load(connections: int, count: int, more: int, each: int) -> None:
    shapes = Closed(connections + more, 60), rate(more + 0.5), Users((UserStage(connections, 5), UserStage(0, 1)))
    closed, rates, users = (load_of(shape, connections).shares(count) for shape in shapes)
    sizes = [share.connections for share in closed]

    assert (len(sizes), sum(sizes), max(sizes) - min(sizes) < 2) == (min(count, connections), connections, True)
    assert sum(share.shape.requests for share in closed if isinstance(share.shape, Closed)) == connections + more
    assert sum(share.rate_rps or 0 for share in rates) == pytest.approx(more + 0.5)
    assert [one.shape.most for one in users if isinstance(one.shape, Users)] == sizes
    alike = load_of(Closed(each * connections, 60), connections).shares(count)
    assert all(share.shape == Closed(each * share.connections, 60) for share in alike)


def test_each_is_given_what_its_tool_can_keep() -> None:
    assert shape_of(Closed(10_000_000, 60), "hey", warmed(1), generators=3) == Closed(2_994_000, 60)


def left(name: str, raw: Path, requests: Requests) -> None:
    """What the tool leaves of these."""
    raw.mkdir(parents=True)
    driver, count = tool(name), len(requests)
    if name == "ab":
        driver.output(raw).write_text(f"Time taken for tests:  9.000 seconds\nComplete requests: {count}\n")
        lines = [f"{DATE}\t{S + start // 1000}\t0\t{ms}\t{ms}\t{ms * good}" for start, ms, good in requests]
        driver.rows(raw).write_text("\n".join([ab.REQUEST_COLUMNS, *lines, ""]))
    elif name == "hey":
        head = f"  Requests:\t{2 * count}\n  Total:\t9.000000 secs\n  [200]\t{count} responses\n"
        head += f'  [{count}]\t"EOF"\n{hey.REQUEST_COLUMNS}'
        parts = ",".join(["0.000000"] * 5)
        lines = [f"{ms / 1000:.6f},{parts},{200 if good else 503},{start / 1000:.6f}" for start, ms, good in requests]
        driver.output(raw).write_text("\n".join([head, *lines, ""]))
        write_json(raw / hey.START_FILE, hey.Started(requests=count, connections=1, timeout_s=60, started=S))
    else:
        dues = [(10**6 * (1000 * S + start), 10**6 * ms, 200 if good else 503) for start, ms, good in requests]
        lines = [f"{due_ns},{due_ns + 9},{latency_ns},0,{status},5," for due_ns, latency_ns, status in dues]
        driver.rows(raw).write_text("\n".join([driver.columns, *lines, ""]))
        counts = Counts(requests=count, without_answer=0, not_2xx=0, first_start_ns=1, last_end_ns=9)
        write_json(raw / f"{name}-report.json", counts)


def known(log: RequestLog) -> tuple[object, ...]:
    """Its requests in order, answered ones and failed ones, and what it counts."""
    told = {name: getattr(log, name).tolist() for name in COLUMNS if len(getattr(log, name))}
    failed, answered = ([told[name] for name in told if ("failed" in name) == of] for of in (True, False))
    rows = sorted(zip(*answered, strict=True)), sorted(zip(*failed, strict=True))
    return *rows, log.failures, log.unanswered, log.doubtful, log.rounded_ms


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=25)
@given(st.lists(REQUEST, min_size=2, max_size=60), st.integers(1, 59))
def test_figures_of_several_are_those_of_all_their_requests(
    tmp_path_factory: pytest.TempPathFactory, name: str, requests: Requests, cut: int
) -> None:
    driver, folder, cut = tool(name), tmp_path_factory.mktemp("raw"), min(cut, len(requests) - 1)
    one, two = folder / "one", folder / "two"
    for raw, part in ((one, requests), (two, requests[:cut]), (folder_of(two, 2), requests[cut:])):
        left(name, raw, part)
    for raw in (one, two):
        finish(driver, raw)

    logs = [log for raw in (one, two) if (log := requests_of(driver, raw, 2)) is not None]
    pooled, merged = map(known, logs)

    assert merged == pooled
    assert [len(log) + len(log.failed_start_s) + log.unanswered for log in logs] == [len(requests)] * 2
    assert report_of(driver, two) == report_of(driver, one)


def test_requests_of_a_part_alone_are_none(tmp_path: Path) -> None:
    for raw in (tmp_path / "raw", folder_of(tmp_path / "raw", 2)):
        left("ab", raw, [(0, 900, True)])
    Ab().finish(tmp_path / "raw")

    assert Ab().requests(tmp_path / "raw", 2) is not None
    assert requests_of(Ab(), tmp_path / "raw", 2) is None


def test_all_begin_their_shares_together_and_one_that_dies_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program, body in (("lab-users", "exit 0"), ("lab-rates", "exit 0"), ("ab", "sleep 3")):
        path = with_program(tmp_path, program, body)
    monkeypatch.setenv("PATH", path)
    generators, stop = Generators(tmp_path / "generators", 3), Stop()
    dying = loomlab("generate", str(tmp_path), "3", path=path)

    def send(name: str, asked: Load, raw: str) -> list[float]:
        """When each began, in seconds after the first one."""
        (tmp_path / raw).mkdir()
        first, _ = generators.send(tool(name), asked, tmp_path / raw, 30, Stop(), lambda _: None, ramp_s=2)
        others = [read_record(folder / TOOL, ToolRun) for folder in folders_of(tmp_path / raw)[1:]]
        assert [run.exit_code for run in (first, *others) if run] == [0] * 3
        return [run.started - first.started for run in others if run]

    with ThreadPoolExecutor() as beside:
        living = beside.submit(serve, tmp_path / "generators", 2, stop)
        try:
            generators.wait_until_ready(Stop())
            together = send("users", load_of(Closed(99, 5), 10), "closed")
            in_turn = send("vegeta", load_of(rate(1)), "rate")
            sent = beside.submit(send, "ab", load_of(Closed(99, 5)), "dying")
            while not Ab().output(folder_of(tmp_path / "dying", 3)).exists():
                time.sleep(0.05)
            dying.kill()
            with pytest.raises(CannotMeasureError, match="3"):
                sent.result()
            with pytest.raises(CannotMeasureError, match="3"):
                send("ab", load_of(Closed(99, 5)), "dead")
        finally:
            stop.requested = True
            dying.kill()
    dying.communicate()

    survivor = read_record(tmp_path / "dying" / "generator-2" / TOOL, ToolRun)
    assert living.exception() is None and survivor and survivor.exit_code == 0
    assert together == pytest.approx([0, 0], abs=0.4)
    assert in_turn == pytest.approx([1, 2], abs=0.4)
    asked = [json.loads((each / "users-load.json").read_text()) for each in folders_of(tmp_path / "closed")]
    ramps = [(*one["stages"][0].values(), one["most_requests"]) for one in asked]
    assert ramps == [(3, 2, 29), (3, 2, 30), (4, 2, 40)]
    assert read_record(tmp_path / "closed" / "generator-3" / HOST, HostLog)
    assert not Ab().output(tmp_path / "dead").exists()


def judged_of_two(folder: Path, change: Callable[[RawRun, RawRun], object] = lambda *_: None) -> Run:
    """A run of two load generators, by turns of the good run's requests; what is left of each may be changed."""
    run, other = (RawRun(rows=rows()[first::2]) for first in (0, 1))
    run.request["generators"] = 2
    run.metrics["containers"].append(cpu("loadgen", ramp(GENERATOR_CPU)))
    for one in (run, other):
        one.network["ActiveOpens"] = CONCURRENCY // 2
    change(run, other)
    raw, theirs = (one.write(folder / name) / "raw" for one, name in ((run, "1-app"), (other, "other")))
    folder_of(raw, 2).mkdir()
    for name in ("ab.txt", "ab-requests.tsv.gz", "tool.json", "host.json"):
        shutil.move(theirs / name, folder_of(raw, 2))
    return judge_run(folder / "1-app")


def test_two_are_judged_as_one(tmp_path: Path) -> None:
    one, two = RawRun().judged(tmp_path / "one"), judged_of_two(tmp_path / "two")

    assert (two.verdict, two.reasons, two.generators, two.generators_apart) == ("valid", [], 2, 0)
    assert (two.requests, two.latency_ms, two.throughput_rps) == (one.requests, one.latency_ms, one.throughput_rps)
    assert (two.connections_opened, two.cpu_ms_per_request) == (CONCURRENCY, one.cpu_ms_per_request)
    assert two.generator_cpu_ms_per_request == pytest.approx(2 * (one.generator_cpu_ms_per_request or 0))


def ends_early(_: RawRun, other: RawRun) -> None:
    other.rows = [row for row in other.rows if row[0] < int(at(29))]
    other.report["Time taken for tests"] = "30.000 seconds"


def begins_in_turn(run: RawRun, other: RawRun) -> None:
    steps = [{"rate_rps": 0.5, "duration_s": SECONDS}]
    run.request["load"] = load(shape={"kind": "open-rate", "steps": steps})
    other.tool["started"] = at(2)


def is_busy(_: RawRun, other: RawRun) -> None:
    for sample in other.samples:
        sample["tool_threads"] = {"1": 20 * sample["tool_threads"]["1"]}


def waits(_: RawRun, other: RawRun) -> None:
    for sample in other.samples:
        sample["tool_waits"]["1"][0] *= 10_000


@pytest.mark.parametrize(
    ("change", "rules", "verdict"),
    [
        (lambda _, other: other.tool.update(started=at(0.3)), set(), "valid"),
        (lambda _, other: other.tool.update(started=at(0.5)), {"generators_apart"}, "suspect"),
        (lambda _, other: other.tool.update(exit_code=3), {"tool_failed"}, "invalid"),
        (lambda _, other: other.network.update(TCPSynRetrans=1), {"connections_lost"}, "suspect"),
        (lambda _, other: other.samples.clear(), set(), "suspect"),
        (ends_early, set(), "valid"),
        (is_busy, {"generator_thread"}, "invalid"),
        (waits, {"generator_wait_mean", "generator_wait_p99"}, "invalid"),
    ],
)
def test_one_that_is_late_busy_or_fails_spoils_the_run(
    tmp_path: Path, change: Callable[[RawRun, RawRun], object], rules: set[str], verdict: str
) -> None:
    run = judged_of_two(tmp_path, change)

    assert (run.verdict, failed(run.rules)) == (verdict, rules)
    assert "tool_failed" not in rules or "generator 2" in run.reasons[0]


def are_apart(_: RawRun, other: RawRun) -> None:
    other.tool |= {"started": at(5), "ended": at(50)}


@pytest.mark.parametrize(("change", "share"), [(begins_in_turn, 0), (are_apart, 0.1)])
def test_how_far_they_began_apart_is_a_share_of_the_whole_load(
    tmp_path: Path, change: Callable[[RawRun, RawRun], object], share: float
) -> None:
    assert judged_of_two(tmp_path, change).generators_apart == pytest.approx(share)
