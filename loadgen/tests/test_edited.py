"""Folders that a hand edited: told in a sentence, never a traceback, never an endless loop."""

import copy
import io
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.summary import WIDEST_TABLE, show, summarise
from loomlab.basics.errors import ParseError
from loomlab.cli import main
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency, Run
from loomlab.records.requestlog import LEVELS
from loomlab.report import page
from loomlab.report.folder import read_experiment
from loomlab.report.page import write_report
from report_folder import MEASURED, folder_of
from test_report import parts_of
from test_report_folders import edit, first_run
from test_summary_loads import HANG, STEP


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("results"), ("tomcat-platform", "tomcat-virtual"), repeats=3)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


def edit_both(folder: Path, **fields: Any) -> None:
    """In a run's own file and in the summary."""
    edit(first_run(folder) / "run.json", lambda told: told.update(fields))
    edit(
        folder / "summary.json",
        lambda told: next(one for one in told["runs"] if one["run"] == first_run(folder).name).update(fields),
    )


def edit_run(folder: Path, **fields: Any) -> None:
    edit(first_run(folder) / "run.json", lambda told: told.update(fields))


@pytest.mark.parametrize(
    ("before", "after", "differing"),
    [
        (("invalid", ["Out of memory."]), ("valid", ["Out of memory."]), "verdict"),
        (("invalid", ["Out of memory."]), ("valid", []), "verdict, reasons"),
        (("invalid", ["Out of memory."]), ("suspect", ["Out of memory.", "A pool."]), "verdict"),
        (("suspect", ["Slow."]), ("valid", ["Slow."]), "verdict"),
        (("suspect", ["Slow."]), ("suspect", []), "reasons"),
        (("valid", []), ("suspect", []), "verdict"),
        (("valid", []), ("invalid", ["Slow."]), "verdict"),
        (("valid", []), ("valid", ["A pool."]), "verdict"),
        (("valid", []), ("suspect", ["A pool."]), None),
        (("suspect", ["Slow."]), ("suspect", ["Slow.", "A pool."]), None),
        (("invalid", ["Slow."]), ("invalid", ["Slow.", "A pool."]), None),
    ],
)
def test_a_verdict_may_only_become_suspect_for_reasons_that_were_added(
    folder: Path, before: tuple[str, list[str]], after: tuple[str, list[str]], differing: str | None
) -> None:
    edit_both(folder, verdict=after[0], reasons=after[1])
    edit_run(folder, verdict=before[0], reasons=before[1])

    text = parts_of(folder).text

    if differing is None:
        assert "summary.json and run.json differ" not in text
    else:
        assert f"run.json differ in {differing}, " in text


@pytest.mark.parametrize(
    ("margin", "order", "words"),
    [
        (0.3, None, "margin 0.3 and order.json of"),
        (None, 0.05, "and order.json 0.05, "),
        (0.05, 0.05, None),
    ],
)
def test_a_margin_that_was_not_declared_is_told(
    folder: Path, margin: float | None, order: float | None, words: str | None
) -> None:
    edit(folder / "summary.json", lambda told: told.update(margin=margin))
    edit(folder / "order.json", lambda told: told.update(margin=order))

    text = parts_of(folder).text

    assert ("margin" in text.partition("What to doubt")[2].partition("Make it again")[0]) is (words is not None)
    assert words is None or words in text


def test_a_contrast_that_raw_files_do_not_tell_is_told(folder: Path, snapshot: SnapshotAssertion) -> None:
    sound = read_experiment(folder).doubts

    edit(folder / "summary.json", lambda told: told["contrasts"][0].update(kind="stack"))

    (doubt,) = (one for one in read_experiment(folder).doubts if one not in sound)
    assert doubt == snapshot
    assert doubt in parts_of(folder).text


@pytest.mark.parametrize("margin", [-0.1, 0, float("nan"), float("inf"), 7])
@pytest.mark.parametrize("name", ["summary.json", "order.json"])
def test_a_margin_that_is_none_is_refused_where_it_matters(folder: Path, name: str, margin: float) -> None:
    edit(folder / name, lambda told: told.update(margin=margin))

    if name == "order.json":
        assert "order.json is damaged" in parts_of(folder).text
        with pytest.raises(ParseError, match=r"order\.json is damaged"):
            summarise(folder, interrupted=False)
    else:
        with pytest.raises(ParseError, match="margin"):
            write_report(folder)


def test_an_order_without_runs_is_damaged(folder: Path) -> None:
    edit(folder / "order.json", lambda told: told.update(runs=[]))

    assert "order.json is damaged" in parts_of(folder).text
    with pytest.raises(ParseError, match=r"order\.json is damaged"):
        summarise(folder, interrupted=False)


