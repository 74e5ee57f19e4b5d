"""Runs that the host spoilt are made again; a sweep that is killed at any moment resumes to the same set of runs."""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.loads import counting, replaced, spoil_partners, try_again, try_notes
from loomlab.answer.summary import summarise, unfinished
from loomlab.basics.errors import UsageError
from loomlab.cli import measuring
from loomlab.records.files import write_json
from loomlab.records.models import RuleResult, Run, Summary
from loomlab.records.order import order_file, read_order, set_state
from loomlab.run.measure import Measurement
from ordered import planned, resume
from saying import STOLEN, exit_code
from test_summary import experiment
from test_summary import run as run_record

OWN = RuleResult(rule="container_failed", outcome="failed", level="invalid")
CARE = RuleResult(rule="gc_heavy", outcome="failed", level="suspect")
FINE = RuleResult(rule="container_failed", outcome="passed", level="invalid")
KINDS: dict[str, dict[str, Any]] = {
    "valid": {}, "suspect": {"verdict": "suspect", "rules": [CARE]},
    "spoilt": {"verdict": "invalid", "rules": [STOLEN, FINE, CARE]}, "late": {"verdict": "invalid", "rules": [OWN]},
    "both": {"verdict": "invalid", "rules": [OWN, STOLEN]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "counts"),
    [
        (["late"], []), (["spoilt", "valid"], ["-try-2"]), (["both", "suspect"], ["-try-2"]),
        (["spoilt", "spoilt", "valid"], ["-try-3"]), (["spoilt"] * 3, []), (["spoilt", "late"], []),
        (["spoilt", "late", "valid"], []), (["valid", "suspect"], [""]),
    ],
)  # fmt: skip
def test_the_first_try_counts_that_was_not_spoilt_from_outside_and_one_sentence_says_so(
    kinds: list[str], counts: list[str], snapshot: SnapshotAssertion
) -> None:
    names = ["4-tomcat-platform", "4-tomcat-platform-try-2", "4-tomcat-platform-try-3"]
    runs = [run_record(4, run=name, **KINDS[kind]) for name, kind in zip(names, kinds, strict=False)]

    assert [one.run for one in counting(runs)] == [f"4-tomcat-platform{end}" for end in counts]
    assert try_notes(runs) == snapshot


def swept(folder: Path, **changes: Any) -> Path:
    """A sweep of two approaches at two loads, of which no run was made."""
    asked: dict[str, Any] = {"verb": "sweep", "connections": (5, 9), "repeats": 1}
    order = planned(folder, **(asked | {"approaches": ["jetty-virtual", "tomcat-virtual"]} | changes))
    made = folder / "results" / order.experiment
    (made / "runs").mkdir(parents=True)
    write_json(order_file(made), order)
    return made


def make(folder: Path, name: str, is_spoilt: bool) -> None:
    """As the host's shell would: measured and judged."""
    request = read_order(folder).run(name).request
    run_dir = folder / "runs" / name
    (run_dir / "raw").mkdir(parents=True)
    write_json(run_dir / "raw" / "request.json", request.model_copy(update={"started": 1.8e9, "finished": True}))
    told: Run = run_record(
        1, run=name, approach=request.approach, cell=request.cell, repeat=request.repeat, load=request.load,
        gc_name=request.gc, **KINDS["spoilt" if is_spoilt else "valid"],
    )  # fmt: skip
    write_json(run_dir / "run.json", told)
    set_state(run_dir, "judged")


def make_all(folder: Path, spoilt_place: int) -> str:
    """All but that one undisturbed; its name."""
    for place, name in enumerate(names(folder)):
        make(folder, name, is_spoilt=place == spoilt_place)
    return names(folder)[spoilt_place]


def names(folder: Path) -> list[str]:
    return [run.run for run in read_order(folder).runs]


@pytest.mark.parametrize(("verb", "is_spoilt"), [("sweep", False), ("ab", True)])
def test_other_runs_are_not_made_again(tmp_path: Path, verb: str, is_spoilt: bool) -> None:
    folder = swept(tmp_path, verb=verb, connections=5)
    first = names(folder)[0]
    make(folder, first, is_spoilt)

    assert try_again(folder / "runs" / first)[1] == []
    assert len(names(folder)) == 2


def test_the_host_is_told_next_try_and_time_that_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = swept(tmp_path)
    first, second, *_ = names(folder)
    make(folder, first, is_spoilt=True)
    set_state(folder / "runs" / second, "running")

    assert exit_code("again", str(folder / "runs" / first)) == 0

    told, again = capsys.readouterr(), read_order(folder).runs[0]
    assert told.out.startswith(f"run {first}-try-2 {again.request.approach} ")
    assert told.out.endswith(f" EXPECTED_S={3 * (again.expected_s or 0)} LONGEST_S={3 * (again.longest_s or 0)}\n")
    assert told.err == f"The host disturbed {first}, which is measured again: {first}-try-2\n"


def test_both_tries_are_shown_and_the_last_one_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = swept(tmp_path)
    second = make_all(folder, 1)
    try_again(folder / "runs" / second)
    make(folder, f"{second}-try-2", is_spoilt=False)

    assert exit_code("summarise", str(folder)) == 0

    runs = Summary.model_validate_json((folder / "summary.json").read_text()).runs
    assert replaced(runs) == {second}
    assert [run.run for run in runs][1:3] == [second, f"{second}-try-2"]
    note = f"The host disturbed {second}, so it was measured once more: only {second}-try-2 counts."
    assert note in " ".join(capsys.readouterr().out.split())
    assert note in (folder / "summary.md").read_text()


