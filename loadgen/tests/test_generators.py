"""Several load generators of a run: how they share a load, begin together, die, and are judged as one."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loads import load_of, rate
from loomlab.judge.judge import judge_run
from loomlab.records.files import TOOL, read_record, write_json
from loomlab.records.load import Closed, Users, UserStage
from loomlab.records.models import Run, ToolRun
from loomlab.records.requestlog import latency_figures
from loomlab.run.console import Stop
from loomlab.run.generators import Generators, serve
from loomlab.tools import ab, hey
from loomlab.tools.ab import Ab
from loomlab.tools.known import KNOWN, tool
from loomlab.tools.programs import COLUMNS, Counts
from loomlab.tools.several import finish, folder_of, report_of, requests_of
from rawrun import CONCURRENCY, DATE, GENERATOR_CPU, RawRun, at, cpu, ramp, rows
from saying import failed
from test_measure import loomlab, with_program

type Requests = list[tuple[int, int, bool]]
"""Each with ms after a moment, latency in ms, and whether there was a good answer."""
S = 1_700_000_000
REQUEST = st.tuples(st.integers(0, 60_000), st.integers(2, 30_000), st.booleans())
SENDING = 'for word; do [ "$last" != -c ] || echo "Complete requests: $word"; last=$word; done; sleep 3'
SENDING += '; echo "Time taken for tests: 3.000 seconds"'


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


def left(name: str, raw: Path, requests: Requests) -> None:
    """What the tool leaves of these."""
    raw.mkdir(parents=True)
    driver, count = tool(name), len(requests)
    if name == "ab":
        driver.output(raw).write_text(f"Time taken for tests:  9.000 seconds\nComplete requests: {count}\n")
        lines = [f"{DATE}\t{S + start // 1000}\t0\t{ms}\t{ms}\t{ms * good}" for start, ms, good in requests]
        driver.rows(raw).write_text("\n".join([ab.REQUEST_COLUMNS, *lines, ""]))
    elif name == "hey":
        head = f"  Requests:\t{count}\n  Total:\t9.000000 secs\n  [200]\t{count} responses\n{hey.REQUEST_COLUMNS}"
        parts = ",".join(["0.000000"] * 5)
        lines = [f"{ms / 1000:.6f},{parts},{200 if good else 503},{start / 1000:.6f}" for start, ms, good in requests]
        driver.output(raw).write_text("\n".join([head, *lines, ""]))
        write_json(raw / hey.START_FILE, hey.Started(requests=count, connections=1, timeout_s=60, started=S))
    else:
        dues = [(10**6 * (1000 * S + start), 10**6 * ms, 200 if good else 503) for start, ms, good in requests]
        lines = [f"{due_ns},{due_ns + 9},{latency_ns},0,{status},5," for due_ns, latency_ns, status in dues]
        driver.rows(raw).write_text("\n".join([COLUMNS, *lines, ""]))
        counts = Counts(requests=count, without_answer=0, not_2xx=0, first_start_ns=1, last_end_ns=9)
        write_json(raw / f"{name}-report.json", counts)


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
    pooled, merged = ((latency_figures(log.latency_ms), sorted(log.starts_s), log.failures) for log in logs)

    assert merged == pooled
    assert [len(log) + len(log.failed_start_s) + log.unanswered for log in logs] == [len(requests)] * 2
    assert report_of(driver, two) == report_of(driver, one)


def test_all_begin_their_shares_together_and_one_that_dies_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path := with_program(tmp_path, "ab", SENDING))
    generators, stop = Generators(tmp_path / "generators", 3), Stop()
    dying = loomlab("generate", str(tmp_path), "3", path=path)
    with ThreadPoolExecutor() as beside:
        living = beside.submit(serve, tmp_path / "generators", 2, stop)
        generators.wait_until_ready(Stop())
        sent = beside.submit(generators.send, Ab(), load_of(Closed(99, 5), 10), tmp_path, 30, Stop(), lambda _: None)
        while not Ab().output(folder_of(tmp_path, 3)).exists():
            time.sleep(0.05)
        dying.kill()
        (first, _), stop.requested = sent.result(), True
    dying.communicate()

    second, third = (read_record(folder_of(tmp_path, number) / TOOL, ToolRun) for number in (2, 3))
    assert second and third and living.exception() is None
    assert (first.exit_code, second.exit_code, third.stopped_by) == (0, 0, "generator")
    assert abs(first.started - second.started) < 0.5
    assert [Ab().report(folder_of(tmp_path, number)).completed for number in (1, 2)] == [3, 3]


def judged_of_two(folder: Path, **tool_run: Any) -> Run:
    """A run of two load generators, by turns of the good run's requests; `tool_run` is of the second one."""
    network = {"TCPSynRetrans": 0, "ActiveOpens": CONCURRENCY // 2}
    run, other = (RawRun(rows=rows()[first::2], network=network) for first in (0, 1))
    run.request["generators"] = 2
    run.metrics["containers"].append(cpu("loadgen", ramp(GENERATOR_CPU)))
    other.tool |= tool_run
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


@pytest.mark.parametrize(
    ("tool_run", "rules", "verdict"),
    [
        ({"started": at(0.3)}, set(), "valid"), ({"started": at(0.5)}, {"generators_apart"}, "suspect"),
        ({"stopped_by": "generator", "killed": True}, {"tool_failed"}, "invalid"),
        ({"exit_code": 3}, {"tool_failed"}, "invalid"),
    ],
)  # fmt: skip
def test_one_that_is_late_or_fails_spoils_the_run(
    tmp_path: Path, tool_run: dict[str, Any], rules: set[str], verdict: str
) -> None:
    run = judged_of_two(tmp_path, **tool_run)

    assert (run.verdict, failed(run.rules)) == (verdict, rules)
    assert "tool_failed" not in rules or "generator 2" in run.reasons[0]
