"""Whether a run may be believed: `invalid`: the number would mislead; `suspect`: it needs care, or was not checked."""

from typing import NamedTuple

from loomlab.judge.rule import Rule
from loomlab.judge.rules import offered_load, steady, surroundings, under_test
from loomlab.records.measured import Measured
from loomlab.records.models import RuleResult, Verdict

DECLARING = (offered_load, under_test, surroundings, steady)
"""The modules that declare rules, in the order in which a verdict speaks."""
RULES = sorted(
    (rule for module in DECLARING for rule in vars(module).values() if isinstance(rule, Rule)),
    key=lambda rule: rule.level,
)


class Judgement(NamedTuple):
    """Fields of Run; `reasons` are sentences, those that invalidate first."""

    verdict: Verdict
    reasons: list[str]
    rules: list[RuleResult]


def judge(run: Measured) -> Judgement:
    """What all rules make of a run."""
    results = [rule.result(run) for rule in RULES]
    failures = [result for result in results if result.outcome == "failed"]
    reasons = [result.reason or "" for result in failures]
    if any(result.level == "invalid" for result in failures):
        return Judgement("invalid", reasons, results)
    if unchecked := dict.fromkeys(
        result.reason or "" for result in results if result.outcome == "could not be checked"
    ):
        reasons.append(f"Not known: {'; '.join(unchecked)}.")
    return Judgement("suspect" if reasons else "valid", reasons, results)
