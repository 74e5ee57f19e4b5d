"""Several load generators of a run: how they share a load, begin together, die, and are judged as one."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loads import load_of, rate
from loomlab.judge.judge import judge_run
from loomlab.records.files import TOOL, read_record, write_json
from loomlab.records.load import Closed, OpenRate, Shape, Users, UserStage
from loomlab.records.models import Run, ToolRun
from loomlab.records.requestlog import latency_figures
from loomlab.run.console import Stop
from loomlab.run.generators import Generators, serve
from loomlab.tools import ab, hey
from loomlab.tools.ab import Ab
from loomlab.tools.known import KNOWN, tool
from loomlab.tools.programs import COLUMNS, Counts
from loomlab.tools.several import finish, folder_of, folders_of, report_of, requests_of
from rawrun import CONCURRENCY, DATE, GENERATOR_CPU, RawRun, at, cpu, ramp, rows
from saying import failed
from test_measure import loomlab, with_program

S = 1_700_000_000
AMOUNTS = st.integers(1, 60_000)
REQUEST = st.tuples(st.integers(0, 60_000), st.integers(2, 30_000), st.booleans())
SENDING = 'for word; do [ "$last" != -c ] || echo "Complete requests: $word"; last=$word; done; sleep 1'
SENDING += '; echo "Time taken for tests: 1.000 seconds"'


@given(AMOUNTS, st.integers(1, 4), st.integers(0, 200_000), st.integers(1, 50))
def test_shares_are_together_the_load(connections: int, count: int, more: int, each: int) -> None:
    def shares(shape: Shape) -> list[Shape]:
        every = load_of(shape, connections).shares(count)
        sizes = [share.connections for share in every]
        assert (len(every), sum(sizes), max(sizes) - min(sizes) <= 1) == (min(count, connections), connections, True)
        return [share.shape for share in every]

    closed = [one for one in shares(Closed(connections + more, 60)) if isinstance(one, Closed)]
    open_ones = [one for one in shares(rate(more / 7 + 0.5)) if isinstance(one, OpenRate)]
    crowds = [one for one in shares(Users((UserStage(connections, 5), UserStage(0, 1)))) if isinstance(one, Users)]

    assert sum(one.requests for one in closed) == connections + more
    assert sum(one.steps[0].rate_rps for one in open_ones) == pytest.approx(more / 7 + 0.5)
    assert [sum(one.stages[stage].users for one in crowds) for stage in (0, 1)] == [connections, 0]
    alike = load_of(Closed(each * connections, 60), connections).shares(count)
    assert all(share.shape == Closed(each * share.connections, 60) for share in alike)


def left(name: str, raw: Path, requests: list[tuple[int, int, bool]]) -> None:
    """What the tool leaves of requests: ms after a moment, latency in ms, and whether there was a good answer."""
    raw.mkdir(parents=True)
    driver, count = tool(name), len(requests)
    if name == "ab":
        driver.output(raw).write_text(f"Time taken for tests:  9.000 seconds\nComplete requests: {count}\n")
        lines = [f"{DATE}\t{S + start // 1000}\t0\t{ms}\t{ms}\t{ms * good}" for start, ms, good in requests]
        driver.rows(raw).write_text("\n".join([ab.REQUEST_COLUMNS, *lines, ""]))
    elif name == "hey":
        head = [f"  Requests:\t{count}", "  Total:\t9.000000 secs", f"  [200]\t{count} responses", hey.REQUEST_COLUMNS]
        zeros = ",".join(["0.000000"] * 5)
        lines = [f"{ms / 1000:.6f},{zeros},{200 if good else 503},{start / 1000:.6f}" for start, ms, good in requests]
        driver.output(raw).write_text("\n".join([*head, *lines, ""]))
        write_json(raw / hey.START_FILE, hey.Started(requests=count, connections=1, timeout_s=60, started=S))
    else:
        lines = [
            f"{S * 10**9 + start * 10**6},{S * 10**9 + start * 10**6 + 9},{ms * 10**6},0,{200 if good else 503},5,"
            for start, ms, good in requests
        ]
        driver.rows(raw).write_text("\n".join([COLUMNS, *lines, ""]))
        bad = sum(not good for *_, good in requests)
        counts = Counts(requests=count, without_answer=0, not_2xx=bad, first_start_ns=1, last_end_ns=9 * 10**9 + 1)
        write_json(raw / f"{name}-report.json", counts)


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=25)
@given(st.lists(REQUEST, min_size=2, max_size=60), st.integers(1, 59))
def test_figures_of_several_are_those_of_all_their_requests(
    tmp_path_factory: pytest.TempPathFactory, name: str, requests: list[tuple[int, int, bool]], cut: int
) -> None:
    folder, cut = tmp_path_factory.mktemp("raw"), min(cut, len(requests) - 1)
    left(name, folder / "one", requests)
    left(name, folder / "two", requests[:cut])
    left(name, folder_of(folder / "two", 2), requests[cut:])

    one, two = (folder / "one", folder / "two")
    for raw in (one, two):
        finish(tool(name), raw)
    pooled, merged = requests_of(tool(name), one, 2), requests_of(tool(name), two, 2)

    assert pooled is not None and merged is not None
    assert len(folders_of(two)) == 2
    assert latency_figures(merged.latency_ms) == latency_figures(pooled.latency_ms)
    assert sorted(zip(merged.start_s, merged.latency_ms, strict=True)) == sorted(
        zip(pooled.start_s, pooled.latency_ms, strict=True)
    )
    assert sorted(merged.failed_latency_ms) == sorted(pooled.failed_latency_ms)
    assert (merged.unanswered, merged.failures, merged.rounded_ms) == (
        pooled.unanswered,
        pooled.failures,
        pooled.rounded_ms,
    )
    assert report_of(tool(name), two) == report_of(tool(name), one)


@contextmanager
def served(folder: Path, *numbers: int) -> Iterator[Generators]:
    stop = Stop()
    with ThreadPoolExecutor() as others:
        served = [others.submit(serve, folder, number, stop) for number in numbers]
        try:
            generators = Generators(folder, len(numbers) + 1)
            generators.wait_until_ready(Stop())
            yield generators
        finally:
            stop.requested = True
    assert [one.exception() for one in served] == [None] * len(numbers)


def test_all_begin_their_shares_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", with_program(tmp_path, "ab", SENDING))
    with served(tmp_path / "generators", 2, 3) as generators:
        for again in ("a", "b"):
            (raw := tmp_path / again).mkdir()
            generators.send(Ab(), load_of(Closed(100, 5), 10), raw, 30, Stop(), lambda _: None)

            others = [read_record(folder / TOOL, ToolRun) for folder in folders_of(raw)[1:]]
            assert [one.exit_code for one in others if one] == [0, 0]
            assert max(one.started for one in others if one) - min(one.started for one in others if one) < 0.5
            assert [Ab().report(folder).completed for folder in folders_of(raw)] == [3, 3, 4]
            assert report_of(Ab(), raw).completed == 10


def test_one_that_dies_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path := with_program(tmp_path, "ab", SENDING.replace("sleep 1", "sleep 3")))
    other = loomlab("generate", str(tmp_path), "2", path=path)
    generators = Generators(tmp_path / "generators", 2)
    generators.wait_until_ready(Stop())
    with ThreadPoolExecutor() as beside:
        sent = beside.submit(generators.send, Ab(), load_of(Closed(9, 5), 9), tmp_path, 30, Stop(), lambda _: None)
        while not Ab().output(folder_of(tmp_path, 2)).exists():
            time.sleep(0.05)
        other.kill()
    other.communicate()

    died = read_record(folder_of(tmp_path, 2) / TOOL, ToolRun)
    assert sent.result()[0].exit_code == 0
    assert died and (died.stopped_by, died.killed) == ("generator", True)


def judged_of_two(folder: Path, **tool_run: Any) -> Run:
    """A run of two load generators, by turns of the good run's requests; `tool_run` is of the second one."""
    every, one_each = rows(), {"network": {"TCPSynRetrans": 0, "ActiveOpens": CONCURRENCY // 2}}
    run, other = RawRun(rows=every[::2], **one_each), RawRun(rows=every[1::2], **one_each)
    run.request["generators"] = 2
    run.metrics["containers"].append(cpu("loadgen", ramp(GENERATOR_CPU)))
    other.tool |= tool_run
    theirs = other.write(folder / "other") / "raw"
    raw = run.write(folder / "1-app") / "raw"
    folder_of(raw, 2).mkdir()
    for name in ("ab.txt", "ab-requests.tsv.gz", "tool.json", "host.json"):
        shutil.move(theirs / name, folder_of(raw, 2))
    return judge_run(folder / "1-app")


def test_two_are_judged_as_one(tmp_path: Path) -> None:
    one, two = RawRun().judged(tmp_path / "one"), judged_of_two(tmp_path / "two")

    assert (two.verdict, two.reasons, two.generators, two.generators_apart) == ("valid", [], 2, 0)
    assert (two.requests, two.latency_ms, two.throughput_rps) == (one.requests, one.latency_ms, one.throughput_rps)
    assert two.connections_opened == CONCURRENCY
    assert two.generator_cpu_ms_per_request == pytest.approx(2 * (one.generator_cpu_ms_per_request or 0))
    assert two.cpu_ms_per_request == one.cpu_ms_per_request


@pytest.mark.parametrize(
    ("tool_run", "rule", "verdict"),
    [
        ({"started": at(0.3)}, None, "valid"), ({"started": at(0.5)}, "generators_apart", "suspect"),
        ({"stopped_by": "generator", "killed": True}, "tool_failed", "invalid"),
        ({"exit_code": 3}, "tool_failed", "invalid"),
    ],
)  # fmt: skip
def test_one_that_is_late_or_fails_spoils_the_run(
    tmp_path: Path, tool_run: dict[str, Any], rule: str | None, verdict: str
) -> None:
    run = judged_of_two(tmp_path, **tool_run)

    assert (run.verdict, failed(run.rules)) == (verdict, {rule} - {None})
    assert rule != "tool_failed" or "generator 2" in run.reasons[0]
