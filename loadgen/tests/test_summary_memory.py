"""What a request allocates and holds, in the summary and its tables."""

import json
from pathlib import Path

from loomlab.answer.summary import cells, held_cell, summarise
from loomlab.records.load import Load, OpenRate, RateStep, Target
from loomlab.records.memory import LiveBytes
from test_summary import experiment, run, shown


def test_what_a_request_holds_is_one_cell_of_whole_kib() -> None:
    assert held_cell(LiveBytes(heap=39_000, stacks_off_heap=100_000, kernel=9_300)) == "38/98/9"
    assert held_cell(LiveBytes(heap=1_048_576, stacks_off_heap=-300, kernel=512)) == "1,024/0/0"
    assert held_cell(LiveBytes(heap=39_000, kernel=9_300)) == "38/–/9"
    assert held_cell(LiveBytes()) == "–"


def test_at_a_rate_it_is_said_how_many_requests_waited(tmp_path: Path) -> None:
    rate = Load("http://app:8080", (Target("/capabilities"),), 2000, OpenRate((RateStep(200, 60),)), timeout_s=30)
    path = experiment(tmp_path, [run(1, live_requests=1250, load=rate), run(2, live_requests=321, load=rate)])
    closed = experiment(tmp_path / "closed", [run(1, live_requests=1000)])

    note = "Held was measured while so many requests waited: 1-tomcat-platform 1,250, 2-tomcat-platform 321."
    assert note in shown(path)
    assert "so many requests waited" not in shown(closed)


def test_notes_of_runs_stand_below_the_table_and_leave_the_verdict_alone(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1, notes=["Not told.", "Odd."]), run(2, notes=["Not told."])])

    text = shown(path)

    lines = [line for line in text.splitlines() if "Not told." in line or "Odd." in line]
    assert lines == ["- every run: Not told.", "- 1-tomcat-platform: Odd."]
    assert "- every run: Not told." in (path / "summary.md").read_text()
    assert [one.verdict for one in summarise(path, interrupted=False).runs] == ["valid", "valid"]


def test_a_run_of_an_earlier_version_has_no_memory_figures(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1)])
    file = path / "runs" / "1-tomcat-platform" / "run.json"
    old = json.loads(file.read_text())
    for name in (
        "live_bytes_per_request", "live_requests", "heap_kept_bytes", "allocated_bytes_per_request", "notes",
    ):  # fmt: skip
        del old[name]
    file.write_text(json.dumps(old))

    (got,) = summarise(path, interrupted=False).runs

    assert got.live_bytes_per_request == LiveBytes()
    assert got.allocated_bytes_per_request is None
    assert cells(got)[8:10] == ("–", "–")
