"""A limit of the verdict is the same in alerts and panels."""

import ast
import re

import pytest

from lab import LAB
from loomlab_dashboards import lab_health
from loomlab_dashboards.queries import WINDOW_FULL_S

ALERTS = (LAB / "prometheus/rules/alerts.yml").read_text()


def limits() -> dict[str, float]:
    """The constants of the verdict, by name."""
    found: dict[str, float] = {}
    for statement in ast.parse((LAB / "loadgen/src/loomlab/judge/limits.py").read_text()).body:
        if isinstance(statement, ast.Assign):
            (target,) = statement.targets
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
            found |= {ast.unparse(name): ast.literal_eval(value) for name, value in zip(names, values, strict=True)}
    return found


def alert(name: str) -> str:
    return re.split(r"\n *- alert: ", ALERTS.partition(f"- alert: {name}\n")[2])[0]


TIES = [
    ("ERROR_LIMIT", ["LabRequestsFailing"], None),
    ("BUSY_CPU", ["LabGeneratorAtCpuLimit", "LabBackendAtCpuLimit", "LabBackendLoopBusy"], "BUSY"),
    ("LATE_MEAN_LIMIT", ["LabBackendLateMean"], "LATE_MEAN"),
    ("LATE_P99_LIMIT", ["LabBackendLateP99"], "LATE_P99"),
    ("FOREIGN_LIMIT", ["LabForeignCpu", "LabStolenCpu"], "FOREIGN"),
    ("MUCH_FOREIGN_LIMIT", ["LabMuchForeignCpu", "LabMuchStolenCpu"], "MUCH_FOREIGN"),
    ("RATE_LIMIT", ["LabRateMissed"], None),
    ("GC_LIMIT", ["LabGcHeavy"], None),
    ("THROTTLED_LIMIT", ["LabThrottled", "LabDriverThrottled"], "THROTTLED"),
]


@pytest.mark.parametrize(("name", "alerts", "panel"), TIES)
def test_a_limit_is_one(name: str, alerts: list[str], panel: str | None) -> None:
    limit = limits()[name]
    for one in alerts:
        assert limit in {float(number) for number in re.findall(r"> (0\.\d+)", alert(one))}, one
        assert re.search(rf"(?<!\d){limit:.0%}", alert(one)), one
    if panel:
        assert getattr(lab_health, panel) == limit


def test_the_panels_wait_as_long_as_the_rule_for_full_windows() -> None:
    rules = (LAB / "prometheus/rules/run.yml").read_text()

    assert f"lab_run_elapsed_seconds < bool {WINDOW_FULL_S})" in rules
