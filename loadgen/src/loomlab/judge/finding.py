"""What a rule of the verdict found."""

from dataclasses import dataclass

from loomlab.records.models import RuleOutcome


@dataclass(frozen=True)
class Finding:
    """`reason`: of a failure a sentence; else why the rule does not apply, or which figure is missing."""

    outcome: RuleOutcome
    reason: str | None = None


PASSED = Finding("passed")


def failed(sentence: str) -> Finding:
    return Finding("failed", sentence)


def failed_if(sentence: str | None) -> Finding:
    return failed(sentence) if sentence else PASSED


def not_here(why: str) -> Finding:
    return Finding("does not apply", why)


def unknown(figure: str) -> Finding:
    """The figure that was not measured."""
    return Finding("could not be checked", figure)
