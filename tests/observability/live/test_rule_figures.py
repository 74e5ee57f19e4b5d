"""Every rule that is loaded says something plausible about every run, and no rule is unknown here."""

from collections.abc import Iterator

import pytest

from watching.check import problems
from watching.experiment import Experiment, Run
from watching.load import Load
from watching.prometheus import Prometheus, Rule
from watching.rules import Expected, expectations


@pytest.fixture(scope="module")
def rules(prometheus: Prometheus) -> list[Rule]:
    return prometheus.rules()


def selectors(expected: Expected, runs: list[Run]) -> Iterator[tuple[str, Run]]:
    for run in runs:
        if expected.of == "run":
            yield f'experiment="{run.folder.parent.parent.name}",run="{run.name}"', run
        elif expected.of != "approach":
            yield f'service="{expected.of}"', run
        elif not expected.only or run.approach in expected.only:
            yield f'service="{run.approach}"', run


def test_every_rule_evaluates(rules: list[Rule]) -> None:
    assert rules
    assert [rule for rule in rules if rule.health != "ok"] == []


def test_every_recording_rule_has_a_plausible_range(rules: list[Rule], load: Load) -> None:
    assert {rule.name for rule in rules if rule.kind == "recording"} == set(expectations(load))


def test_every_recording_rule_says_something_plausible(
    prometheus: Prometheus, experiment: Experiment, load: Load
) -> None:
    found = []
    for name, of_rule in expectations(load).items():
        for expected in of_rule:
            for selector, run in selectors(expected, experiment.runs):
                start, end = experiment.side_by_side if expected.side_by_side else run.steady
                answer = prometheus.range(f"{name}{{{selector}}}", start, end, 1)
                found += [f"{name}{{{selector}}}: {text}" for text in problems(answer, expected.plausible)]
    assert not found, "\n".join(found)


def test_too_many_errors_fired_an_alert(prometheus: Prometheus, experiment: Experiment) -> None:
    seconds = experiment.ended - experiment.started + 1
    firing = 'ALERTS{alertname="LabRequestsFailing",alertstate="firing",severity="invalid"}'
    fired = prometheus.instant(f"max_over_time({firing}[{seconds:.0f}s])", experiment.ended)
    assert {series.labels["service"] for series in fired} >= {run.approach for run in experiment.runs}
