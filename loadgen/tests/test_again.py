"""Runs that the host spoilt are made again; a sweep that is killed at any moment resumes to the same set of runs."""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.answer.again import again, again_notes, made_again, spoilt
from loomlab.answer.finish import unfinished
from loomlab.answer.summary import summarise
from loomlab.basics.errors import UsageError
from loomlab.cli import main
from loomlab.records.files import write_json
from loomlab.records.models import RuleResult, Run
from loomlab.records.order import order_file, read_order, set_state
from loomlab.statistics.tries import MOST_TRIES
from ordered import planned
from test_finish import resume
from test_summary import run as run_record

HOST = RuleResult(rule="much_stolen", outcome="failed", level="invalid", host_cause=True)
OWN = RuleResult(rule="oom_killed", outcome="failed", level="invalid")
CARE = RuleResult(rule="gc_heavy", outcome="failed", level="suspect")
FINE = RuleResult(rule="oom_killed", outcome="passed", level="invalid")


def invalid(*rules: RuleResult) -> Run:
    return run_record(1, verdict="invalid", rules=list(rules))


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (invalid(HOST, FINE), True),
        (invalid(HOST, CARE), True),
        (invalid(HOST, OWN), True),
        (invalid(OWN), False),
        (invalid(), False),
        (run_record(1, verdict="suspect", rules=[CARE]), False),
    ],
)
def test_a_run_is_spoilt_that_is_invalid_for_a_cause_outside_whatever_it_did_itself(run: Run, expected: bool) -> None:
    assert spoilt(run) is expected


def swept(folder: Path, **changes: Any) -> Path:
    """A sweep of two approaches at two loads, of which no run was made."""
    asked: dict[str, Any] = {"verb": "sweep", "connections": (5, 9), "repeats": 2}
    order = planned(folder, **(asked | {"approaches": ["jetty-virtual", "tomcat-virtual"]} | changes))
    made = folder / "results" / order.experiment
    (made / "runs").mkdir(parents=True)
    write_json(order_file(made), order)
    return made


def make(folder: Path, name: str, is_spoilt: bool) -> None:
    """As the host's shell would: measured and judged."""
    planned_run = read_order(folder).run(name)
    raw = folder / "runs" / name / "raw"
    raw.mkdir(parents=True)
    write_json(raw / "request.json", planned_run.request.model_copy(update={"started": 1.8e9, "finished": True}))
    request = planned_run.request
    told = run_record(
        1, run=name, approach=request.approach, cell=request.cell, repeat=request.repeat, load=request.load,
        gc_name=request.gc,
        **({"verdict": "invalid", "rules": [HOST], "reasons": ["Stolen."]} if is_spoilt else {}),
    )  # fmt: skip
    write_json(folder / "runs" / name / "run.json", told)
    set_state(folder / "runs" / name, "judged")


def names(folder: Path) -> list[str]:
    return [run.run for run in read_order(folder).runs]


def test_a_spoilt_run_is_planned_again_in_its_block_twice_at_most(tmp_path: Path) -> None:
    folder = swept(tmp_path)
    first = names(folder)[2]
    tried = [first]

    for _ in range(MOST_TRIES):
        make(folder, tried[-1], is_spoilt=True)
        found = again(folder / "runs" / tried[-1])
        if found is not None:
            order, run = found
            assert (run.state, run.block) == ("planned", order.run(first).block)
            tried.append(run.run)

    assert tried == [first, f"{first}-try-2", f"{first}-try-3"]
    assert names(folder)[2:5] == tried
    assert again(folder / "runs" / first) is None


@pytest.mark.parametrize(("verb", "is_spoilt"), [("sweep", False), ("ab", True)])
def test_other_runs_are_not_made_again(tmp_path: Path, verb: str, is_spoilt: bool) -> None:
    folder = swept(tmp_path, verb=verb, connections=5)
    first = names(folder)[0]
    make(folder, first, is_spoilt)

    assert again(folder / "runs" / first) is None
    assert len(names(folder)) == 4


def test_the_host_is_told_the_next_try_and_the_time_that_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = swept(tmp_path, repeats=1)
    first, second, *_ = names(folder)
    make(folder, first, is_spoilt=True)
    set_state(folder / "runs" / second, "running")

    with pytest.raises(SystemExit) as ended:
        main(["again", str(folder / "runs" / first)])

    told = capsys.readouterr()
    order = read_order(folder)
    each = order.runs[0].expected_s or 0
    settings = order.runs[0].settings
    assert ended.value.code == 0
    assert told.out == (
        f"run {first}-try-2 {order.runs[0].request.approach} PLATFORM_THREADS={settings['PLATFORM_THREADS']} "
        f"BACKEND_CONNECTIONS={settings['BACKEND_CONNECTIONS']} EXPECTED_S={3 * each} "
        f"LONGEST_S={3 * (order.runs[0].longest_s or 0)}\n"
    )
    assert told.err == f"The host disturbed {first}: {first}-try-2 measures it again\n"


