"""Whether a run may be believed.

`invalid`: the number would mislead; `suspect`: it needs care. A rule whose figure was not measured says so, and the run
is suspect: what was not checked is not passed. Of an invalid run the sentences leave that out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from loomlab.judge.evidence import Evidence
from loomlab.judge.finding import Finding
from loomlab.judge.rules import drivers, host, load, steady, under_test, warmth
from loomlab.records.models import RuleResult, Verdict


@dataclass(frozen=True)
class Rule:
    """`level`: what its failure makes of a run; `host_cause`: its cause is measured outside of the approach, so that a
    run may be made again for it. What a run's own cost or speed brings about, such as a full generator or a late
    backend, is not outside, whatever the host lacks."""

    level: Literal["invalid", "suspect"]
    check: Callable[[Evidence], Finding]
    host_cause: bool = False

    @property
    def name(self) -> str:
        return self.check.__name__

    def result(self, run: Evidence) -> RuleResult:
        found = self.check(run)
        return RuleResult(
            rule=self.name, outcome=found.outcome, level=self.level, host_cause=self.host_cause, reason=found.reason
        )


RULES: tuple[Rule, ...] = (
    Rule("invalid", load.unfinished, host_cause=True),
    Rule("invalid", load.tool_failed),
    Rule("invalid", load.too_many_errors),
    Rule("invalid", under_test.container_failed),
    Rule("invalid", under_test.process_restarted),
    Rule("invalid", under_test.oom_killed),
    Rule("invalid", drivers.generator_cpus),
    Rule("invalid", drivers.generator_thread),
    Rule("invalid", drivers.generator_quota),
    Rule("invalid", drivers.generator_wait_mean),
    Rule("invalid", drivers.generator_wait_p99),
    Rule("invalid", drivers.generator_throttled),
    Rule("invalid", drivers.backend_cpus),
    Rule("invalid", drivers.backend_quota),
    Rule("invalid", drivers.backend_throttled),
    Rule("invalid", drivers.backend_loop),
    Rule("invalid", drivers.backend_late_mean),
    Rule("invalid", drivers.backend_late_p99),
    Rule("invalid", drivers.backend_delay_other, host_cause=True),
    Rule("invalid", host.much_foreign_cpu, host_cause=True),
    Rule("invalid", host.much_stolen, host_cause=True),
    Rule("invalid", host.clock_stepped, host_cause=True),
    Rule("invalid", load.littles_law),
    Rule("invalid", load.rate_missed),
    Rule("invalid", load.started_too_late),
    Rule("invalid", steady.latency_grew_much),
    Rule("invalid", load.work_dropped),
    Rule("invalid", load.no_step_held),
    Rule("invalid", under_test.metrics_missing),
    Rule("invalid", host.monitoring_gone, host_cause=True),
    Rule("invalid", load.silent_end),
    Rule("suspect", host.foreign_cpu, host_cause=True),
    Rule("suspect", host.stolen, host_cause=True),
    Rule("suspect", under_test.more_cpu_than_given, host_cause=True),
    Rule("suspect", under_test.gc_heavy),
    Rule("suspect", under_test.throttled),
    Rule("suspect", drivers.connections_lost),
    Rule("suspect", load.short_interior),
    Rule("suspect", load.few_waves),
    Rule("suspect", load.throughput_impossible),
    Rule("suspect", load.steps_missed),
    Rule("suspect", load.started_late),
    Rule("suspect", steady.latency_grew),
    Rule("suspect", steady.cpu_grew),
    Rule("suspect", warmth.half_cold),
    Rule("suspect", warmth.compilers_unknown),
    Rule("suspect", warmth.warmup_failed),
    Rule("suspect", warmth.still_falling),
    Rule("suspect", under_test.small_pool, host_cause=True),
    Rule("suspect", under_test.few_threads),
    Rule("suspect", drivers.connections_reopened),
    Rule("suspect", drivers.other_backend_requests),
    Rule("suspect", drivers.backend_reconnected),
    Rule("suspect", load.omission_possible),
    Rule("suspect", steady.uneven),
    Rule("suspect", load.connections_idle),
    Rule("suspect", load.keepalive_refused),
)


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
