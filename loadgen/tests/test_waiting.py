"""What a waiting request holds may be negative at small loads, and is compared by differences."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from loomlab.report.curves import over_load
from loomlab.report.dots import dots, effect_rows

from loomlab.answer.figures import CPU, P99, WAITING, number, spread
from loomlab.answer.loads import loads_of
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Latency, Run
from loomlab.report.comparisons import comparisons, pair_rows
from loomlab.report.folder import Experiment
from loomlab.report.palette import looks
from loomlab.report.table import csv_of, rows_of
from report_folder import folder_of
from test_opening import HEAPS, experiment, holding, made
from test_report import parts_of

NEGATIVE = {"tomcat-virtual": (-30, 10, 2), "tomcat-platform": (60, 63, 63)}


def test_its_mean_is_the_arithmetic_one_and_its_range_holds_what_is_negative() -> None:
    (at,) = holding(NEGATIVE).loads
    found = spread(WAITING, at.counted("tomcat-virtual"))

    assert found is not None
    assert (found.centre, found.lowest, found.highest, found.count) == (-6, -30, 10, 3)
    assert csv_of(rows_of(holding(NEGATIVE)), [WAITING]).splitlines()[2].endswith(",-6.0,-30.0,10.0")
    assert [number(value) for value in (-61.234, -61.0, -0.5)] == ["-61.2", "-61", "-0.500"]


@pytest.mark.parametrize(
    ("heaps", "cell"),
    [
        (HEAPS, ("-61 KiB", "-62.8 to -59.2", 5)),
        ({"tomcat-virtual": (8, 9), "tomcat-platform": (7, 7)}, ("+1.50 KiB", None, 2)),
        ({"tomcat-virtual": (), "tomcat-platform": (7, 7)}, None),
    ],
)
def test_the_page_shows_the_difference_with_its_unit(
    heaps: Mapping[str, tuple[int, ...]], cell: tuple[str, str | None, int] | None
) -> None:
    rows = pair_rows(holding(heaps), [CPU, WAITING])

    if cell is None:
        assert rows == []
        return
    (row,) = rows
    assert (row.cells[1].effect, row.cells[1].interval, row.cells[1].blocks) == cell


@pytest.mark.parametrize(("errors", "told"), [(0, False), (80, True)])
def test_a_tail_that_hangs_on_runs_that_were_left_out_has_no_effect_on_the_page(errors: int, told: bool) -> None:
    def run(approach: str, repeat: int, p99: float | None, failed: int = 0) -> Run:
        return made(approach, repeat, latency_ms=Latency(p99=p99), errors=failed)

    runs = [run("tomcat-virtual", repeat, 880 if repeat < 4 else None, errors * (repeat > 3)) for repeat in range(1, 6)]
    (row,) = pair_rows(
        experiment([*runs, *(run("tomcat-platform", repeat, 1000) for repeat in range(1, 6))]), [CPU, P99]
    )

    assert (row.cells[1].interval is None, row.cells[1].blocks) == (told, 3)
    assert (row.cells[1].effect == "not resolved") is told


@pytest.mark.parametrize("heaps", [HEAPS, NEGATIVE, {"tomcat-virtual": (-3, -3), "tomcat-platform": (-3, -3)}])
def test_every_dot_is_drawn_on_both_sides_of_0(heaps: Mapping[str, tuple[int, ...]]) -> None:
    found = holding(heaps)
    look = looks(found.approaches, {})
    (held,) = comparisons(found, WAITING)
    drawn = [dots(WAITING, found.loads[0], look), effect_rows(WAITING, [held], look)]

    for plot, count in zip(drawn, (2, 1), strict=True):
        assert plot is not None
        whole = ElementTree.fromstring(plot)  # noqa: S314 - just made
        marks = [one for one in whole.iter() if one.attrib.get("class", "").startswith("mark")]
        assert len(marks) == count * len(heaps["tomcat-virtual"])
        for one in marks:
            assert all(0 <= float(place) <= 420 for place in places(one))
    assert "differences in KiB held by a waiting request at 2,000 connections" in str(drawn[1])


def places(mark: ElementTree.Element) -> list[str]:
    if "cx" in mark.attrib:
        return [mark.attrib["cx"]]
    return [point.partition(",")[0] for point in mark.attrib["points"].split()]


def test_a_curve_over_loads_goes_below_0() -> None:
    found = holding(NEGATIVE)
    other = [one.model_copy(update={"cell": 2, "run": f"9{one.run}"}) for one in found.runs]
    both = Experiment("mine", found.summary, None, [*found.loads, *loads_of(other)])

    drawn = over_load(WAITING, both.loads, looks(found.approaches, {}))

    assert drawn is not None
    heights = [float(one.attrib["cy"]) for one in ElementTree.fromstring(drawn).iter() if "cy" in one.attrib]  # noqa: S314
    assert heights
    assert all(0 <= y <= 250 for y in heights)


def test_the_page_says_how_it_is_compared(tmp_path: Path) -> None:
    held = LiveBytes(heap=-3_000, stacks_off_heap=200, kernel=100)
    pair = ("tomcat-platform", "tomcat-virtual")
    for name in ("with", "without"):
        (tmp_path / name).mkdir()

    page = parts_of(folder_of(tmp_path / "with", pair, live_bytes_per_request=held))
    without = parts_of(folder_of(tmp_path / "without", pair))

    assert (
        "a waiting request of tomcat-virtual holds as much as one of tomcat-platform (coarse 95 % interval" in page.text
    )
    assert "-2.64" in page.text
    for words in (
        "its mean is the arithmetic one",
        "is compared by differences: the first approach's figure less the second's",
    ):
        assert words in page.text
        assert words not in without.text
    assert page.open == []


def test_a_declared_margin_is_none_of_what_is_compared_by_differences() -> None:
    found = holding({"tomcat-virtual": (5, 5, 5), "tomcat-platform": (5, 5, 5)})
    (held,) = comparisons(replace(found, summary=found.summary.model_copy(update={"margin": 0.3})), WAITING)

    assert (held.found.figure.margin, held.found.within_margin) == (None, False)
