"""Published benchmarks: which experiments are missing, the runs that answer them, and what is said of claims."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abouts import PLAIN
from loomlab.answer.summary import finish
from loomlab.basics.errors import HostError
from loomlab.cli import main
from loomlab.judge.rules import RULES
from loomlab.plan.host import Host, Lab
from loomlab.plan.planning import plan
from loomlab.published.benchmark import (
    Benchmark,
    claimed_figures,
    keep,
    missing_steps,
    read_benchmark,
    read_benchmarks,
    runs_in,
)
from loomlab.records.files import write_json
from loomlab.records.models import Run, Summary
from loomlab.records.order import PlannedRun, State, changing, order_file, read_order
from ordered import APPROACHES, SCENARIOS, TWO_CPUS, lab_in
from report_folder import edit
from test_published_answers import RATIO, VALUE, run, small
from test_strangers import made

PUBLISHED = Path(__file__).parent.parent / "published"
HEY, SPRING = "virtual-threads-hey", "spring-boot-edition"
FIGURE = "throughput_rps"
K6 = "loom-webflux-benchmarks"
LARGE = Host(cpus=8, memory_mb=64_000, open_files=500_000, cpu_order=[*range(8)], free_mb=100_000)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A checkout with the benchmarks, without what was measured of them."""
    lab = lab_in(tmp_path)
    lab.published.parent.mkdir()
    (lab.published.parent / "scenarios").symlink_to(SCENARIOS)
    shutil.copytree(PUBLISHED, lab.published, ignore=shutil.ignore_patterns("measured"))
    (lab.published / "measured").mkdir()
    return lab


def begun(lab: Lab, results: Path, state: State = "judged", **variables: str) -> Path:
    """An experiment, all of whose runs but the first are in that state, a day later than the one before; with its
    summary, if all were judged."""
    asked = {"BENCHMARK": HEY, "NAME": HEY, "SCALE": "auto", "DURATION": "60s", "REPEATS": "3", "SEED": "1"} | variables
    stamp = f"202601{len([*results.glob('*/order.json')]) + 1:02}T000000Z"
    order = plan(lab.asked("scenario", asked), TWO_CPUS, lab, stamp)
    for number, planned in enumerate(order.runs):
        planned.state = state if number else "judged"
    folder = results / order.experiment
    folder.mkdir(parents=True)
    write_json(order_file(folder), order)
    if state == "judged":
        told: dict[str, Any] = {"started": None, "finished": None, "notes": [], "environment": {}}
        write_json(folder / "summary.json", Summary(experiment=folder.name, runs=[*map(run_of, order.runs)], **told))
    return folder


def run_of(planned: PlannedRun, **fields: Any) -> Run:
    """A valid run that was measured, as one of that load."""
    names = ("approach", "tool", "scenario", "cell", "repeat", "jdk", "load")
    changes = {name: getattr(planned.request, name) for name in names} | {"run": planned.run, "verdict": "valid"}
    return PLAIN.model_copy(update=changes | {"rules": []} | fields)


def results_of(lab: Lab) -> Path:
    return lab.root / "results"


def missing(lab: Lab, name: str = HEY, host: Host = TWO_CPUS, **given: str) -> list[tuple[str, dict[str, str]]]:
    """Verb and settings of each."""
    lines, _ = missing_steps(read_benchmark(lab.published, name), given, results_of(lab), host, lab)
    return [(line.split()[0], dict(word.split("=", 1) for word in line.split()[1:])) for line in lines]


def test_a_benchmarks_experiments_last_a_minute_in_three_blocks(lab: Lab) -> None:
    steps = {settings["NAME"]: settings for _, settings in missing(lab, K6)}

    assert [*steps] == read_benchmark(lab.published, K6).scenarios
    assert {(one["DURATION"], one["BENCHMARK"]) for one in steps.values()} == {("60s", K6)}
    assert {name: one["REPEATS"] for name, one in steps.items() if one["REPEATS"] != "3"} == {"smoketest": "1"}


@pytest.mark.parametrize(("host", "scales"), [(TWO_CPUS, ["0.38", "0.16", "auto"]), (LARGE, ["1", "0.64", "auto"])])
def test_a_benchmarks_scale_grows_with_the_cpus_up_to_the_whole(lab: Lab, host: Host, scales: list[str]) -> None:
    steps = {settings["NAME"]: settings for _, settings in missing(lab, K6, host)}
    names = ("25k-vus-smooth-spike-get-movies", "60k-vus-smooth-spike-get-post-movies", "5k-vus-and-rps-get-time")
    assert [steps[name]["SCALE"] for name in names] == scales


