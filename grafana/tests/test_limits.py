"""A limit of the verdict is the same wherever it is written down."""

import ast
import re

import pytest

from lab import LAB
from loomlab_dashboards import lab_health
from loomlab_dashboards.queries import WINDOW_FULL_S

ALERTS = (LAB / "prometheus/rules/alerts.yml").read_text()
TABLE = [
    line for line in (LAB / "docs/methodology.md").read_text().splitlines() if line.startswith(("| inv", "| susp"))
]


def limits(path: str = "judge/limits.py") -> dict[str, float]:
    """The constants of the verdict, by name."""
    found: dict[str, float] = {}
    for statement in ast.parse((LAB / "loadgen/src/loomlab" / path).read_text()).body:
        if isinstance(statement, ast.Assign):
            (target,) = statement.targets
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
            found |= {ast.unparse(name): ast.literal_eval(value) for name, value in zip(names, values, strict=True)}
    return found


def alert(name: str) -> str:
    return re.split(r"\n *- alert: ", ALERTS.partition(f"- alert: {name}\n")[2])[0]


TIES = [
    ("ERROR_LIMIT", ["LabRequestsFailing"], None, "not answered 2xx"),
    ("BUSY_CPU", ["LabGeneratorAtCpuLimit", "LabBackendAtCpuLimit", "LabBackendLoopBusy"], "BUSY", "busiest thread"),
    ("BUSY_SECONDS_LIMIT", [], None, "busiest thread"),
    ("LATE_MEAN_LIMIT", ["LabBackendLateMean"], "LATE_MEAN", "backend's lateness"),
    ("LATE_P99_LIMIT", ["LabBackendLateP99"], "LATE_P99", "backend's lateness"),
    ("FOREIGN_LIMIT", ["LabForeignCpu", "LabStolenCpu"], "FOREIGN", "suspect | other programs"),
    ("MUCH_FOREIGN_LIMIT", ["LabMuchForeignCpu", "LabMuchStolenCpu"], "MUCH_FOREIGN", "invalid | other programs"),
    ("RATE_LIMIT", ["LabRateMissed"], None, "against the offered rate"),
    ("LAG_LIMIT", [], None, "suspect | open model: started late"),
    ("LITTLE_LIMIT", [], None, "Little's law"),
    ("METRICS_MISSING_LIMIT", [], None, "container metrics missing"),
    ("GC_LIMIT", ["LabGcHeavy"], None, "garbage collection"),
    ("THROTTLED_LIMIT", ["LabThrottled", "LabDriverThrottled"], "THROTTLED", "suspect | periods throttled"),
    ("OMITTED_LIMIT", [], None, "coordinated omission"),
    ("REOPENED_LIMIT", [], None, "beyond its concurrency"),
    ("BACKEND_REQUESTS_LIMIT", [], None, "backend requests per request"),
    ("GROWTH_LIMIT", [], None, "latency grew likewise"),
    ("MUCH_GROWTH_LIMIT", [], None, "latency grew from the first half"),
    ("IDLE_CPU_LIMIT", [], None, "latency grew from the first half"),
    ("IDLE_LIMIT", [], None, "connections without a request"),
    ("FALL_LIMIT", [], None, "CPU per request, while"),
    ("COMPILED_LIMIT", [], None, "CPU per request, while"),
]


@pytest.mark.parametrize(("name", "alerts", "panel", "row"), TIES)
def test_a_limit_is_one(name: str, alerts: list[str], panel: str | None, row: str) -> None:
    limit = limits()[name]
    for one in alerts:
        assert limit in {float(number) for number in re.findall(r"> (0\.\d+)", alert(one))}, one
        assert f"limit is {limit:.0%}" in re.sub(r"\s+", " ", alert(one)), one
    if panel:
        assert getattr(lab_health, panel) == limit
    (line,) = [line for line in TABLE if row in line]
    assert re.search(rf"(?<!\d){limit * 100:g} %", line), line


@pytest.mark.parametrize(
    ("shell", "name"), [("SUSPECT_STEAL", "FOREIGN_LIMIT"), ("INVALID_STEAL", "MUCH_FOREIGN_LIMIT")]
)
def test_doctor_warns_of_stolen_time_where_the_verdict_does(shell: str, name: str) -> None:
    told = re.search(rf"\b{shell}=(\d+)", (LAB / "bin/checks.sh").read_text())

    assert told is not None
    assert int(told[1]) == 100 * limits()[name]


def test_the_panels_wait_as_long_as_the_rule_for_full_windows() -> None:
    rules = (LAB / "prometheus/rules/run.yml").read_text()

    assert f"lab_run_elapsed_seconds < bool {WINDOW_FULL_S})" in rules


def test_every_share_of_the_verdict_is_tied() -> None:
    shares = {name for name, value in limits().items() if 0 < value < 1 and name.endswith(("_LIMIT", "_CPU"))}

    assert shares == {name for name, *_ in TIES}


def test_seconds_and_multiples_are_those_of_the_table() -> None:
    value = limits()
    table = "\n".join(TABLE).replace("\N{MULTIPLICATION SIGN}", "x")

    assert f"> {value['SILENT_END_S']} s + {value['SILENT_END_P99S']} x p99" in table
    assert f"longer than {value['SLOW_P50S']} x p50" in table
    assert f"over {value['RESOLVED_LAG_MS']} ms" in table
    assert f"over {value['RESOLVED_LATE_MS']} ms" in table
    assert f"> {value['LONGEST_LAG_MS'] / 1000:.0f} s" in table
    assert f"> {value['CLOCK_LIMIT_S']} s" in table


def test_what_an_interior_needs_is_that_of_the_table() -> None:
    needed = limits("basics/waves.py")
    (line,) = [line for line in TABLE if "interior; waves in it" in line]

    assert f"< {needed['SHORTEST_INTERIOR_S']} s; < {needed['FEWEST_WAVES']} |" in line
