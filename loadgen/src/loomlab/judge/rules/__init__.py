"""Whether a run may be believed: `invalid`: the number would mislead; `suspect`: it needs care, or was not checked."""

from typing import Any

from loomlab.judge.rule import Rule
from loomlab.judge.rules import offered_load, steady, surroundings, under_test
from loomlab.records.measured import Measured

DECLARING = (offered_load, under_test, surroundings, steady)
"""The modules that declare rules, in the order in which a verdict speaks."""
RULES = sorted(
    (rule for module in DECLARING for rule in vars(module).values() if isinstance(rule, Rule)),
    key=lambda rule: rule.level,
)


def judge(run: Measured) -> dict[str, Any]:
    """Fields of Run: what all rules make of a run; reasons are sentences, those that invalidate first."""
    results = [rule.result(run) for rule in RULES]
    failures = [result for result in results if result.outcome == "failed"]
    reasons = [result.reason or "" for result in failures]
    unchecked = dict.fromkeys(result.reason or "" for result in results if result.outcome == "could not be checked")
    verdict = "invalid" if any(result.level == "invalid" for result in failures) else "suspect"
    if unchecked and verdict == "suspect":
        reasons.append(f"Not known: {'; '.join(unchecked)}.")
    return {"verdict": verdict if reasons else "valid", "reasons": reasons, "rules": results}