def test_what_the_user_asks_for_goes_before_what_the_benchmark_says(lab: Lab) -> None:
    asked: dict[str, Any] = {"DURATION": "30s", "REPEATS": "7", "HTTP_CLIENT": "jdk"}
    scenario, *others = missing(lab, SPRING, SCALE="0.1", PLAN="1", **asked)

    of_scenario = {"BENCHMARK": SPRING, "NAME": "project-loom-comparison-spring", "SCALE": "0.1"}
    assert scenario == ("scenario", asked | of_scenario)
    of_load = {"APPROACH": "tomcat-virtual", "CONCURRENCY": "50", "ENDPOINT": "/pinned", "JDK": "25"}
    assert others[-1] == ("run-ab", asked | of_load | {"BENCHMARK": SPRING})


@pytest.mark.parametrize(
    ("others", "repeats"),
    [
        ([{"REPEATS": "2"}], ["1"]),
        ([{"REPEATS": "2"}, {"REPEATS": "1", "SEED": "7"}], []),
        ([{"DURATION": "30s"}, {"SCALE": "0.5"}, {"GC": "g1"}, {"BENCHMARK": ""}], ["3"]),
    ],
)
def test_blocks_of_same_demand_are_not_made_again(lab: Lab, others: list[dict[str, Any]], repeats: list[str]) -> None:
    for other in others:
        begun(lab, results_of(lab), **other)
    assert [settings["REPEATS"] for _, settings in missing(lab)] == repeats


def test_what_was_cut_off_goes_on_first(lab: Lab) -> None:
    folder = begun(lab, results_of(lab), "planned", REPEATS="2")

    first, (verb, settings) = missing(lab)
    assert first == ("finish", {"RESUME": folder.name})
    assert (verb, settings["REPEATS"]) == ("scenario", "1")


def test_what_only_looks_as_if_it_had_been_cut_off_here_does_not_go_on(lab: Lab) -> None:
    edit(order_file(begun(lab, results_of(lab), "planned")), lambda order: order.update(lab_sha256=None))
    assert [(verb, settings["REPEATS"]) for verb, settings in missing(lab)] == [("scenario", "3")]


def test_a_folder_whose_name_is_no_word_gives_the_shell_no_line(lab: Lab) -> None:
    begun(lab, results_of(lab), "planned").rename(results_of(lab) / "x\nBASH_ENV=results")
    assert [verb for verb, _ in missing(lab)] == ["scenario"]


def test_what_a_host_cannot_hold_is_told(lab: Lab) -> None:
    few, none = (TWO_CPUS.model_copy(update={"open_files": files}) for files in (1500, 60))
    benchmark = read_benchmark(lab.published, SPRING)

    lines, sentences = missing_steps(benchmark, {}, results_of(lab), few, lab)
    assert sum(sentence.startswith("note: run-ab is left out: CONCURRENCY=1000") for sentence in sentences) == 2
    assert sentences[-1].startswith(f"{SPRING}: {len(lines)} experiments, about ")
    with pytest.raises(HostError, match="is left out"):
        missing_steps(benchmark, {}, results_of(lab), none, lab)


@pytest.mark.parametrize(
    ("words", "printed"),
    [(["reproduce", HEY], f"NAME={HEY}"), (["claims", HEY], "it was not run"), (["published"], SPRING)],
)
def test_commands_print(lab: Lab, capsys: pytest.CaptureFixture[str], words: list[str], printed: str) -> None:
    options = ["--loadgen", str(lab.published.parent)] + (["--results", str(lab.root)] if HEY in words else [])
    with pytest.raises(SystemExit, match=r"^0$"):
        main([*words, *options])

    assert printed in capsys.readouterr().out


@pytest.mark.parametrize("benchmark", read_benchmarks(PUBLISHED), ids=lambda benchmark: benchmark.name)
def test_benchmarks_name_what_there_is_and_every_load_was_measured(benchmark: Benchmark) -> None:
    line, files = f"experiment: {benchmark.name}\n", SCENARIOS.glob("*.yaml")
    assert {*benchmark.scenarios} == {file.stem for file in files if line in file.read_text()}
    assert {*benchmark.scenarios} <= {one.load for one in benchmark.kept}
    for claim in benchmark.claims:
        own = [one for one in benchmark.kept if one.load in (claim.loads or benchmark.scenarios)]
        assert {*claim.loads} <= {one.load for one in own}
        assert {*claim.figures} <= {figure for one in own for figure in one.figures}
        assert {side.partition(" on JDK ")[0] for side in [*claim.of, claim.to] if side} <= {*APPROACHES}
        assert {*claim.despite} <= {rule.name for rule in RULES}