@pytest.mark.parametrize("value", [1e300, 1e16, 1e-12, 1e-300, -1.0])
def test_a_figure_that_is_no_measurement_is_left_out_and_told(folder: Path, value: float) -> None:
    edit_both(folder, cpu_ms_per_request=value)

    text = parts_of(folder).text

    assert f"{first_run(folder).name}: its CPU per request is {value:g}, which is no measurement" in text
    assert ": not measured)" in text


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_figure_that_is_no_number_was_not_measured(folder: Path, value: float) -> None:
    edit_both(folder, cpu_ms_per_request=value)

    text = parts_of(folder).text

    assert ": not measured)" in text
    assert "no measurement" not in text
    assert "was edited" not in text


LATENCY = Latency(**dict.fromkeys([*LEVELS, "min", "mean", "stdev", "max"], 905.0))
PARTS: dict[str, Any] = {
    "latency_ms": LATENCY,
    "latency_from_start_ms": LATENCY,
    "failed_latency_ms": LATENCY,
    "failures": {"timeout": 2},
    "steps": [STEP],
    "episodes": [HANG],
    "live_bytes_per_request": LiveBytes(heap=1, stacks_off_heap=2, kernel=3),
}
"""What not every run has."""
GOLDEN = Run.model_validate(json.loads((MEASURED / "run.json").read_text()))
WHOLE: dict[str, Any] = GOLDEN.model_copy(update=PARTS).model_dump(by_alias=True, mode="json")


def places(told: Any) -> Iterator[tuple[Any, Any]]:
    """What holds a value that may be a number, and where in it."""
    for key, value in told.items() if isinstance(told, dict) else enumerate(told):
        if isinstance(value, dict | list):
            yield from places(value)
        elif not isinstance(value, str):
            yield told, key


def spoilt(name: str, value: float) -> tuple[Any, int]:
    """That member of a run with the value in each place where a record takes it, and how many these are."""
    told, count = copy.deepcopy(WHOLE), 0
    member = told[name]
    for holder, key in [*places(member)] if isinstance(member, dict | list) else [(told, name)]:
        before, holder[key] = holder[key], value
        try:
            Run.model_validate(told)
            count += 1
        except ValidationError:
            holder[key] = before
    return told[name], count


NUMERIC = [name for name in WHOLE if spoilt(name, math.nan)[1]]


def test_most_members_of_a_run_hold_numbers() -> None:
    assert {"cpu_ms_per_request", "steps", "episodes", "gc", "interior", "live_bytes_per_request"} <= set(NUMERIC)
    assert len(NUMERIC) > 30


def test_what_cannot_be_without_a_number_is_unknown_with_it() -> None:
    told = copy.deepcopy(WHOLE)
    told["interior"]["start"] = told["cpu_fall"]["margin"] = told["warmup"]["bursts"] = math.nan
    told["steal_shares"]["approach"] = math.nan
    told["latency_ms"]["p99"] = told["steps"][0]["latency_ms"]["p99"] = math.nan
    told["steps"].insert(0, told["steps"][0] | {"offered_rps": math.inf})
    told["episodes"].append(told["episodes"][0] | {"end": -math.inf})

    read = Run.model_validate(told)

    assert (read.interior, read.cpu_fall, read.warmup, read.steal_shares) == (None, None, None, None)
    assert read.latency_fall == GOLDEN.latency_fall
    assert read.latency_ms == LATENCY.model_copy(update={"p99": None})
    assert read.steps == [STEP.model_copy(update={"latency_ms": Latency(p50=950)})]
    assert read.episodes == [HANG]


