"""A rule of the verdict is one function of what was measured of a run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from loomlab.records.measured import Measured
from loomlab.records.models import RuleOutcome, RuleResult

type Level = Literal["invalid", "suspect"]


class NotApplicable(str):
    """Why a rule says nothing of a run."""


class Unknown(str):
    """The figure that a rule needs and that was not measured."""


type Check = Callable[[Measured], str | None]
"""What a rule says of a run: the sentence of a failure, NotApplicable, Unknown, or None: passed."""


@dataclass(frozen=True)
class Rule:
    """A check and how it is documented: `what` is compared with `limit`; `level` is what its failure makes of a run;
    `host_cause`: its cause is measured outside of the approach, so that a run may be made again for it. What a run's
    own cost or speed brings about, such as a full generator or a late backend, is not outside."""

    level: Level
    what: str
    limit: str
    check: Check
    host_cause: bool = False

    @property
    def name(self) -> str:
        """The name that run.json has."""
        return self.check.__name__

    def result(self, run: Measured) -> RuleResult:
        """What the rule finds of a run."""
        said = self.check(run)
        outcome: RuleOutcome = "failed"
        if said is None:
            outcome = "passed"
        elif isinstance(said, NotApplicable):
            outcome = "does not apply"
        elif isinstance(said, Unknown):
            outcome = "could not be checked"
        reason = None if said is None else str(said)
        return RuleResult(rule=self.name, outcome=outcome, level=self.level, host_cause=self.host_cause, reason=reason)


RULES: list[Rule] = []
"""Every rule, as its module declares it."""


def rule(level: Level, what: str, limit: str = "", *, host_cause: bool = False) -> Callable[[Check], Check]:
    """A decorator that declares a rule."""

    def declare(check: Check) -> Check:
        RULES.append(Rule(level, what, limit, check, host_cause))
        return check

    return declare
