"""The summary, its table, and what stands beside it."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

import loads
from abouts import TOMCATS
from loads import load_of, rate
from loomlab.answer.loads import load_groups
from loomlab.answer.summary import summarise
from loomlab.answer.text import HEADINGS, WIDEST_TABLE, cells, footnotes, markdown, show, stretch_lines
from loomlab.basics.errors import UsageError
from loomlab.records.load import Closed, Load, Users, UserStage
from loomlab.records.models import Episode, Gc, KindFigures, Latency, Run, ScaledScenario, Step, Summary
from loomlab.records.raw import LiveBytes
from loomlab.report import page
from saying import exit_code

CLOSED = load_of(Closed(1_200_000, 60), 10_000)
LADDER = load_of(loads.LADDER)
ONE_RATE = load_of(rate(300, 120))
SOME_USERS = load_of(Users((UserStage(50, 60), UserStage(8000, 240), UserStage(0, 60)), (1, 3)))


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


def experiment(
    folder: Path, runs: list[Run], environment: dict[str, Any] | None = None, abouts: list[Any] | None = None
) -> Path:
    """A folder of these runs, and what each told of its approach; `...`: nothing."""
    path = folder / "20261121T060000Z-ab-c10000"
    for place, one in enumerate(runs):
        run_dir = path / "runs" / one.run
        (run_dir / "raw").mkdir(parents=True)
        (run_dir / "run.json").write_text(one.model_dump_json(by_alias=True))
        if abouts and abouts[place] is not ...:
            (run_dir / "raw" / "about.json").write_text(json.dumps(abouts[place]))
    if environment is not None:
        (path / "environment.json").write_text(json.dumps(environment))
    return path


def tomcats(**changes: Any) -> list[Run]:
    return [run(number, run=f"{number}-{name}", approach=name, **changes) for number, name in enumerate(TOMCATS, 1)]


def shown(path: Path) -> str:
    screen = io.StringIO()
    show(summarise(path, interrupted=False), Console(file=screen, width=WIDEST_TABLE))
    return screen.getvalue()


def summed_up(folder: Path, runs: list[Run], **changes: Any) -> Summary:
    return summarise(experiment(folder, runs, **changes), interrupted=False)


def test_the_file_follows_the_interface(tmp_path: Path) -> None:
    path = experiment(tmp_path, [run(2), run(10), run(1)], {"size": "auto"})
    (path / "runs" / ".set-aside").mkdir()

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
        "1", "tomcat-platform", "10,000", "3,021", "3,210", "11,234", "0", "0.276", "40", "47", "4.2",
        "3,072", "10,022", "valid",
    )  # fmt: skip
    unknown = run(
        1, throughput_rps=None, latency_ms=Latency(), errors=None, cpu_ms_per_request=None, gc=Gc(),
        allocated_bytes_per_request=None, live_bytes_per_request=LiveBytes(),
    )  # fmt: skip
    assert cells(unknown)[3:11] == ("–",) * 8
    assert cells(run(1, errors=4_500))[HEADINGS.index("errors")] == "4,500 (2.5%)"
    assert cells(run(1, errors=180_000))[HEADINGS.index("errors")] == "180,000 (100%)"


@pytest.mark.parametrize(
    ("load", "cell", "amount"),
    [
        (CLOSED, "10,000", (10_000, "connections")), (ONE_RATE, "300/s", (300, "requests/s")),
        (load_of(rate(0.5, 120)), "0.5/s", (0.5, "requests/s")), (LADDER, "250–1,000/s", (1000, "requests/s")),
        (SOME_USERS, "≤8,000 u.", (8000, "users")),
    ],
)  # fmt: skip
def test_a_load_is_shown_by_connections_rates_or_users(load: Load, cell: str, amount: tuple[float, str]) -> None:
    assert cells(run(1, load=load))[HEADINGS.index("load")] == cell
    assert [(group.amount, group.unit) for group in load_groups([run(1, load=load)])] == [amount]


def test_the_table_fits_120_columns_and_loses_nothing(tmp_path: Path) -> None:
    held = LiveBytes(heap=39_000, stacks_off_heap=139_000, kernel=39_300)
    widest = run(
        1, approach="microhttp-platform", errors=123_456, verdict="suspect", reasons=["It was slow [really]."],
        live_bytes_per_request=held,
    )  # fmt: skip
    text = shown(experiment(tmp_path, [widest, run(2, throughput_rps=7.0)]))

    assert max(map(len, text.splitlines())) <= WIDEST_TABLE
    for part in (*cells(widest), *HEADINGS, "1-tomcat-platform (suspect): It was slow [really]."):
        assert part in text
    first, second = (line for line in text.splitlines() if line.split()[:1] in (["1"], ["2"]))
    assert first.index("3,021") + len("3,021") == second.index(" 7 ") + len(" 7")


def test_the_markdown_holds_a_row_a_run_and_the_caveats_after_an_opening(tmp_path: Path) -> None:
    known = {"nano_cpus": 15 * 10**8, "memory_bytes": 3 * 2**29, "engine": "29", "kernel": "6.1", "cpu_model": "A CPU"}
    nodes = [{"name": "one", "role": "backend", "open_files": 9, "clock_off_ms": 0} | known, {"name": "two"}]
    host = {"cpus": 2, "memory_bytes": 3 * 2**29, "cgroup": "2", "size": "auto", "nodes": nodes}
    facts = {"stand_in_images": True, "notes": ["A note."]} | host
    text = markdown(summed_up(tmp_path, [run(1), run(2)], environment=facts), ["The answer."])

    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert len({row.count("|") for row in rows}) == 1
    assert text.index("The answer.") < text.index(rows[0])
    for part in ("stand-in base images", "- A note.", "Host: 2 CPUs, 1.5 GiB, cgroup v2, size auto."):
        assert part in text
    one = "1.5 CPUs, A CPU, 1.5 GiB, engine 29, kernel 6.1, 9 open files, clock 0 ms ahead"
    for part in (f"Node one (backend): {one}.", "Node two (load generator): "):
        assert part in text


@pytest.mark.parametrize("text", ["a|b", "<b>x</b>", "![x](http://x.invalid/y.png)", "a\nb", r"a\|b\[a](http://x)"])
def test_names_and_texts_stay_text(tmp_path: Path, text: str) -> None:
    told = markdown(summed_up(tmp_path, [run(1, approach=text, verdict="suspect", reasons=[f"Slow {text}."])]), [])

    (row,) = (line for line in told.splitlines() if line.startswith("| 1 | "))
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 15
    assert "<b>" not in told
    assert "[" not in told
    assert not any(line.startswith("b.") for line in told.splitlines())


def test_what_makes_every_run_suspect_spares_the_invalid_ones(tmp_path: Path) -> None:
    runs = [run(1), run(2, verdict="invalid", reasons=["Broken."])]

    got = summed_up(tmp_path, runs, environment={"suspect": ["The pool is smaller."]}).runs

    assert [(one.verdict, one.reasons) for one in got] == [
        ("suspect", ["The pool is smaller."]),
        ("invalid", ["Broken.", "The pool is smaller."]),
    ]


def test_what_is_said_of_every_run_stands_once(tmp_path: Path) -> None:
    withheld = Latency(withheld={"p99": "too few"})
    runs = [run(1, notes=["Odd.", "Alike."]), run(2, verdict="suspect", reasons=["Cold."], notes=["Alike."])]
    runs.append(run(3, latency_ms=withheld, notes=["Alike."]))

    notes = footnotes(summed_up(tmp_path, runs, environment={"suspect": ["A pool."]}))

    assert notes[:5] == [
        "every run: A pool.", "2-tomcat-platform (suspect): Cold.",
        "3-tomcat-platform (suspect): Its p99 is not given: too few.", "every run: Alike.", "1-tomcat-platform: Odd.",
    ]  # fmt: skip


def test_a_difference_between_the_approaches_makes_every_run_of_the_load_suspect(tmp_path: Path) -> None:
    """Pools follow the load."""
    abouts = [{"jvm": {"max_heap_bytes": heap}, "inbound": {"server": name}} for heap, name in enumerate(TOMCATS)]
    other = run(3, cell=2, approach=TOMCATS[0])

    got = summed_up(tmp_path, [*tomcats(), other], abouts=[*abouts, {"jvm": {"max_heap_bytes": 5000}}])

    assert [one.verdict for one in got.runs] == ["suspect", "suspect", "valid"]
    assert "0 from tomcat-platform; 1 from tomcat-virtual" in got.runs[0].reasons[0]
    assert any("inbound.server" in note for note in footnotes(got))
    assert not any("inbound.server" in note for note in footnotes(got, brief=True))
    single = got.model_copy(update={"runs": [run.model_copy(update={"repeat": 1}) for run in got.runs]})
    often = [*single.runs, single.runs[0].model_copy(update={"repeat": 3})]
    several = (single, got.model_copy(update={"runs": often}), got.model_copy(update={"runs": single.runs[:1]}))
    told = [any("do not rank" in note for note in footnotes(one, brief=True)) for one in several]
    assert told == [True, False, False]


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ([{}, {"tool": "users", "load": SOME_USERS}], ["ab was used in a closed", "users was used in", "Mem KiB is"]),
        ([{"load": ONE_RATE}] * 2, ["ab was used in an open model", "Mem KiB is"]),
    ],
)
def test_how_figures_are_read_stands_once(tmp_path: Path, changes: list[dict[str, Any]], notes: list[str]) -> None:
    runs = [run(number, **change) for number, change in enumerate(changes, 1)]

    got = footnotes(summed_up(tmp_path, runs))[-len(notes) - 1 :]

    assert got[0].startswith("Requests/s")
    assert [text.startswith(note) for text, note in zip(got[1:], notes, strict=True)] == [True] * len(notes)


def test_an_experiment_without_runs_can_only_be_an_interrupted_one(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()

    assert summarise(tmp_path, interrupted=True).runs == []
    with pytest.raises(UsageError, match="no judged run"):
        summarise(tmp_path, interrupted=False)
    with pytest.raises(UsageError, match="not an experiment"):
        summarise(tmp_path / "runs", interrupted=False)


STEP = Step(
    offered_rps=4000, started_rps=3512.34, throughput_rps=3400.0, errors=1234, latency_ms=Latency(p50=950, p99=4321),
    start=0, seconds=57, held=False,
)  # fmt: skip
HANG = Episode(start=60, end=70, before_p50_ms=612.3, worst_ms=10_950, recovery_s=4)


def test_steps_hangs_and_failures_are_lines_of_both_outputs(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    held = STEP.model_copy(update={"held": True, "errors": 0, "offered_rps": 250, "latency_ms": Latency()})
    never = HANG.model_copy(update={"recovery_s": None, "before_p50_ms": None})
    failures = {"failures": {"timeout": 1200, "connection reset": 3}}
    kind = KindFigures(request="GET /orders/1", requests=500, errors=0, latency_ms=Latency(p50=0.912, p99=14.6))
    runs = [
        run(1, load=LADDER, steps=[held, STEP]),
        run(2, episodes=[HANG, never], **failures),
        run(3, failed_latency_ms=Latency(p50=30_001), **failures),
        run(4, kinds=[kind, kind.model_copy(update={"request": "POST /orders", "errors": 12})]),
        run(5, kinds=[kind, kind.model_copy(update={"request": "POST /orders", "latency_ms": Latency(p50=9)})]),
    ]
    path = experiment(tmp_path, runs)

    stretches = stretch_lines(runs)
    text = markdown(summarise(path, interrupted=False), [])

    assert "\n".join(stretches) == snapshot
    assert all(f"- {line}\n" in text for line in stretches)
    assert all(" ".join(line.split()) in " ".join(shown(path).split()) for line in stretches)
    assert stretch_lines([run(1)]) == []


def test_a_scenario_says_its_question_scale_and_differences(tmp_path: Path) -> None:
    scenario = ScaledScenario(name="x", title="", question="Which is it?", scale=0.02, differs=["It is warmed up."])

    text = markdown(summed_up(tmp_path, [run(1)]).model_copy(update={"scenario": scenario}), ["The answer."])

    assert "\nWhich is it? Run at scale 0.02 of its load. It is warmed up.\n\nThe answer.\n\n|" in text


def test_a_report_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = experiment(tmp_path, [run(1)])

    def broken(*_: object) -> Path:
        raise ZeroDivisionError("at a drawing")

    monkeypatch.setattr(page, "write_report", broken)

    assert exit_code("summarise", str(path)) == 0
    assert (path / "summary.json").exists()
    (told,) = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError('at a drawing')" in told
    assert f"make report RESUME={path.name} " in told