def test_a_word_in_the_place_of_a_number_is_damage() -> None:
    told = copy.deepcopy(WHOLE)
    told["interior"] |= {"start": "soon", "seconds": math.nan}

    with pytest.raises(ValidationError, match="start"):
        Run.model_validate(told)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without raw files, so that it is quickly read."""
    pair = ("tomcat-platform", "tomcat-virtual")
    return folder_of(tmp_path_factory.mktemp("bare"), pair, repeats=1, raw=False, **PARTS)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", NUMERIC)
def test_a_number_that_is_none_is_unknown_wherever_it_stands(
    bare: Path, tmp_path: Path, name: str, value: float
) -> None:
    folder, screen = shutil.copytree(bare, tmp_path / bare.name), io.StringIO()
    member = spoilt(name, value)[0]

    edit_run(folder, **{name: member})
    show(summarise(folder, interrupted=False), Console(file=screen, width=WIDEST_TABLE))
    assert not any("differ" in doubt for doubt in read_experiment(folder).doubts)
    said = [screen.getvalue(), (folder / "summary.md").read_text()]
    edit_both(folder, **{name: member})
    made = parts_of(folder)
    said.append((folder / "summary.md").read_text())

    assert made.open == []
    assert [words for text in said for words in re.findall(r".*\b(?:nan|inf)\b.*", text)] == []


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_load_that_is_none_is_damage(folder: Path, value: float) -> None:
    shape = {"kind": "open-rate", "steps": [{"rate_rps": value, "duration_s": 60}]}
    edit(first_run(folder) / "run.json", lambda told: told["load"].update(shape=shape))

    with pytest.raises(ParseError, match=r"run\.json is damaged"):
        summarise(folder, interrupted=False)


@pytest.mark.parametrize(
    "change",
    [
        {"ended": float("nan")}, {"ended": 1e12}, {"started": float("nan")}, {"started": -5}, {"ended": 5},
        {"ended": "x"}, {"ended": None}, {"started": 1e300, "ended": 1e300},
    ],
)  # fmt: skip
def test_times_that_are_none_of_a_run_are_left_out_and_told(folder: Path, change: dict[str, Any]) -> None:
    edit(first_run(folder) / "raw" / "tool.json", lambda told: told.update(change))

    page = parts_of(folder)

    assert f"{first_run(folder).name}: raw/tool.json is damaged: " in page.text
    assert page.open == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_an_interior_that_is_no_time_is_not_drawn(folder: Path, value: float) -> None:
    edit_both(folder, interior={"start": value, "seconds": 10, "requests": 5, "whole_run": False}, start_s=value)

    assert parts_of(folder).open == []


def broken(*_: object) -> Path:
    raise ZeroDivisionError("at a drawing")


@pytest.mark.parametrize("spoil", [None, lambda folder: (folder / "summary.json").unlink()])
def test_a_report_that_fails_does_not_fail_what_sums_up(
    folder: Path,
    spoil: Callable[[Path], None] | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(page, "write_report", broken)
    words = ["summarise", str(folder)]
    if spoil is not None:
        spoil(folder)
        words = ["finish", "--results", str(folder.parent)]

    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 0
    assert (folder / "summary.json").exists()
    (told,) = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError('at a drawing')" in told
    assert f"make report RESUME={folder.name} " in told


def test_every_file_is_json_that_the_lab_itself_would_write(folder: Path) -> None:
    """So that what the tests above change is all that is changed."""
    text = parts_of(folder).text

    assert "was edited" not in text
    assert "no measurement" not in text
    assert json.loads((folder / "summary.json").read_text())["margin"] is None


def test_an_interruption_says_what_going_on_makes(folder: Path) -> None:
    edit(folder / "summary.json", lambda told: told.update(finished=None))

    assert f"make finish RESUME={folder.name} " in parts_of(folder).text


def test_a_declared_margin_is_that_of_the_summary_and_of_the_page(folder: Path) -> None:
    edit(folder / "order.json", lambda told: told.update(margin=0.5))

    summary = summarise(folder, interrupted=False)
    cpu = summary.contrasts[0].comparisons[0]

    assert (summary.margin, cpu.margin, cpu.word, cpu.within_margin) == (0.5, 0.5, "lower", True)
    assert "lower, less than the margin" in parts_of(folder).text
    assert cpu.sentence in parts_of(folder).text


def test_what_makes_every_run_suspect_is_in_the_sentences_of_the_summary_and_of_the_page(folder: Path) -> None:
    edit(folder / "order.json", lambda told: told.update(suspect=["A pool was cut."]))

    summary = summarise(folder, interrupted=False)

    assert {run.verdict for run in summary.runs} == {"suspect"}
    for one in summary.contrasts[0].comparisons:
        assert "3 blocks, each with a suspect run" in one.sentence
    assert summary.contrasts[0].comparisons[0].sentence in parts_of(folder).text


@pytest.mark.parametrize("fields", [{"host": {}}, {"settings": {}}])
def test_an_order_without_host_or_settings_costs_only_the_command(folder: Path, fields: dict[str, Any]) -> None:
    edit(folder / "order.json", lambda told: told.update(fields))

    summarise(folder, interrupted=False)

    assert "Make it again" in parts_of(folder).text


def test_about_with_a_list_for_a_name_is_told_as_a_difference(folder: Path) -> None:
    edit(first_run(folder) / "raw" / "about.json", lambda told: told["inbound"].update(server=[]))

    summary = summarise(folder, interrupted=False)

    assert [one.kind for one in summary.contrasts] == ["unknown"]
    assert parts_of(folder).open == []


def test_how_two_approaches_differ_is_not_known_in_both_places_without_contrasts(folder: Path) -> None:
    edit(folder / "summary.json", lambda told: told.update(contrasts=[]))

    text = parts_of(folder).text

    assert "is not known how" in text
    assert "nothing to compare" not in text
