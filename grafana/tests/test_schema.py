import copy

import pytest

from lab import COMMITTED
from loomlab_dashboards.frame import Json
from schema import problems


@pytest.mark.parametrize("name", COMMITTED)
def test_the_dashboard_is_as_the_schema_has_it(name: str) -> None:
    assert problems(COMMITTED[name]) == []


def broken(path: str, value: object) -> Json:
    """Compare, with another value at a path like `panels.1.title`."""
    document = copy.deepcopy(COMMITTED["compare"])
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Json = document
    for step in parents:
        place = place[step]  # type: ignore[index]
    place[last] = value  # type: ignore[index]
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("colour", "red"),
        ("editable", "no"),
        ("schemaVersion", "42"),
        ("graphTooltip", 7),
        ("time.from", 15),
        ("panels.6.titel", "Throughput"),
        ("panels.6.title", 1),
        ("panels.6.gridPos.w", "8"),
        ("panels.6.targets.0.expression", "up"),
        ("panels.6.targets.0.format", "timeseries"),
        ("panels.6.options.legend.displayMode", "tables"),
        ("panels.6.fieldConfig.defaults.units", "s"),
        ("panels.6.fieldConfig.defaults.custom.lineWidth", "2"),
        ("panels.9.transformations.0.name", "groupingToMatrix"),
        ("panels.6.fieldConfig.overrides.0.matcher.id", 1),
        ("templating.list.0.type", "source"),
        ("links.0.kind", "dashboards"),
        ("annotations.list.0.iconColor", 3),
    ],
)
def test_a_broken_dashboard_is_refused(path: str, value: object) -> None:
    assert problems(broken(path, value))
