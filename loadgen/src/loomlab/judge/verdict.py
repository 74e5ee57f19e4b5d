"""Whether a run may be believed.

`invalid`: the number would mislead; `suspect`: it needs care. A rule whose figure was not measured says so, and the run
is suspect: what was not checked is not passed. Of an invalid run the sentences leave that out.
"""

from typing import NamedTuple

from loomlab.judge.rule import DECLARED
from loomlab.judge.rules import drivers, host, load, steady, under_test
from loomlab.records.measured import Measured
from loomlab.records.models import RuleResult, Verdict

DECLARING = (load, under_test, drivers, host, steady)
"""The modules that declare rules, in the order in which a verdict speaks."""
ORDER = [module.__name__ for module in DECLARING]
RULES = sorted(DECLARED, key=lambda rule: (rule.level, ORDER.index(rule.check.__module__)))


class Judgement(NamedTuple):
    """Fields of Run; `reasons` are sentences, those that invalidate first."""

    verdict: Verdict
    reasons: list[str]
    rules: list[RuleResult]


def judge(run: Measured) -> Judgement:
    """What all rules make of a run."""
    results = [rule.result(run) for rule in RULES]
    failures = [result for result in results if result.outcome == "failed"]
    invalid, suspect = (
        [result.reason or "" for result in failures if result.level == level] for level in ("invalid", "suspect")
    )
    unchecked = dict.fromkeys(result.reason or "" for result in results if result.outcome == "could not be checked")
    if unchecked and not invalid:
        suspect.append(f"Not known: {'; '.join(unchecked)}.")
    return Judgement("invalid" if invalid else "suspect" if suspect else "valid", invalid + suspect, results)