def test_what_was_published_once_is_held_against_each_and_what_was_not_has_no_value() -> None:
    growth = VALUE | {"from_level": 100}
    figures = {(FIGURE, "tomcat-virtual", 100): [30, 60], (FIGURE, "tomcat-platform", 100): [20]}
    benchmark = small(RATIO, VALUE, growth, figures=figures | {(FIGURE, "tomcat-virtual", 200): [80]})
    cases = [(0, 100, (1.5, 3)), (0, 200, ()), (1, 100, (30, 60)), (2, 200, (0.5,))]

    for number, level, values in cases:
        claim = benchmark.claims[number]
        assert benchmark.values(claim, FIGURE, claim.sides("tomcat-virtual", level)) == values
    assert benchmark.values(benchmark.claims[1], FIGURE, [("tomcat-virtual on JDK 21", 100)]) == ()


def test_runs_of_results_have_their_published_level_and_what_was_run(lab: Lab) -> None:
    results, benchmark = results_of(lab), read_benchmark(PUBLISHED, SPRING)
    of_benchmark: dict[str, Any] = {"BENCHMARK": SPRING, "NAME": "project-loom-comparison-spring"}
    of_benchmark |= {"SCALE": "0.01", "REPEATS": "1"}
    folder = begun(lab, results, **of_benchmark)
    begun(lab, results, "planned", **of_benchmark)
    begun(lab, results, BENCHMARK="", NAME="smoketest")
    begun(lab, results, **of_benchmark, GC="g1").rename(results / "20250101T000000Z-older")

    with pytest.warns(UserWarning, match="is left out: 0 of 1 blocks are made"):
        runs = runs_in(results, benchmark, SCENARIOS)
    assert {(one.level, one.amount) for one in runs} == {(n, n / 100) for n in (1000, 5000, 10000, 15000, 20000)}
    assert {(one.experiment, one.load) for one in runs} == {(folder.name, of_benchmark["NAME"])}
    assert len(runs) == 15
    assert runs[0].figures["latency_ms.p50"] > 0


def test_figures_that_run_json_does_not_have_are_derived(lab: Lab) -> None:
    planned = read_order(begun(lab, results_of(lab))).runs[0]
    counts = {"requests": 60_000, "errors": 600, "failures": {"time-out": 300, "503": 300}}
    measured = run_of(planned, **counts, duration_s=60.0, rate=2000.0, cpu_seconds=25.0)
    shares = {"error_share": 0.01, "time_outs": 300, "time_out_share": 0.005, "rate_share": 0.495}
    assert measured.interior

    assert claimed_figures(measured, shares, 1) == shares
    cpu_share = 25 / measured.interior.seconds / 2
    assert claimed_figures(measured, ["cpu_share"], 2) == pytest.approx({"cpu_share": cpu_share}, rel=1e-5)
    unknown = measured.model_copy(update={"failures": {}, "cpu_seconds": None})
    assert claimed_figures(unknown, ["cpu_share", "time_outs", "latency_ms.p50.no", "nothing"], 2) == {}


def test_kept_runs_are_replaced_by_newer_ones_of_their_load(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = run("tomcat-virtual", 1, 1, load="ab /pinned", figures={"error_share": 0.5}, failed="gc_heavy")
    old = [pinned, run("tomcat-virtual", 1, 1, load=HEY)]
    keep(lab.published, read_benchmark(lab.published, HEY), old)
    assert read_benchmark(lab.published, HEY).kept == old

    folder = begun(lab, results_of(lab))
    monkeypatch.setattr("loomlab.cli.planning.this_host", lambda _: TWO_CPUS)
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["keep-published", HEY, "--loadgen", str(lab.published.parent), "--results", str(results_of(lab))])
    first, *kept = read_benchmark(lab.published, HEY).kept
    assert first == pinned
    assert [(one.load, one.experiment) for one in kept] == [(HEY, folder.name)] * 12


def measured_on(host: dict[str, Any]) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "order.json", lambda order: order["host"].update(host))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda folder: (folder / "summary.json").write_text("{"), "damaged"),
        (measured_on({"cpus": 4}), "another host"),
        (measured_on({"cpu_model": "EPYC"}), "another host"),
    ],
)
def test_what_is_damaged_or_another_hosts_is_left_out(tmp_path: Path, change: Callable[[Path], Any], why: str) -> None:
    one = small(VALUE)
    folder, whole = made(tmp_path), made(tmp_path, "20260102T000000Z")
    for each in (folder, whole):
        finish(each)
        with changing(each) as order:
            order.benchmark = one.name
    change(folder)

    with pytest.warns(UserWarning, match=f"{folder.name} is left out: .*{why}"):
        runs = runs_in(folder.parent, one, SCENARIOS, TWO_CPUS)

    assert [run.experiment for run in runs] == [whole.name]
    assert runs[0].figures["throughput_rps"] == pytest.approx(21.7, rel=0.05)
