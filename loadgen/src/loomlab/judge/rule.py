"""A rule of the verdict is one function of what was measured of a run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from loomlab.records.measured import SIGHTS, Measured, Sight
from loomlab.records.models import RuleOutcome, RuleResult

type Level = Literal["invalid", "suspect"]
type Check = Callable[[Measured], Iterator[str]]
"""Yields a sentence where the run fails. The first paragraph of its docstring says what is compared with the limit."""
UNFIT: RuleOutcome = "does not apply"


class UnjudgedError(Exception):
    """Ends a check that says nothing of a run: the outcome, and the reason."""


def skip_if(unfit: object, why: str) -> None:
    if unfit:
        raise UnjudgedError(UNFIT, why)


def measured[T](figure: T | None, why: str, outcome: RuleOutcome = "could not be checked") -> T:
    """The figure; ends the check of a rule without it, with that outcome."""
    if figure is None:
        raise UnjudgedError(outcome, why)
    return figure


@dataclass(frozen=True)
class Rule:
    """A check and its limit; `host_cause`: what it finds comes from outside, so that a run may be made again for it;
    `needs`: how much of the service must be seen for it."""

    level: Level
    limit: str
    check: Check
    host_cause: bool
    needs: Sight = "answers"

    @property
    def name(self) -> str:
        return self.check.__name__

    def result(self, run: Measured) -> RuleResult:
        outcome: RuleOutcome
        blind = SIGHTS.index(run.sight) < SIGHTS.index(self.needs)
        try:
            skip_if(blind and run.sight == "answers", "the lab does not run the service")
            reason = next(self.check(run), None)
            outcome = "failed" if reason else "passed"
        except UnjudgedError as unjudged:
            outcome, reason = unjudged.args
            if blind and outcome == "could not be checked":
                outcome, reason = UNFIT, f"the service does not tell {reason}"
        return RuleResult(rule=self.name, outcome=outcome, level=self.level, host_cause=self.host_cause, reason=reason)


def rule(
    level: Level, limit: str = "any", *, host_cause: bool = False, needs: Sight = "answers"
) -> Callable[[Check], Rule]:
    return lambda check: Rule(level, limit, check, host_cause, needs)
