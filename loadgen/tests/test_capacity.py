"""How much a service holds: what is planned, the search of a process whose capacity is known, and its sentences."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loads import load_of, rate, request_of
from loomlab.answer.capacity import capacity_lines
from loomlab.answer.comparisons import compared
from loomlab.answer.figures import CAPACITY
from loomlab.answer.gate import outcomes_of
from loomlab.answer.loads import load_groups
from loomlab.basics.errors import UsageError
from loomlab.cli import measuring
from loomlab.plan.planning import command_of, plan, shell_lines
from loomlab.records.capacity import LONGEST_TRIAL_S, Capacity, Objective, Search, Trial
from loomlab.records.contrasts import Comparison, Contrast
from loomlab.records.files import RunFiles, read_record, write_json
from loomlab.records.models import Request, Run, Summary
from loomlab.records.order import Order, order_file, read_order
from loomlab.run.measure import Measurement
from loomlab.run.search import LONGEST_REST_S, CapacitySearch
from loomlab.run.staircase import rate_of, rung_of
from ordered import STAMP, TWO_CPUS, lab_in
from report_folder import run_of
from saying import STOLEN, figures

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
        ({"SLO": "errors<5%"}, {"5", "1", "30"}),
        ({"SLO": "p99<1100ms", "DELAY": "uniform:200:400"}, {"1100", "1121", "1458"}),
        ({"SLO": "p99<1500ms", "DELAY": "lognormal:300:900"}, {"1500", "1869", "2431"}),
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
    cost_ms: float | None = None  # at the end of its warm-up

    def __post_init__(self) -> None:
        self.files = RunFiles(self.run_dir)
        self.files.raw.mkdir(parents=True, exist_ok=True)
        self.stop = SimpleNamespace(requested=False)
        self.progress = SimpleNamespace(show=lambda *_: None, say=lambda *_: None)
        self.live = SimpleNamespace(phase=lambda *_: None, follow=lambda *_: None)
        burst = SimpleNamespace(cpu_s=self.cost_ms, jit_cpu_s=0.0, requests=1000)
        self.warmup = SimpleNamespace(bursts=[burst] if self.cost_ms else [])
        self.endpoint = SimpleNamespace(mean_ms=900.0)
        self.approach = SimpleNamespace(process=lambda: SimpleNamespace(cpus=1, inflight=9 * self.is_stuck()))

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
    folder: Path, known_rps: float | None = None, limited: bool = False, search: Search = SEARCH, **process: Any
) -> tuple[Any, Capacity]:
    """Runs of one process and what its search found; `limited`: by the generator."""
    load = load_of(rate(1500, 10), 2700)
    requests = [request_of(load, search=search, capacity_share=1.0)]
    requests += [request_of(load_of(rate(1500, 20), 2700), capacity_share=share) for share in (0.5, 1.1)]
    runs = [Process(request, folder / f"{number}-app", **process) for number, request in enumerate(requests, 1)]

    def judged(files: RunFiles, _: Search) -> Trial:
        offered = float((files.raw / "tool.json").read_text())
        outcome = "held" if offered <= runs[0].holds_rps else "failed"
        return Trial.model_validate(
            {"rate_rps": offered, "outcome": outcome, "started": 1, "gave_out": "its CPU", "elsewhere": limited}
        )

    of_process = CapacitySearch(cast(list[Measurement], runs), cast(Callable[..., Trial], judged), known_rps)
    assert of_process.run()
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


def test_where_only_the_warm_up_is_known_a_process_begins_at_half_of_its_cpu(tmp_path: Path) -> None:
    _, found = searched(tmp_path, cost_ms=2.0)

    assert found.trials[0].rate_rps == rate_of(rung_of(250))


@pytest.mark.parametrize("damaged", [False, True])
def test_a_search_begins_by_the_first_that_found_something_and_what_was_not_made_is_planned_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    order = order_of(tmp_path / "lab", REPEATS="3", SEED="1")
    folder = tmp_path / order.experiment
    folder.mkdir()
    write_json(order_file(folder), order)
    dirs = [folder / "runs" / one.run for one in order.runs]
    runs = [
        SimpleNamespace(request=one.request, run_dir=path, files=RunFiles(path))
        for one, path in zip(order.runs, dirs, strict=True)
    ]
    for run in runs:
        run.files.raw.mkdir(parents=True)
    for run, rps in ((runs[0], None), (runs[4], 700.0)):
        write_json(run.files.capacity, Capacity(objectives=OBJECTIVES, rps=rps))
    if damaged:
        runs[0].files.capacity.write_text("{")
    known: list[float | None] = []

    def search(own: Any, _: object, known_rps: float | None) -> Any:
        known.append(known_rps)
        return SimpleNamespace(run=lambda: own[0].files.tool.write_text("{}"))

    monkeypatch.setattr(measuring, "CapacitySearch", search)
    assert measuring._search(cast(Any, runs[8:]))

    assert known == [700]
    states = {run.run: run.state for run in read_order(folder).runs}
    assert [states.get(run.run_dir.name) for run in runs[8:]] == ["finished", None, None, None]


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
    runs, found = searched(tmp_path, stuck_after=700.0)

    assert not any(run.offered for run in runs[1:])
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


@pytest.mark.parametrize(("trial_s", "below_ms", "least_s"), [(300, 1200, 300), (10, 12_000, 18)])
def test_trials_last_as_long_as_was_asked_for_and_as_slow_answers_need(
    trial_s: int, below_ms: float, least_s: int, tmp_path: Path
) -> None:
    objectives = [Objective(figure="p99", below=below_ms)]
    search = SEARCH.model_copy(update={"trial_s": trial_s, "objectives": objectives})
    runs, _ = searched(tmp_path, search=search)
    assert {one.load.shape.duration_s >= least_s for one in runs[0].asked} == {True}


def run_with(name: str, block: int, rps: float | None, **capacity: Any) -> Run:
    found = Capacity(objectives=OBJECTIVES, rps=rps, **capacity)
    load = load_of(rate(rps or 1, 10), 100)
    return run_of(name, block, load=load, cell=1, run=f"{block}-{name}", capacity=found, capacity_share=1.0)


def test_sentences_tell_the_median_its_interval_and_what_gave_out() -> None:
    """ln 700 ± (t(5) × 0.0266 / √6 + ln 1.025 / 2); another search's is √2 times as far off."""
    rates = [683.0, 717.0, 683.0, 717.0, 683.0, 717.0]
    runs = [run_with("app", block, rps, failed_rps=740, gave_out="its CPU") for block, rps in enumerate(rates, 1)]
    holds, pays = capacity_lines(runs, [])

    assert {"700", "1,200", "0.1", "95", "672", "729", "6", "2.5", "5.86"} <= figures(holds)
    assert "its CPU" in holds and "at least" not in holds
    assert "3,628" in figures(pays)