def test_a_next_try_that_was_not_planned_in_time_is_made_by_a_resumption_with_its_whole_block(tmp_path: Path) -> None:
    folder = swept(tmp_path)
    second = make_all(folder, 1)

    assert unfinished(folder.parent, "latest") == folder
    kept = (folder / "runs" / names(folder)[2] / "run.json").read_bytes()
    assert [run.run for run in resume(folder).runs if run.state == "planned"] == names(folder)[:2]
    for name in names(folder)[:2]:
        make(folder, name, is_spoilt=name == second)
    for tried in (second, f"{second}-try-2"):
        _, (found,) = try_again(folder / "runs" / tried)
        make(folder, found.run, is_spoilt=True)
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

    while left := [run for run in read_order(folder).runs if run.state == "planned"]:
        # Of pairs, a block at once.
        block = [run.run for run in left if run.block == left[0].block and left[0].request.partner] or [left[0].run]
        for name in block:
            may_be_killed()
            set_state(folder / "runs" / name, "running")
            may_be_killed()
            make(folder, name, name in spoils)
        for name in block:
            may_be_killed()
            try_again(folder / "runs" / name)


IN_TURN = {"tool": "users", "approaches": ["tomcat-platform", "tomcat-virtual"]}


@settings(max_examples=settings().max_examples // 4)  # of a second each
@given(
    seed=st.integers(0, 10**6), spoilt_share=st.sampled_from([0.0, 0.3, 1.0]), killed_share=st.floats(0, 0.1),
    asked=st.sampled_from([{}, IN_TURN]),
)  # fmt: skip
def test_a_sweep_that_is_killed_at_any_moment_resumes_to_the_same_set_of_runs(
    seed: int, spoilt_share: float, killed_share: float, asked: dict[str, Any]
) -> None:
    draw = random.Random(seed)  # noqa: S311 - moments, no secret
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        whole, cut = swept(Path(one), **asked), swept(Path(other), **asked)
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
    folder = swept(tmp_path, twin=True)
    own = [one.run for one in read_order(folder).runs if (one.block, one.request.approach) == (1, "jetty-virtual")]
    for name in own:
        make(folder, name, is_spoilt=True)

    found = [try_again(folder / "runs" / name)[1] for name in own]

    assert len(own) == 2
    assert [[run.run for run in one] for one in found] == [[f"{name}-try-2"] for name in own]


def test_a_pair_that_the_host_disturbed_is_made_again_as_a_block_once_for_all_of_its_runs(tmp_path: Path) -> None:
    folder = swept(tmp_path, tool="users", approaches=["tomcat-platform", "tomcat-virtual"], repeats=2)
    block = names(folder)[:4]
    for name in block:
        make(folder, name, is_spoilt=name != block[3])

    found = [[run.run for run in try_again(folder / "runs" / name)[1]] for name in block]

    assert found == [[f"{name}-try-2" for name in block], [], [], []]
    assert names(folder)[4:8] == found[0]
    assert {run.block for run in read_order(folder).runs[4:8]} == {1}


def test_neither_side_of_a_try_counts_in_which_one_was_spoilt(tmp_path: Path) -> None:
    names = ["1-a", "2-b", "1-a-try-2", "2-b-try-2"]
    kinds = ["valid", "spoilt", "late", "valid"]
    runs = [
        run_record(1, run=name, approach=name[2], partner="ab".replace(name[2], ""), **KINDS[kind])
        for name, kind in zip(names, kinds, strict=True)
    ]
    fine = {"repeat": 2, "verdict": "valid", "rules": []}
    runs += [run.model_copy(update=fine | {"run": f"3-{run.approach}"}) for run in runs[:2]]
    summary = summarise(experiment(tmp_path, runs), interrupted=False)
    spoil_partners(runs)

    assert replaced(runs) == replaced(summary.runs) == {"1-a", "2-b"}
    assert [run.verdict for run in runs] == ["invalid", "invalid", "invalid", "valid", "valid", "valid"]
    assert "the run of b" in runs[0].reasons[0]


def test_the_pair_that_lacks_a_run_is_made_again_and_no_other(tmp_path: Path) -> None:
    four = ["tomcat-platform", "tomcat-virtual", "webflux-netty", "virtual-netty"]
    folder = swept(tmp_path, tool="users", approaches=four, repeats=2)
    every = names(folder)
    for name in every[1:]:
        make(folder, name, is_spoilt=False)

    assert [run.run for run in resume(folder).runs if run.state == "planned"] == every[:4]


def test_at_a_later_load_each_side_goes_on_from_its_own_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, seen = swept(tmp_path, **IN_TURN), []

    class Told:
        def __init__(self, sides: list[Measurement], _: object) -> None:
            self.sides = sides

        def run(self) -> bool:
            before = [(one.request.name, one.earlier and one.earlier.request.name) for one in self.sides]
            return not seen.extend(before)  # type: ignore[func-returns-value]

    monkeypatch.setattr(measuring, "Pair", Told)
    monkeypatch.setattr(Measurement, "live", None)
    measuring.measure([folder / "runs" / name for name in names(folder)])

    assert [earlier for _, earlier in seen] == [None, None, *(service for service, _ in seen[2:])]
