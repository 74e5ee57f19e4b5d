"""A limit of the verdict is the same in the alerts."""

import re

import pytest

from lab import LAB
from loomlab_dashboards.lab_health import LIMITS
from loomlab_dashboards.queries import WINDOW_FULL_S

ALERTS = (LAB / "prometheus/rules/alerts.yml").read_text()


def alert(name: str) -> str:
    return re.split(r"\n *- alert: ", ALERTS.partition(f"- alert: {name}\n")[2])[0]


TIES = {
    "ERROR_LIMIT": "LabRequestsFailing",
    "BUSY_CPU": "LabGeneratorAtCpuLimit LabBackendAtCpuLimit LabBackendLoopBusy",
    "LATE_MEAN_LIMIT": "LabBackendLateMean",
    "LATE_P99_LIMIT": "LabBackendLateP99",
    "FOREIGN_LIMIT": "LabForeignCpu",
    "STOLEN_LIMIT": "LabStolenCpu",
    "MUCH_FOREIGN_LIMIT": "LabMuchForeignCpu LabMuchStolenCpu",
    "RATE_LIMIT": "LabRateMissed",
    "GC_LIMIT": "LabGcHeavy",
    "THROTTLED_LIMIT": "LabThrottled LabDriverThrottled",
}


@pytest.mark.parametrize("name", TIES)
def test_a_limit_is_one(name: str) -> None:
    for one in TIES[name].split():
        assert {float(number) for number in re.findall(r"> (0\.\d+)", alert(one))} == {LIMITS[name]}, one
        assert re.search(rf"the limit is {LIMITS[name]:.0%}", " ".join(alert(one).split())), one


def test_every_alert_with_a_share_as_its_limit_is_compared() -> None:
    shares = {name for name in re.findall(r"- alert: (\w+)", ALERTS) if re.search(r"> 0\.\d", alert(name))}

    assert shares == {one for names in TIES.values() for one in names.split()}


def test_the_panels_wait_as_long_as_the_rule_for_full_windows() -> None:
    rules = (LAB / "prometheus/rules/run.yml").read_text()

    assert f"lab_run_elapsed_seconds < bool {WINDOW_FULL_S})" in rules
