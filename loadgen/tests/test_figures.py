"""Each figure of a report is read from its own member of run.json, and drawn where it is."""

import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loomlab.report.curves import PERCENTILES
from loomlab.report.dots import dots, effect_rows

from loomlab.answer.figures import CPU, FIGURES, MOST_DECIMALS, P99, THREADS, number, ratio_text, spread
from loomlab.answer.loads import loads_of
from loomlab.answer.summary import STAND_IN_NOTE
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency
from loomlab.report.comparisons import comparisons, interval_text
from loomlab.report.doubts import doubts_of
from loomlab.report.folder import Experiment, read_experiment
from loomlab.report.opening import opening_of
from loomlab.report.palette import looks
from loomlab.report.table import run_rows
from loomlab.statistics.comparison import Interval, Pair
from report_folder import folder_of
from test_summary import run as run_record
from test_waiting import places


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return read_experiment(folder_of(tmp_path_factory.mktemp("results"), loads=(500, 2000), repeats=4))


def test_each_column_is_its_own_figure_in_its_unit() -> None:
    latency = Latency(p50=50, p66=66, p75=75, p80=80, p90=90, p95=95, p98=98, p99=99, p99_9=99.9, max=101)
    one = run_record(
        1, cpu_ms_per_request=1.5, throughput_rps=1000.0, started_rps=999.0, threads_max=77, platform_threads_peak=76,
        rss_max_bytes=3 * 2**20, rss_hwm_bytes=4 * 2**20, latency_ms=latency,
        live_bytes_per_request=LiveBytes(heap=4096, stacks_off_heap=2048, kernel=1024),
    )  # fmt: skip

    assert {figure.key: figure.of(one) for figure in FIGURES} == {
        "cpu_ms_per_request": 1.5, "p50_ms": 50, "p99_ms": 99, "p99_9_ms": 99.9, "throughput_rps": 1000,
        "threads_max": 77, "rss_max_mib": 3, "live_kib_per_request": 7,
    }  # fmt: skip
    assert all(name == f"p{percent:g}".replace(".", "_") for percent, name in PERCENTILES)


@pytest.mark.parametrize("threads", [26, 29, 525])
def test_a_mean_of_equals_is_that_value(threads: int) -> None:
    found = spread(THREADS, [run_record(number, threads_max=threads) for number in range(1, 6)])

    assert found is not None
    assert found.lowest == found.centre == found.highest == threads


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "1.00"), (0.962, "0.962"), (1.24, "1.24"), (0.99962, "0.9996"), (1.0004, "1.0004"), (1.0012, "1.001"),
        (1.00000002, "1.00000002"), (1 + 1e-12, "1.00"), (2500.0, "2,500"), (math.inf, "–"), (math.nan, "–"),
    ],
)  # fmt: skip
def test_a_ratio_has_the_digits_that_show_on_which_side_of_1_it_is(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text


@given(st.one_of(st.floats(0.001, 1000), st.floats(0.99, 1.01), st.floats(0.9999999, 1.0000001)))
def test_no_written_ratio_hides_its_side_of_1_or_is_another(ratio: float) -> None:
    written = float(ratio_text(ratio).replace(",", ""))

    if abs(ratio - 1) > 10**-MOST_DECIMALS:
        assert (written > 1, written < 1) == (ratio > 1, ratio < 1)
    assert written == pytest.approx(ratio, rel=0.005)
    if not 0.99 <= ratio <= 1.01:
        assert ratio_text(ratio) == number(ratio)


def test_ends_of_intervals_are_written_so(experiment: Experiment) -> None:
    (held, *_) = comparisons(experiment, CPU)
    close = replace(held.found, interval=Interval(0.99962, 1.0071))

    assert interval_text(close) == "0.9996 to 1.01"


def test_beside_the_answers_stands_the_tail_of_what_is_controlled(experiment: Experiment) -> None:
    tails = [held.sentence for held in comparisons(experiment, P99) if held.kind == "controlled"]

    assert len(tails) == 4
    assert [one for one in opening_of(experiment).more if "p99 latency" in one] == tails


def test_the_bar_is_the_interval_each_dot_a_block_and_an_invalid_repeat_stays(experiment: Experiment) -> None:
    look, at = looks(experiment.approaches, {}), experiment.loads[0]
    pair = Pair("tomcat-virtual", "tomcat-platform", at.label)
    held = next(one for one in comparisons(experiment, CPU) if one.found.pair == pair)
    whole = ElementTree.fromstring(effect_rows(CPU, [held], look))  # noqa: S314 - just made
    x = {one.attrib["class"]: (float(one.attrib["x1"]), float(one.attrib["x2"])) for one in whole.iter("line")}
    marks = [min(map(float, places(one))) for one in whole.iter() if one.attrib.get("class") == "mark"]
    effects = [one.effect for one in held.found.effects]
    spoilt = [run.model_copy(update={"verdict": "invalid"}) if run is at.runs[0] else run for run in at.runs]
    drawn = dots(CPU, loads_of(spoilt)[0], look)

    assert x["interval"][0] < x["centre"][0] < x["interval"][1] < x["even"][0]
    assert sorted(range(4), key=marks.__getitem__) == sorted(range(4), key=effects.__getitem__)
    assert drawn is not None
    assert (drawn.count("<title>"), drawn.count('class="mark invalid"')) == (16, 1)


def test_what_others_took_of_the_cpus_is_told_with_the_worst_run(experiment: Experiment) -> None:
    quiet = {"foreign_cpu_share": 0.01, "steal_shares": {"approach": 0.02, "backend": 0.03}}
    loud = {"foreign_cpu_share": 0.123, "steal_shares": {"approach": 0.04, "backend": 0.25}}
    runs = [run.model_copy(update=quiet) for run in experiment.runs]
    runs[-1] = runs[-1].model_copy(update=loud)
    known = Experiment("mine", experiment.summary.model_copy(update={"runs": runs}), None, loads_of(runs))

    assert doubts_of(known).host == [
        f"Other programs took up to 12.3 % of the time of an approach's CPUs ({runs[-1].run}).",
        f"A hypervisor gave up to 25.0 % of the time of a part's CPUs to others ({runs[-1].run}).",
    ]
    assert run_rows(known, [])[-1].figures[1:] == [("other programs' CPU, %", "12.3"), ("stolen CPU, %", "4.0")]
    assert STAND_IN_NOTE in doubts_of(known).whole
