"""Whether a run may be believed.

`invalid`: the number would mislead; `suspect`: it needs care. A figure that is None was not measured; the rule on it
stays silent, unless its absence is the finding.
"""

from collections.abc import Callable

from loomlab.judge.evidence import Evidence
from loomlab.judge.rules import drivers, load, under_test, warmth
from loomlab.records.models import Verdict

Rule = Callable[[Evidence], str | None]

INVALID: tuple[Rule, ...] = (
    load.unfinished,
    load.tool_failed,
    load.too_many_errors,
    under_test.container_failed,
    under_test.process_restarted,
    under_test.oom_killed,
    drivers.generator_cpus,
    drivers.generator_thread,
    drivers.generator_quota,
    drivers.backend_cpus,
    drivers.backend_quota,
    drivers.backend_loop,
    drivers.backend_late_mean,
    drivers.backend_late_p99,
    drivers.backend_delay_other,
    load.littles_law,
    load.rate_missed,
    load.work_dropped,
    load.no_step_held,
    under_test.metrics_missing,
    load.silent_end,
)
SUSPECT: tuple[Rule, ...] = (
    under_test.container_unknown,
    under_test.gc_heavy,
    under_test.gc_unknown,
    under_test.throttled,
    drivers.connections_lost,
    load.short_interior,
    load.few_waves,
    load.steps_missed,
    warmth.half_cold,
    warmth.compilers_unknown,
    warmth.warmup_failed,
    warmth.still_falling,
    drivers.backend_delay_unknown,
    under_test.small_pool,
    under_test.few_threads,
    drivers.connections_reopened,
    drivers.other_backend_requests,
    drivers.backend_reconnected,
    load.omission_possible,
    load.keepalive_refused,
)


def judge(run: Evidence) -> tuple[Verdict, list[str]]:
    """The verdict and its reasons, the invalidating ones first."""
    invalid = [reason for rule in INVALID if (reason := rule(run))]
    suspect = [reason for rule in SUSPECT if (reason := rule(run))]
    return ("invalid" if invalid else "suspect" if suspect else "valid"), invalid + suspect
