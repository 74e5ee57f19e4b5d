"""Whether a run may be believed.

`invalid`: the number would mislead; `suspect`: it needs care. A rule whose figure was not measured says so, and the run
is suspect: what was not checked is not passed. Of an invalid run the sentences leave that out.
"""

from dataclasses import dataclass

from loomlab.judge.rule import RULES
from loomlab.judge.rules import drivers, host, load, steady, under_test, warmth
from loomlab.records.evidence import Evidence
from loomlab.records.models import RuleResult, Verdict

CONCERNS = (load, under_test, drivers, host, steady, warmth)
"""The modules that declare rules."""


@dataclass(frozen=True)
class Judgement:
    """`reasons` are sentences, those that invalidate first."""

    verdict: Verdict
    reasons: list[str]
    rules: list[RuleResult]


def judge(run: Evidence) -> Judgement:
    results = [rule.result(run) for rule in RULES]
    invalid, suspect = ([_sentence(one) for one in results if _failed(one, level)] for level in ("invalid", "suspect"))
    unchecked = dict.fromkeys(one.reason or one.rule for one in results if one.outcome == "could not be checked")
    if unchecked and not invalid:
        suspect.append(f"Not known: {'; '.join(unchecked)}.")
    return Judgement("invalid" if invalid else "suspect" if suspect else "valid", invalid + suspect, results)


def _failed(result: RuleResult, level: str) -> bool:
    return result.outcome == "failed" and result.level == level


def _sentence(result: RuleResult) -> str:
    return result.reason or f"{result.rule} failed."
