"""A rule of the verdict is one function of what is known of a run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from loomlab.judge.finding import Finding
from loomlab.records.evidence import Evidence
from loomlab.records.models import RuleResult

type Check = Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Rule:
    """A check with what is said of it: `what` is compared with `limit`; `level` is what its failure makes of a run;
    `host_cause`: its cause is measured outside of the approach, so that a run may be made again for it. What a run's
    own cost or speed brings about, such as a full generator or a late backend, is not outside."""

    level: Literal["invalid", "suspect"]
    what: str
    limit: str
    check: Check
    host_cause: bool = False

    @property
    def name(self) -> str:
        """The name that run.json has."""
        return self.check.__name__

    def result(self, run: Evidence) -> RuleResult:
        """What the rule finds of a run."""
        found = self.check(run)
        return RuleResult(
            rule=self.name, outcome=found.outcome, level=self.level, host_cause=self.host_cause, reason=found.reason
        )


RULES: list[Rule] = []
"""Every rule, as its module declares it."""


def rule(
    level: Literal["invalid", "suspect"], what: str, limit: str = "", *, host_cause: bool = False
) -> Callable[[Check], Check]:
    """A decorator that declares a rule."""

    def declare(check: Check) -> Check:
        RULES.append(Rule(level, what, limit, check, host_cause))
        return check

    return declare
