"""The summary and its tables."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from loomlab.answer.contrasts import contrast_notes, unknown_notes
from loomlab.answer.summary import (
    WIDEST_TABLE,
    cells,
    footnotes,
    headings,
    show,
    summarise,
)
from loomlab.basics.errors import UsageError
from loomlab.records.load import Closed, Load, Target
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Gc, Latency, Run

CLOSED = Load("http://app:8080", (Target("/capabilities"),), 10_000, Closed(1_200_000, 60), 30)


def run(number: int, **changes: Any) -> Run:
    record = Run(
        run=f"{number}-tomcat-platform", approach="tomcat-platform", tool="ab", endpoint="/capabilities",
        load=CLOSED, concurrency=10_000, rate=None, repeat=1, jdk=25, gc_name="g1", delay="300", requests=180_000,
        errors=0, duration_s=60.1, throughput_rps=3021.4, latency_ms=Latency(p50=3210, p99=11_234), cpu_seconds=50,
        cpu_ms_per_request=0.2756, backend_cpu_ms_per_request=None, generator_cpu_ms_per_request=None,
        allocated_bytes_per_request=40_448,
        live_bytes_per_request=LiveBytes(heap=39_000, stacks_off_heap=-300, kernel=9_300),
        rss_max_bytes=3 * 2**30, vsz_max_bytes=None, threads_max=10_022, throttled_ratio=None,
        keepalive_requests=None, waves=20, little_ratio=1, gc=Gc(cpu_share=0.042), interior=None, warmup=None,
        started=f"2026-11-21T06:0{number % 10}:00Z", finished=f"2026-11-21T06:0{number % 10}:59Z",
        verdict="valid", reasons=[],
    )  # fmt: skip
    return record.model_copy(update=changes)


def experiment(folder: Path, runs: list[Run], environment: dict[str, Any] | None = None) -> Path:
    path = folder / "20261121T060000Z-ab-c10000"
    for one in runs:
        (path / "runs" / one.run).mkdir(parents=True)
        (path / "runs" / one.run / "run.json").write_text(one.model_dump_json(by_alias=True))
    if environment is not None:
        (path / "environment.json").write_text(json.dumps(environment))
    return path


def shown(path: Path, interrupted: bool = False) -> str:
    screen = io.StringIO()
    show(summarise(path, interrupted), Console(file=screen, width=WIDEST_TABLE))
    return screen.getvalue()


def test_which_rows_compare_models_stands_in_summary_and_table(tmp_path: Path) -> None:
    abouts = json.loads((Path(__file__).parent / "golden" / "abouts" / "headline.json").read_text())
    runs = [
        run(number, run=f"{number}-{name}", approach=name)
        for number, name in enumerate(("tomcat-virtual", "tomcat-platform"), 1)
    ]
    path = experiment(tmp_path, runs)
    for one in runs:
        raw = path / "runs" / one.run / "raw"
        raw.mkdir()
        (raw / "about.json").write_text(json.dumps(abouts[one.approach]))

    (contrast,) = summarise(path, interrupted=False).contrasts

    assert (contrast.a, contrast.b, contrast.kind) == ("tomcat-virtual", "tomcat-platform", "controlled")
    assert contrast_notes([contrast])[0] in (path / "summary.md").read_text()


@pytest.mark.parametrize(("style", "said"), [("lean", "Style lean"), ("idiomatic", "Style idiomatic"), (None, "")])
def test_the_style_stands_beside_the_table(tmp_path: Path, style: str | None, said: str) -> None:
    path = experiment(tmp_path, [run(1, style=style)])

    summary = summarise(path, interrupted=False)

    assert [note.partition(":")[0] for note in footnotes(summary) if note.startswith("Style")] == (
        [said] if said else []
    )


def test_a_run_that_told_no_style_was_lean(tmp_path: Path) -> None:
    abouts = json.loads((Path(__file__).parent / "golden" / "abouts" / "headline.json").read_text())
    names = ("tomcat-platform", "tomcat-virtual")
    path = experiment(
        tmp_path, [run(number, run=f"{number}-{name}", approach=name) for number, name in enumerate(names)]
    )
    del abouts["tomcat-virtual"]["style"]
    for number, name in enumerate(names):
        raw = path / "runs" / f"{number}-{name}" / "raw"
        raw.mkdir()
        (raw / "about.json").write_text(json.dumps(abouts[name]))

    assert [one.kind for one in summarise(path, interrupted=False).contrasts] == ["controlled"]


@pytest.mark.parametrize("told", [None, '{"error": "refused"}', "[]", "{}", '{"approach": "tomcat-virtual"}'])
def test_what_a_run_did_not_tell_of_itself_stands_in_summary_and_table(tmp_path: Path, told: str | None) -> None:
    abouts = json.loads((Path(__file__).parent / "golden" / "abouts" / "headline.json").read_text())
    names = ("tomcat-platform", "tomcat-virtual")
    path = experiment(
        tmp_path, [run(number, run=f"{number}-{name}", approach=name) for number, name in enumerate(names)]
    )
    for number, text in enumerate((json.dumps(abouts["tomcat-platform"]), told)):
        if text is not None:
            raw = path / "runs" / f"{number}-{names[number]}" / "raw"
            raw.mkdir()
            (raw / "about.json").write_text(text)

    (contrast,) = summarise(path, interrupted=False).contrasts

    assert (contrast.kind, contrast.differs) == ("unknown", [])
    assert unknown_notes([contrast])[0] in (path / "summary.md").read_text()


def test_the_file_follows_the_interface(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(2), run(10), run(1)], {"size": "auto"})

    summarise(path, interrupted=False)

    got = json.loads((path / "summary.json").read_text())
    assert got["schema"] == "loom-lab/summary/v1"
    assert got["experiment"] == "ab-c10000"
    assert got["started"] == "2026-11-21T06:00:00Z"
    assert got["finished"] == "2026-11-21T06:02:59Z"
    assert got["environment"] == {"size": "auto"}
    assert [one["run"].partition("-")[0] for one in got["runs"]] == ["1", "2", "10"]
    assert got["runs"][0]["latency_ms"] == {
        "min": None, "mean": None, "stdev": None, "p50": 3210, "p66": None, "p75": None, "p80": None, "p90": None,
        "p95": None, "p98": None, "p99": 11234, "p99_9": None, "max": None, "withheld": {},
    }  # fmt: skip


def test_a_row_shows_what_was_measured_and_a_dash_for_the_rest() -> None:
    assert cells(run(1)) == (
        "1", "tomcat-platform", "10,000", "3,021", "3,210", "11,234", "0", "0.276", "40", "38/0/9", "4.2",
        "3,072", "10,022", "valid",
    )  # fmt: skip
    unknown = run(1, throughput_rps=None, latency_ms=Latency(), errors=None, cpu_ms_per_request=None)
    assert cells(unknown)[3:8] == ("–",) * 5
    assert cells(run(1, gc=Gc()))[10] == "–"
    assert cells(run(1, allocated_bytes_per_request=None))[8] == "–"
    assert cells(run(1, live_bytes_per_request=LiveBytes()))[9] == "–"
    assert cells(run(1, errors=4_500))[6] == "4,500 (2.5%)"
    assert cells(run(1, errors=180_000))[6] == "180,000 (100%)"


def test_the_table_fits_120_columns_and_loses_nothing(tmp_path: Path) -> None:
    held = LiveBytes(heap=39_000, stacks_off_heap=139_000, kernel=39_300)
    widest = run(
        1, approach="microhttp-platform", errors=123_456, verdict="suspect", reasons=["It was slow [really]."],
        live_bytes_per_request=held,
    )  # fmt: skip
    text = shown(experiment(tmp_path, [widest]))

    assert max(map(len, text.splitlines())) <= WIDEST_TABLE
    for cell in cells(widest):
        assert cell in text
    for column in headings():
        assert column in text
    assert "1-tomcat-platform (suspect): It was slow [really]." in text


def test_numbers_are_aligned_right(tmp_path: Path) -> None:
    lines = shown(experiment(tmp_path, [run(1), run(2, throughput_rps=7.0)])).splitlines()
    first, second = (line for line in lines if "tomcat-platform" in line)

    assert first.index("3,021") + len("3,021") == second.index(" 7 ") + len(" 7")


def test_the_markdown_holds_a_row_a_run_and_the_caveats(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1), run(2)], {"stand_in_images": True, "cpus": 2, "notes": ["A note."]})
    summarise(path, interrupted=False)

    text = (path / "summary.md").read_text()

    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert len({row.count("|") for row in rows}) == 1
    assert "stand-in base images" in text
    assert "coordinated omission" in text
    assert "- A note." in text
    assert "2 CPUs" in text


def test_what_makes_every_run_suspect_spares_the_invalid_ones(tmp_path: Path) -> None:
    runs = [run(1), run(2, verdict="invalid", reasons=["Broken."])]
    path = experiment(tmp_path, runs, {"suspect": ["The pool is smaller."]})

    got = summarise(path, interrupted=False).runs

    assert [(one.verdict, one.reasons) for one in got] == [
        ("suspect", ["The pool is smaller."]),
        ("invalid", ["Broken.", "The pool is smaller."]),
    ]


def test_what_is_said_of_every_run_stands_once(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1), run(2, verdict="suspect", reasons=["Cold."])], {"suspect": ["A pool."]})

    lines = [line for line in shown(path).splitlines() if "A pool." in line or "Cold." in line]

    assert lines == ["- every run: A pool.", "- 2-tomcat-platform (suspect): Cold."]


def test_a_difference_between_the_approaches_makes_every_run_suspect(tmp_path: Path) -> None:
    runs = [run(1), run(2, run="2-webflux-netty", approach="webflux-netty")]
    path = experiment(tmp_path, runs)
    for one, heap, server in zip(runs, (1, 2), ("tomcat", "netty"), strict=True):
        raw = path / "runs" / one.run / "raw"
        raw.mkdir()
        about = {"jvm": {"max_heap_bytes": heap}, "inbound": {"server": server}}
        (raw / "about.json").write_text(json.dumps(about))

    got = summarise(path, interrupted=False)

    assert {one.verdict for one in got.runs} == {"suspect"}
    assert "1 from tomcat-platform; 2 from webflux-netty" in got.runs[0].reasons[0]
    assert any("inbound.server" in note for note in got.notes)
    assert "inbound.server" in (path / "summary.md").read_text()


def test_pools_that_follow_the_load_are_compared_within_one_load(tmp_path: Path) -> None:
    runs = [run(1), run(2, cell=2)]
    path = experiment(tmp_path, runs)
    for one, pool in zip(runs, (100, 5000), strict=True):
        raw = path / "runs" / one.run / "raw"
        raw.mkdir(exist_ok=True)
        (raw / "about.json").write_text(json.dumps({"outbound": {"max_connections": pool}}))

    assert [one.verdict for one in summarise(path, interrupted=False).runs] == ["valid", "valid"]


def test_the_markdown_tells_what_the_collector_took(tmp_path: Path) -> None:
    gc = Gc(pauses=12, pause_seconds=0.4, longest_pause_ms=85, cpu_seconds=1.5, cpu_share=0.02)
    path = experiment(tmp_path, [run(1, gc=gc, jit_cpu_seconds=0.5, virtual_threads_pinned=3)])
    summarise(path, interrupted=False)

    assert (
        "- 1-tomcat-platform: GC pauses 12, 0.40 s in all, the longest 85 ms at most, GC 1.50 CPU s, "
        "compilers 0.50 CPU s, 3 times pinned."
    ) in (path / "summary.md").read_text().splitlines()


def test_an_interrupted_experiment_is_not_finished(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1)])
    (path / "runs" / "2-webflux-netty").mkdir()

    text = shown(path, interrupted=True)

    assert json.loads((path / "summary.json").read_text())["finished"] is None
    assert "interrupted" in text
    assert "2-webflux-netty was not judged" in text


def test_an_experiment_without_runs_can_only_be_an_interrupted_one(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()

    assert summarise(tmp_path, interrupted=True).runs == []
    with pytest.raises(UsageError, match="no judged run"):
        summarise(tmp_path, interrupted=False)
    with pytest.raises(UsageError, match="not an experiment"):
        summarise(tmp_path / "runs", interrupted=False)
