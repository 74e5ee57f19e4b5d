import math

import numpy as np
import pytest

from loomlab_dashboards.prometheus import Series
from loomlab_dashboards.series import cells, line, lines_by_seconds, name_of
from loomlab_dashboards.units import written


def test_a_line_breaks_where_samples_are_missing() -> None:
    drawn = line({"metric": {}, "values": [[10, "1"], [12, "2"], [20, "3"]]}, "x", 2)
    np.testing.assert_array_equal(drawn.y, [1, 2, math.nan, 3])
    np.testing.assert_array_equal(drawn.x, [10, 12, 14, 20])


def test_a_legend_takes_labels() -> None:
    assert name_of({"metric": {"service": "jetty-virtual"}}, "{{service}} p99") == "jetty-virtual p99"
    assert name_of({"metric": {}}, "{{service}}") == "value"


def test_runs_become_lines_over_their_seconds() -> None:
    found: list[Series] = [
        {"metric": {"run": "e/2-b", "seconds": "1"}, "value": [900, "5"]},
        {"metric": {"run": "e/1-a", "seconds": "10"}, "value": [900, "4"]},
        {"metric": {"run": "e/1-a", "seconds": "9"}, "value": [900, "3"]},
    ]
    first, second = lines_by_seconds(found)
    assert (first.name, first.x.tolist(), first.y.tolist()) == ("e/1-a", [9, 10], [3, 4])
    assert (second.name, second.x.tolist(), second.y.tolist()) == ("e/2-b", [1], [5])


def test_cumulative_buckets_become_cells_from_the_first_used_to_the_last() -> None:
    found: list[Series] = [
        {"metric": {"le": "+Inf"}, "values": [[1, "7"], [2, "7"]]},
        {"metric": {"le": "0.5"}, "values": [[1, "0"], [2, "0"]]},
        {"metric": {"le": "1"}, "values": [[1, "3"], [2, "0"]]},
        {"metric": {"le": "2"}, "values": [[1, "7"], [2, "7"]]},
    ]
    drawn = cells(found)
    assert drawn is not None
    assert (drawn.times, drawn.bounds) == ([1, 2], [1, 2])
    np.testing.assert_array_equal(drawn.values, [[3, math.nan], [4, 7]])


def test_an_unused_histogram_has_no_cells() -> None:
    assert cells([{"metric": {"le": "1"}, "values": [[1, "0"]]}]) is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.9051, "s", "905 ms"),
        (1.234, "s", "1.23 s"),
        (1_234.5, "reqps", "1,234 req/s"),
        (0.25, "ms", "0.25 ms"),
        (0.057, "percentunit", "5.7 %"),
        (300 * 2**20, "bytes", "300 MiB"),
        (1.5 * 2**30, "bytes", "1.5 GiB"),
        (0.5, "suffix:cores", "0.5 cores"),
        (10_023, "none", "10,023"),
        (math.nan, "s", "–"),
    ],
)
def test_values_are_written_with_their_unit(value: float, unit: str, text: str) -> None:
    assert written(value, unit) == text