def test_a_process_that_was_searched_again_is_one() -> None:
    runs = [run_with("app", block, 700.0 + block, failed_rps=740) for block in range(1, 7)]
    first = runs[0].model_copy(update={"verdict": "invalid", "rules": [STOLEN]})
    again = runs[0].model_copy(update={"run": f"{first.run}-try-2"})
    assert capacity_lines([first, again, *runs[1:]], []) == capacity_lines(runs, [])


@pytest.mark.parametrize(("rps", "result"), [(780.0, "within"), (720.0, "unresolved"), (600.0, "beyond")])
def test_a_limit_on_capacity_holds_what_processes_of_two_sides_hold_against_each_other(
    rps: float, result: str, tmp_path: Path
) -> None:
    order = order_of(tmp_path, A="POOL=5", B="POOL=20", FAIL="capacity_rps<-10%", REPEATS="3")
    a, b = order.sides
    runs = [
        run_with(name, block, holds + 8 * block * (name == b), failed_rps=900, gave_out="its CPU")
        for block in (1, 2, 3)
        for name, holds in ((a, 800.0), (b, rps))
    ]
    summary = Summary(
        experiment="c", started=None, finished="then", notes=[], environment={}, runs=runs,
        contrasts=[Contrast(a=b, b=a, kind="settings", differs=[])],
    )  # fmt: skip
    (got,) = outcomes_of(summary, order)
    assert (got.result, got.side) == (result, b)


def test_what_something_else_limited_is_a_lower_bound() -> None:
    runs = [
        run_with("app", 1, 1500, failed_rps=1600, at_least=True, gave_out="the load generator"),
        run_with("app", 2, 1400),
    ]
    assert "at least" in capacity_lines(runs, [])[0]
    assert "the load generator" in capacity_lines(runs, [])[0]


