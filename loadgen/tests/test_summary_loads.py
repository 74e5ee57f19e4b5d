"""What the summary says of loads: their cell, steps, hangs and failures, their scenario and model."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.loads import amount_of
from loomlab.answer.summary import cells, headings, load_cell, stretch_lines, summarise
from loomlab.records.load import Load, OpenRate, RateStep, Shape, Target, Users, UserStage
from loomlab.records.models import Episode, Latency, Parameter, SideBySide, Step
from test_summary import CLOSED, experiment, run, shown


def load_of(shape: Shape) -> Load:
    return Load("http://app:8080", (Target("/capabilities"),), 8000, shape, 30)


LADDER = load_of(OpenRate((RateStep(250, 60), RateStep(500, 60), RateStep(4000, 60))))
ONE_RATE = load_of(OpenRate((RateStep(300, 120),)))


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        (CLOSED, "10,000"),
        (ONE_RATE, "300/s"),
        (load_of(OpenRate((RateStep(0.5, 120),))), "0.5/s"),
        (LADDER, "250–4,000/s"),
        (load_of(Users((UserStage(8000, 240), UserStage(0, 60)), (1, 3))), "≤8,000 u."),
    ],
)
def test_a_load_is_shown_by_its_connections_its_rates_or_its_users(load: Load, expected: str) -> None:
    assert load_cell(load) == expected
    assert cells(run(1, load=load))[headings().index("load")] == expected


def test_a_load_that_changes_amounts_to_the_highest_of_it() -> None:
    users = Users((UserStage(50, 60), UserStage(8000, 240), UserStage(0, 60)), (1, 3))

    assert amount_of(LADDER) == (4000, "requests/s")
    assert amount_of(load_of(users)) == (8000, "users")
    assert amount_of(CLOSED) == (10_000, "connections")


STEP = Step(
    offered_rps=4000, started_rps=3512.34, throughput_rps=3400.0, errors=1234, latency_ms=Latency(p50=950, p99=4321),
    start=0, seconds=57, held=False,
)  # fmt: skip
HANG = Episode(start=60, end=70, before_p50_ms=612.3, worst_ms=10_950, recovery_s=4)


def test_a_step_is_a_line_that_says_whether_it_held(snapshot: SnapshotAssertion) -> None:
    held = STEP.model_copy(update={"held": True, "errors": 0, "offered_rps": 250, "started_rps": 250})

    assert stretch_lines(run(1, steps=[held, STEP])) == snapshot


def test_a_step_without_an_answer_has_no_latency() -> None:
    silent = STEP.model_copy(update={"latency_ms": Latency()})

    assert "p50 – ms, p99 – ms" in stretch_lines(run(1, steps=[silent]))[0]


def test_a_hang_is_a_line_that_says_when_all_was_as_before(snapshot: SnapshotAssertion) -> None:
    never = HANG.model_copy(update={"recovery_s": None, "before_p50_ms": None})

    assert stretch_lines(run(1, episodes=[HANG, never])) == snapshot


def test_failures_are_told_by_reason_with_the_time_they_took(snapshot: SnapshotAssertion) -> None:
    failures = {"timeout": 1200, "connection reset": 3}

    timed = stretch_lines(run(1, failures=failures, failed_latency_ms=Latency(p50=30_001)))

    assert [*timed, *stretch_lines(run(1, failures=failures))] == snapshot


def test_steps_episodes_and_failures_are_in_both_outputs_and_nowhere_without_them(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1, load=LADDER, steps=[STEP], episodes=[HANG], failures={"timeout": 2}), run(2)])

    text = shown(path)
    markdown = (path / "summary.md").read_text()

    assert "Steps, episodes and failures:" in markdown
    for part in ("1,234 errors: not held.", "back 4 s after its end.", "failed: 2 × timeout."):
        assert part in markdown
        assert part in " ".join(text.split())
    quiet = experiment(tmp_path / "quiet", [run(1)])
    summarise(quiet, interrupted=False)
    assert "Steps" not in (quiet / "summary.md").read_text()


SCENARIO = SideBySide(
    name="loom-vs-webflux",
    title="10,000 requests a second",
    question="Which has the better tail?",
    experiment="loom-vs-webflux",
    run="vegeta, rate=10000",
    differs=["The server is a fresh one.", "It is warmed up."],
    scale=0.02,
    parameters=[
        Parameter(name="tool", published="vegeta", here="vegeta"),
        Parameter(name="connections", published="10,000", here="200"),
    ],
)


def with_scenario(folder: Path, scenario: SideBySide) -> str:
    path = experiment(folder, [run(1)])
    (path / "scenario.json").write_text(scenario.model_dump_json())
    summarise(path, interrupted=False)
    assert json.loads((path / "summary.json").read_text())["scenario"]["scale"] == scenario.scale
    return (path / "summary.md").read_text()


def test_a_scenario_stands_beside_its_publication_and_says_what_differs(tmp_path: Path) -> None:
    lines = with_scenario(tmp_path, SCENARIO).splitlines()

    begin = lines.index("## loom-vs-webflux")
    assert lines[begin + 2 : begin + 11] == [
        "10,000 requests a second (loom-vs-webflux, vegeta, rate=10000). Which has the better tail?",
        "",
        "| parameter | published | here, scale 0.02 |",
        "|:--|:--|:--|",
        "| tool | vegeta | vegeta |",
        "| connections | 10,000 | 200 |",
        "",
        "- The server is a fresh one.",
        "- It is warmed up.",
    ]


def test_a_scenario_of_the_labs_own_was_designed_not_published(tmp_path: Path) -> None:
    own = SCENARIO.model_copy(update={"experiment": None, "run": None, "differs": [], "scale": 1.0})

    text = with_scenario(tmp_path, own)

    assert "(the lab's own)" in text
    assert "| parameter | designed | here, scale 1 |" in text


def test_an_experiment_without_a_scenario_has_none(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1)])

    assert summarise(path, interrupted=False).scenario is None
    assert "| parameter |" not in (path / "summary.md").read_text()


def test_each_tool_and_model_has_its_note_once(tmp_path: Path) -> None:
    runs = [run(1), run(2), run(3, tool="vegeta", load=ONE_RATE), run(4, tool="users", load=CLOSED)]
    path = experiment(tmp_path, runs)
    summarise(path, interrupted=False)

    text = (path / "summary.md").read_text()

    assert text.count("ab was used in a closed model") == 1
    assert text.count("vegeta was used in an open model") == 1
    assert text.count("users was used in a closed model") == 1
    assert "vegeta was used in a closed model" not in text


def test_an_open_model_claims_no_coordinated_omission(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(1, tool="vegeta", load=ONE_RATE)])
    summarise(path, interrupted=False)

    assert "coordinated omission" not in (path / "summary.md").read_text()
