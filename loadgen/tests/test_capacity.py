"""How much a service holds: what is planned, the search of a process whose capacity is known, and its sentences."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loads import load_of, rate, request_of
from loomlab.answer.capacity import capacity_lines
from loomlab.answer.loads import load_groups
from loomlab.basics.errors import UsageError
from loomlab.plan.planning import command_of, plan, shell_lines
from loomlab.records.capacity import LONGEST_TRIAL_S, Capacity, Objective, Search, Trial
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.files import RunFiles, read_record
from loomlab.records.models import Request, Run
from loomlab.records.order import Order
from loomlab.run.measure import Measurement
from loomlab.run.search import LONGEST_REST_S, CapacitySearch
from loomlab.run.staircase import FAILURES, MOST_SPOILT, Staircase, rate_of, rung_of
from ordered import STAMP, TWO_CPUS, lab_in
from report_folder import run_of
from saying import figures

SLO = "p99<1200ms,errors<0.1%"
OBJECTIVES = [Objective(figure="p99", below=1200), Objective(figure="errors", below=0.001)]
SEARCH = Search(objectives=OBJECTIVES, start_rps=300, most_rps=1500, held_s=1.8, trial_s=10)


def order_of(folder: Path, **variables: str) -> Order:
    lab = lab_in(folder)
    asked = {"SLO": SLO, "APPROACH": "tomcat-virtual", "ENDPOINT": "/capabilities?cpuMicros=1000"} | variables
    return plan(lab.asked("capacity", asked), TWO_CPUS, lab, STAMP)


def test_a_process_is_searched_and_then_loaded_at_shares_of_what_it_holds(tmp_path: Path) -> None:
    order = order_of(tmp_path, APPROACH="tomcat-platform,tomcat-virtual", SEED="1")
    requests = [run.request for run in order.runs]

    assert order.experiment == f"{STAMP}-capacity"
    assert [one.capacity_share for one in requests[:4]] == [1.0, 0.5, 0.8, 1.1]
    assert [one.search is not None for one in requests[:4]] == [True, False, False, False]
    assert {one.repeat for one in requests} == set(range(1, 7))
    assert {one.tool for one in requests} == {"vegeta"}
    lines = [line for line in shell_lines(order) if line.startswith("run ")]
    assert len(lines) == 12
    assert lines[0].split()[2].split(",") == [order.runs[0].request.name] * 4
    assert command_of(order).startswith("make capacity ")
    assert 200 < sum(run.expected_s for run in order.runs) / 12 < 450  # a process


def test_a_search_stays_where_generator_files_and_pools_reach(tmp_path: Path) -> None:
    """The generator could send more than 1,333/s, which is twice what the approach is likely to hold."""
    run = order_of(tmp_path).runs[0]
    search = run.request.search

    assert search is not None
    assert (round(search.start_rps), round(search.most_rps), search.trial_s) == (267, 1333, 10)
    assert search.held_s == pytest.approx(1.8)
    # And for what piles up in 20 s at 110 %.
    assert run.request.load.connections == pytest.approx(1333 * (1.8 + 2.2), abs=3)
    assert run.settings["PLATFORM_THREADS"] == f"{run.request.load.connections}"


@pytest.mark.parametrize(
    ("variables", "numbers"),
    [
        ({"SLO": "p99.9<901ms"}, {"901", "900", "1170"}),
        ({"SLO": "p50<700ms", "DELAY": "uniform:200:400"}, {"700", "900"}),
        ({"SLO": "p99<1.2"}, {"1200", "0.1"}),
        ({"SLO": "p99<1200ms,p99<2s"}, {"1200", "0.1"}),
        ({"SLO": "p50<2s,p99<1s"}, {"2,000", "1,000"}),
        ({"SLO": "errors<5ms"}, {"5"}),
        ({"SLO": "p97<5s"}, {"5"}),
        ({"SLO": "p99<31s"}, {"31", "30"}),
        ({"SLO": "errors<60%"}, {"60", "50"}),
        ({"SLO": "p99.9<2s", "ENDPOINT": "/capabilities?cpuMicros=50000"}, {"120", "100"}),
    ],
)
def test_an_objective_without_sense_is_refused(variables: dict[str, str], numbers: set[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="SLO") as error:
        order_of(tmp_path, **variables)
    assert numbers <= figures(str(error.value))


@dataclass
class Process:
    """Stands in for a measurement of a process that holds so much, and what is kept of it."""

    request: Request
    run_dir: Path
    holds_rps: float = 700.0
    offered: list[float] = field(default_factory=list)
    stuck_after: float | None = None
    asked: list[Request] = field(default_factory=list)
    earlier: Any = None

    def __post_init__(self) -> None:
        self.files = RunFiles(self.run_dir)
        self.files.raw.mkdir(parents=True, exist_ok=True)
        self.stop = SimpleNamespace(requested=False)
        self.progress = SimpleNamespace(show=lambda *_: None, say=lambda *_: None)
        self.live = SimpleNamespace(phase=lambda *_: None, follow=lambda *_: None)
        self.warmup = SimpleNamespace(bursts=[])
        self.endpoint = SimpleNamespace(mean_ms=900.0)
        self.approach = SimpleNamespace(process=lambda: SimpleNamespace(cpus=1, inflight=9 if self.is_stuck else 0))

    @property
    def is_stuck(self) -> bool:
        return self.stuck_after is not None and any(one > self.stuck_after for one in self.offered)

    def begin(self) -> None: ...
    def wait_for_samples(self) -> None: ...
    def drain(self, longest_s: float) -> None:
        assert longest_s == LONGEST_REST_S

    def apply_load(self, _: Any) -> None:
        self.offered.append(self.request.load.rate_rps or 0)
        self.asked.append(self.request)
        (self.files.raw / "tool.json").write_text(f"{self.request.load.rate_rps}")

    def measure_memory(self, load: Any) -> None:
        assert load.connections == 2700

    def finish(self) -> None: ...


def searched(
    folder: Path, known_rps: float | None = None, limited: bool = False, **process: Any
) -> tuple[Any, Capacity]:
    """Runs of one process and what its search found; `limited`: by the generator."""
    load = load_of(rate(1500, 10), 2700)
    requests = [request_of(load, search=SEARCH, capacity_share=1.0)]
    requests += [request_of(load_of(rate(1500, 20), 2700), capacity_share=share) for share in (0.5, 1.1)]
    runs = [Process(request, folder / f"{number}-app", **process) for number, request in enumerate(requests, 1)]

    def judged(files: RunFiles, _: Search) -> Trial:
        offered = float((files.raw / "tool.json").read_text())
        outcome = "held" if offered <= runs[0].holds_rps else "failed"
        return Trial.model_validate(
            {"rate_rps": offered, "outcome": outcome, "started": 1, "gave_out": "its CPU", "elsewhere": limited}
        )

    search = CapacitySearch(cast(list[Measurement], runs), cast(Callable[..., Trial], judged), known_rps)
    assert search.run()
    found = read_record(runs[0].files.capacity, Capacity)
    assert found
    return runs, found


def test_a_process_is_searched_and_its_trial_at_capacity_becomes_the_run(tmp_path: Path) -> None:
    runs, found = searched(tmp_path)
    most = rate_of(rung_of(700))

    assert (found.rps, found.at_least, found.gave_out, found.cut_off) == (most, False, "its CPU", None)
    assert found.failed_rps == rate_of(rung_of(700) + 1)
    assert float(runs[0].files.tool.read_text()) == runs[0].request.load.rate_rps == most
    assert len(found.trials) == len(list((tmp_path / "1-app" / "trials").iterdir()))
    shares = [(run.request.load.rate_rps, run.request.load.connections) for run in runs[1:]]
    assert [one for one, _ in shares] == pytest.approx([0.5 * most, 1.1 * most], rel=1e-3)
    assert [connections for _, connections in shares] == pytest.approx([1.8 * 0.5 * most, 1.8 * 1.1 * most], rel=0.01)


def test_a_process_whose_like_is_known_begins_a_tenth_below_it(tmp_path: Path) -> None:
    runs, found = searched(tmp_path, known_rps=rate_of(rung_of(720)))

    assert found.trials[0].rate_rps == rate_of(rung_of(720) - 4)
    assert found.rps == rate_of(rung_of(700))
    assert len(runs[0].offered) <= 10


@pytest.mark.parametrize("holds", [1e9, 700.0])
def test_where_something_else_gives_out_it_holds_at_least_that(holds: float, tmp_path: Path) -> None:
    _, found = searched(tmp_path, holds_rps=holds, limited=True)

    assert found.at_least
    assert found.rps == rate_of(rung_of(min(holds, 1500)))


def test_a_process_that_holds_nothing_is_told_and_loaded_no_more(tmp_path: Path) -> None:
    runs, found = searched(tmp_path, holds_rps=0.5)

    assert (found.rps, found.at_least) == (None, False)
    assert min(trial.rate_rps for trial in found.trials) == 1
    assert [run.files.tool.exists() for run in runs] == [True, False, False]


def test_a_process_that_does_not_come_to_rest_ends_its_search(tmp_path: Path) -> None:
    _, found = searched(tmp_path, stuck_after=700.0)

    assert found.cut_off is not None and f"{LONGEST_REST_S}" in figures(found.cut_off)
    assert found.rps is not None and found.rps < 700
    assert [trial.outcome for trial in found.trials].count("failed") == 1


def test_trials_at_low_rates_last_until_there_are_enough_requests_above_a_percentile(tmp_path: Path) -> None:
    runs, _ = searched(tmp_path, holds_rps=5.0)
    lasted_s = {run.load.rate_rps: run.load.shape.duration_s for run in runs[0].asked}

    assert lasted_s[max(lasted_s)] == SEARCH.trial_s
    assert all(
        one >= 12 for rps, lasts_s in lasted_s.items() if (one := 0.01 * rps * lasts_s) and lasts_s < LONGEST_TRIAL_S
    )
    assert max(lasted_s.values()) == LONGEST_TRIAL_S


def search(start: int, holds: Callable[[int], bool | None], highest: int = 400) -> Staircase:
    stairs = Staircase(start, highest)
    while (rung := stairs.next) is not None:
        held = holds(rung)
        stairs.tell(rung, "spoilt" if held is None else "held" if held else "failed")
        assert len(stairs.tries) < 100
    return stairs


@pytest.mark.parametrize("rung", [0, 1, 7, 100, 265, 400])
def test_a_rate_is_on_the_rung_that_it_is_of(rung: int) -> None:
    assert rung_of(rate_of(rung)) == rung
    assert rung_of(rate_of(rung) * 1.02) == rung


@pytest.mark.parametrize("start", [0, 150, 264, 265, 266, 300, 399])
@pytest.mark.parametrize("most", [3, 264, 265, 268, 390])
def test_it_finds_the_highest_rung_that_is_held_wherever_it_starts(start: int, most: int) -> None:
    stairs = search(start, lambda rung: rung <= most)

    assert (stairs.held, stairs.failed) == (most, most + 1)


def test_a_rung_fails_by_two_trials_and_none_above_it_is_offered_then() -> None:
    stairs = search(250, lambda rung: rung <= 260)

    for place, (rung, outcome) in enumerate(stairs.tries):
        failed = [one for one, how in stairs.tries[:place] if how == "failed"]
        assert all(rung < one for one in failed if failed.count(one) >= FAILURES)
        if outcome == "failed" and failed.count(rung) == 0:
            assert stairs.tries[place + 1][0] == rung


def test_after_its_ramp_it_takes_ten_trials_at_most() -> None:
    for most in range(250, 300):
        stairs = search(254, most.__ge__)
        first = next(place for place, (_, outcome) in enumerate(stairs.tries) if outcome == "failed")
        assert len(stairs.tries) - first <= 10


def test_one_failure_does_not_decide() -> None:
    failed_once = set[int]()

    def holds(rung: int) -> bool:
        first = rung not in failed_once
        failed_once.add(rung)
        return rung <= 270 and not first

    assert search(250, holds).held == 270


def test_it_ends_where_nothing_failed_and_where_nothing_held() -> None:
    assert (search(250, lambda _: True, highest=275).held, search(250, lambda _: False).held) == (275, None)
    assert search(250, lambda _: True, highest=275).failed is None
    assert search(250, lambda _: False).tries[-2:] == [(0, "failed")] * FAILURES


def test_what_the_host_spoilt_says_nothing_until_it_is_too_much() -> None:
    spoilt = iter([True, False, True, False, False])
    stairs = search(250, lambda rung: None if next(spoilt, False) else rung <= 260)
    assert (stairs.held, stairs.spoilt) == (260, False)

    stairs = search(250, lambda _: None)
    assert (len(stairs.tries), stairs.held, stairs.spoilt) == (MOST_SPOILT, None, True)


def run_with(name: str, block: int, rps: float | None, **capacity: Any) -> Run:
    found = Capacity(objectives=OBJECTIVES, rps=rps, **capacity)
    load = load_of(rate(rps or 1, 10), 100)
    return run_of(name, block, load=load, cell=1, run=f"{block}-{name}", capacity=found, capacity_share=1.0)


def test_sentences_tell_the_median_its_interval_and_what_gave_out() -> None:
    """ln 700 ± t(5) × 0.0266 / √6."""
    rates = [683.0, 717.0, 683.0, 717.0, 683.0, 717.0]
    runs = [run_with("app", block, rps, failed_rps=740, gave_out="its CPU") for block, rps in enumerate(rates, 1)]
    holds, *_ = capacity_lines(runs, [])

    assert {"700", "1,200", "0.1", "95", "681", "720", "6", "2.5"} <= figures(holds)
    assert "its CPU" in holds and "at least" not in holds


def test_what_something_else_limited_is_a_lower_bound() -> None:
    runs = [
        run_with("app", 1, 1500, failed_rps=1600, at_least=True, gave_out="the load generator"),
        run_with("app", 2, 1400),
    ]
    assert "at least" in capacity_lines(runs, [])[0]
    assert "the load generator" in capacity_lines(runs, [])[0]


def test_an_approach_that_held_nothing_has_a_sentence() -> None:
    trial = Trial(rate_rps=3, outcome="failed", started=1)
    (sentence,) = capacity_lines([run_with("app", 1, None, trials=[trial])], [])
    assert "3" in figures(sentence)


def test_loads_are_shares_of_capacity() -> None:
    runs = [run_with("app", 1, 700)]
    runs += [run.model_copy(update={"cell": 2, "capacity_share": 0.5, "capacity": None}) for run in runs]

    assert [(group.label, group.amount) for group in load_groups(runs)] == [("50 % of capacity", 50), ("capacity", 100)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("not significant", "lower", "lower", "lower"), "80 % of capacity on: the first needs less"),
        (("higher", "higher", "higher", "higher"), "50 % of capacity on: the first needs more"),
        (("lower", "higher", "lower", "lower"), "from capacity on: the first needs less"),
        (("lower", "lower", "lower", "equivalent"), "not found to differ"),
    ],
)
def test_two_differ_from_the_smallest_load_above_which_all_words_are_alike(words: tuple[Any, ...], told: str) -> None:
    loads = ("50 % of capacity", "80 % of capacity", "capacity", "110 % of capacity")
    plain = {"cell": 1, "margin": 0.1, "blocks": [], "dropped": [], "effect": 1.0, "low": 0.9, "high": 1.1}
    plain |= {"coarse": False, "p_value": 0.5, "figure": "CPU per request"}
    made = [Comparison(load=load, word=word, **plain) for load, word in zip(loads, words, strict=True)]
    others = [Comparison(load=load, word="lower", **plain) for load in ("2,000 connections", "capacity of x")]
    contrast = Contrast(a="a", b="b", kind="controlled", differs=[], comparisons=[*made, *others])

    assert told in capacity_lines([], [contrast])[0]
    assert capacity_lines([], [contrast.model_copy(update={"comparisons": others})]) == []