def test_of_a_search_that_ended_early_it_is_not_said_that_nothing_gave_out() -> None:
    holds, _, early = capacity_lines([run_with("app", 1, 300, at_least=True, cut_off="it hangs")], [])
    assert ("Nothing gave out" in holds, "it hangs" in early) == (False, True)


def test_an_approach_that_held_nothing_has_a_sentence() -> None:
    trial = Trial(rate_rps=3, outcome="failed", started=1)
    (sentence,) = capacity_lines([run_with("app", 1, None, trials=[trial])], [])
    assert "3" in figures(sentence)


def test_of_a_search_that_does_not_count_it_is_not_said_that_nothing_was_held() -> None:
    run = run_with("app", 1, 700, trials=[Trial(rate_rps=700, outcome="held", started=1)])
    (sentence,) = capacity_lines([run.model_copy(update={"verdict": "invalid"})], [])
    assert figures(sentence) == set()


def compared_by_capacity(a: list[float | None], b: list[float | None], at_least: float = 1e9) -> Comparison:
    """By what their processes hold; from `at_least` on something else gave out."""
    runs = [
        run_with(name, block, rps, at_least=bool(rps and rps >= at_least))
        for name, own in (("a", a), ("b", b))
        for block, rps in enumerate(own, 1)
    ]
    contrast = Contrast(a="a", b="b", kind="controlled", differs=[])
    (found,) = compared(CAPACITY, [contrast], load_groups(runs), None)
    return found


def test_capacities_a_step_apart_may_be_alike() -> None:
    """A process that holds almost the next step is told as one that holds the last."""
    assert compared_by_capacity([700.0] * 6, [700 / 1.024] * 6).word == "no difference"
    assert compared_by_capacity([800.0] * 6, [700.0] * 6).word == "higher"


def test_what_a_search_could_not_find_out_decides_nothing() -> None:
    """The processes that hold most are lower bounds; and those that hold nothing have no figure."""
    exact: list[float | None] = [700, 705, 710, 702, 708, 703]
    some: list[float | None] = [640, 645, 650]
    assert compared_by_capacity([*some, 642.0, 648.0, 644.0], exact).word == "lower"
    assert compared_by_capacity([*some, 900.0, 900.0, 900.0], exact, at_least=900).word == "not significant"
    assert compared_by_capacity([*some, None, None, None], exact).word == "not significant"


def test_loads_are_shares_of_capacity() -> None:
    runs = [run_with("app", 1, 700)]
    runs += [run.model_copy(update={"cell": 2, "capacity_share": 0.5, "capacity": None}) for run in runs]

    assert [(group.label, group.amount) for group in load_groups(runs)] == [("50 % of capacity", 50), ("capacity", 100)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("not significant", "lower", "lower", "lower"), "80 % of capacity on: a needs less"),
        (("higher", "higher", "higher", "higher"), "50 % of capacity on: a needs more"),
        (("lower", "higher", "lower", "lower"), "from capacity on: a needs less"),
        (("lower", "lower", "lower", "equivalent"), "found from which on a and b differ in CPU per request."),
    ],
)
def test_two_differ_from_the_smallest_load_above_which_all_words_are_alike(words: tuple[Any, ...], told: str) -> None:
    loads = ("50 % of capacity", "80 % of capacity", "capacity", "110 % of capacity")
    plain = {"cell": 1, "margin": 0.1, "blocks": [], "dropped": [], "effect": 1.0, "low": 0.9, "high": 1.1}
    plain |= {"coarse": False, "p_value": 0.5, "figure": "CPU per request", "sentence": ""}
    made = [Comparison(load=load, word=word, **plain) for load, word in zip(loads, words, strict=True)]
    others = [Comparison(load=load, word="lower", **plain) for load in ("2,000 connections", "capacity of x")]
    contrast = Contrast(a="a", b="b", kind="controlled", differs=[], comparisons=[*made, *others])

    assert told in capacity_lines([], [contrast])[0]
    assert capacity_lines([], [contrast.model_copy(update={"comparisons": others})]) == []
    unknown = made[-1].model_copy(update={"effect": None, "word": "not significant"})
    without = contrast.model_copy(update={"comparisons": [*made[:-1], unknown]})
    assert capacity_lines([], [without]) == capacity_lines([], [contrast.model_copy(update={"comparisons": made[:-1]})])