def test_both_tries_are_shown_and_the_last_one_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = swept(tmp_path, repeats=1)
    for name in names(folder):
        make(folder, name, is_spoilt=name.startswith("2-"))
    second = names(folder)[1]
    again(folder / "runs" / second)
    make(folder, f"{second}-try-2", is_spoilt=False)

    summary = summarise(folder, interrupted=False)

    assert made_again(summary.runs) == {second: f"{second}-try-2"}
    assert [run.run for run in summary.runs][1:3] == [second, f"{second}-try-2"]
    note = f"The host disturbed {second}, so it was measured once more: only {second}-try-2 counts."
    assert again_notes(summary.runs) == [note]
    assert note in (folder / "summary.md").read_text()
    with pytest.raises(SystemExit) as ended:
        main(["summarise", str(folder)])
    assert ended.value.code == 0
    assert note in " ".join(capsys.readouterr().out.split())
    page = (folder / "report.html").read_text()
    assert page.count(note) == 1
    assert f"<title>{second}: " in page
    assert f"<title>{second}-try-2: " in page


def test_a_next_try_that_was_not_planned_in_time_is_made_by_a_resumption_with_its_whole_block(tmp_path: Path) -> None:
    folder = swept(tmp_path, repeats=1)
    for name in names(folder):
        make(folder, name, is_spoilt=name.startswith("2-"))
    second = names(folder)[1]

    assert unfinished(folder.parent, "latest") == folder
    kept = (folder / "runs" / names(folder)[2] / "run.json").read_bytes()
    assert [run.run for run in resume(folder).runs if run.state == "planned"] == names(folder)[:2]
    for name in names(folder)[:2]:
        make(folder, name, is_spoilt=name == second)
    for number in (2, 3):
        again(folder / "runs" / (second if number == 2 else f"{second}-try-2"))
        make(folder, f"{second}-try-{number}", is_spoilt=True)
    assert (folder / "runs" / names(folder)[4] / "run.json").read_bytes() == kept

    with pytest.raises(UsageError, match=f"has all of its {len(names(folder))} runs"):
        resume(folder)
    with pytest.raises(UsageError, match="RESUME=latest finds no experiment that lacks a run"):
        unfinished(folder.parent, "latest")


class KilledError(Exception):
    """At any moment."""


def walk(folder: Path, spoils: set[str], moments: Iterator[bool]) -> None:
    """What the host's shell does; it may be killed before and after everything that it writes."""

    def may_be_killed() -> None:
        if next(moments):
            raise KilledError

    while left := [run.run for run in read_order(folder).runs if run.state == "planned"]:
        name = left[0]
        may_be_killed()
        set_state(folder / "runs" / name, "running")
        may_be_killed()
        make(folder, name, name in spoils)
        may_be_killed()
        again(folder / "runs" / name)


@given(seed=st.integers(0, 10**6), spoilt_share=st.sampled_from([0.0, 0.3, 1.0]), killed_share=st.floats(0, 0.1))
def test_a_sweep_that_is_killed_at_any_moment_resumes_to_the_same_set_of_runs(
    seed: int, spoilt_share: float, killed_share: float
) -> None:
    draw = random.Random(seed)  # noqa: S311 - moments, no secret
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        whole, cut = swept(Path(one), repeats=1), swept(Path(other), repeats=1)
        tries = [f"{name}{again_}" for name in names(whole) for again_ in ("", "-try-2", "-try-3")]
        spoils = {name for name in tries if draw.random() < spoilt_share}
        walk(whole, spoils, iter(lambda: False, True))
        moments = iter(lambda: draw.random() < killed_share, None)
        made: dict[str, bytes] = {}
        while True:
            with suppress(KilledError):
                walk(cut, spoils, moments)
            for path in cut.glob("runs/*/run.json"):
                assert made.setdefault(path.parent.name, path.read_bytes()) == path.read_bytes()
            try:
                resume(cut)
            except UsageError:
                break

        assert names(cut) == names(whole)
        assert {run.state for run in read_order(cut).runs} == {"judged"}
        assert sorted(made) == sorted(names(whole))


def test_a_twin_and_its_approach_are_made_again_each_by_itself(tmp_path: Path) -> None:
    folder = swept(tmp_path, repeats=1, twin=True)
    own = [one.run for one in read_order(folder).runs if (one.block, one.request.approach) == (1, "jetty-virtual")]
    for name in own:
        make(folder, name, is_spoilt=True)

    found = [again(folder / "runs" / name) for name in own]

    assert len(own) == 2
    assert [one and one[1].run for one in found] == [f"{name}-try-2" for name in own]
