"""To which runs a rule of the verdict applies, and what it makes of them there."""

from typing import Any

import pytest

from good import GOOD, OPEN, judge, rate, steps_500_1000
from loomlab.judge import verdict
from loomlab.records.measured import BackendDelays, Halves, Measured
from saying import failed, told, unknown


def failing(figures: dict[str, Any]) -> set[str]:
    return failed(verdict.judge(Measured(**figures)).rules)


def test_a_run_made_before_the_clock_was_watched_is_not_blamed() -> None:
    assert judge(GOOD | {"clock_step_s": None}) == ("valid", [])


def test_what_makes_a_run_invalid_is_not_drowned_in_what_is_not_known() -> None:
    judgement = verdict.judge(Measured(**GOOD | {"errors": 30_000, "foreign_cpu_share": None}))

    assert unknown(judgement.rules) == {"foreign_cpu", "much_foreign_cpu"}
    assert judgement.reasons == [one.reason for one in judgement.rules if one.rule == "too_many_errors"]
    assert told(judgement.rules, "too_many_errors", "50 30000 60000")


def test_below_twenty_waves_one_wave_is_the_limit_of_littles_law() -> None:
    assert judge(dict(GOOD, waves=10.0, little_ratio=1.09))[0] == "suspect"
    assert judge(dict(GOOD, waves=10.0, little_ratio=1.11))[0] == "invalid"


def test_of_few_waves_a_count_of_idle_connections_is_off_by_more() -> None:
    assert failing(dict(GOOD, waves=19.7, little_ratio=0.97)) == {"few_waves"}


def test_what_a_tool_rounds_away_is_no_idle_connection() -> None:
    assert failing(dict(GOOD, little_ratio=0.93, rounding=0.07)) == set()
    assert failing(dict(GOOD, little_ratio=0.93, rounding=0.01)) == {"littles_law"}
    assert failing(dict(GOOD, little_ratio=0.97, rounding=0.01)) == {"connections_idle"}


def test_idle_connections_are_told_once() -> None:
    assert failing(dict(GOOD, little_ratio=0.9)) == {"littles_law"}


def test_figures_that_grow_by_design_or_step_by_step_are_not_judged() -> None:
    growing = {"latency_fall": Halves(fall=-0.5, margin=0.1), "cpu_fall": Halves(fall=-0.5, margin=0.1)}

    assert judge(GOOD | OPEN | {"held_steps": (500.0, 1000.0)} | growing) == ("valid", [])


def test_answers_that_may_be_cut_count_beside_those_that_failed() -> None:
    assert judge(dict(GOOD, errors=300, doubtful=300)) == ("valid", [])
    assert judge(dict(GOOD, errors=300, doubtful=301))[0] == "suspect"
    assert failing(dict(GOOD, errors=601, doubtful=301)) == {"too_many_errors"}


def test_what_a_ladder_dropped_counts_though_all_its_steps_held() -> None:
    assert failing(GOOD | OPEN | {"held_steps": (500.0, 1000.0), "dropped": 5}) == {"work_dropped"}


def test_long_waits_that_were_asked_for_are_no_omission_but_silences_are() -> None:
    asked = dict(
        GOOD,
        delay_asked="lognormal:100:1000",
        backend_delays=BackendDelays(before="lognormal:100:1000", after="lognormal:100:1000"),
    )

    assert judge(dict(asked, slow_ms=(9_000.0,) * 9_000)) == ("valid", [])
    assert judge(dict(asked, silences_s=(30,)))[0] == "suspect"
    assert (
        judge(
            dict(
                GOOD,
                delay_asked="uniform:200:400",
                backend_delays=BackendDelays(before="uniform:200:400", after="uniform:200:400"),
                slow_ms=(9_000.0,) * 9_000,
            )
        )[0]
        == "suspect"
    )


def test_an_open_model_has_no_waves_and_no_omission() -> None:
    assert judge(dict(GOOD, **OPEN, silences_s=(30,), slow_ms=(90_000.0,))) == ("valid", [])


def test_a_backend_that_no_request_asks_says_nothing_unless_it_was_asked() -> None:
    unasked = dict(GOOD, backend_calls=0, delay_asked=None, backend_pool=5, backend_requests_per_request=0.0)

    assert judge(unasked) == ("valid", [])
    assert judge(dict(unasked, backend_requests_per_request=0.02)) == ("valid", [])
    assert failing(dict(unasked, backend_requests_per_request=0.021)) == {"other_backend_requests"}


def test_lateness_counts_by_what_it_adds_whatever_the_delay_is() -> None:
    slow: dict[str, Any] = {
        "mean_ms": 4000.0,
        "p99_ms": 9000.0,
        "backend_lateness_mean_ms": 20.0,
        "backend_lateness_p99_ms": 72.0,
    }

    assert judge(GOOD | slow) == ("valid", [])
    assert judge(dict(GOOD, **slow | {"mean_ms": 900.0, "p99_ms": 950.0}))[0] == "invalid"
    assert judge(dict(GOOD, backend_lateness_mean_ms=9.0, mean_ms=None, p99_ms=None)) == ("valid", [])


def test_lateness_of_one_call_counts_once() -> None:
    one_call = dict(GOOD, backend_calls=1, backend_requests_per_request=1.0)

    assert judge(dict(one_call, backend_lateness_mean_ms=48.0)) == ("valid", [])
    assert judge(dict(one_call, backend_lateness_mean_ms=48.1))[0] == "invalid"


def test_a_delay_that_no_request_depends_on_may_be_any() -> None:
    told = BackendDelays(before="7", after=None)

    assert judge(dict(GOOD, delay_asked=None, backend_delays=told)) == ("valid", [])
    assert judge(dict(GOOD, delay_asked=None, backend_delays=None)) == ("valid", [])


def test_a_fall_within_its_noise_is_none() -> None:
    assert judge(dict(GOOD, cpu_fall=Halves(fall=0.2, margin=0.21))) == ("valid", [])
    assert judge(dict(GOOD, cpu_fall=Halves(fall=-0.3, margin=0.31))) == ("valid", [])
    assert judge(dict(GOOD, latency_fall=Halves(fall=-0.3, margin=0.31))) == ("valid", [])


@pytest.mark.parametrize(
    ("jit_cpu_fall", "jit_cores_fall", "verdict"),
    [
        (0.075, 0.01, "valid"),
        (-0.1, -0.1, "valid"),
        (0.076, 0.01, "suspect"),
        (0.01, 0.05, "valid"),
        (0.01, 0.051, "suspect"),
        (None, None, "suspect"),
    ],
)
def test_cpu_per_request_that_falls_without_compilers_is_the_hosts_doing(
    jit_cpu_fall: float | None, jit_cores_fall: float | None, verdict: str
) -> None:
    falling = dict(
        GOOD, cpu_fall=Halves(fall=0.2, margin=0.1), jit_cpu_fall=jit_cpu_fall, jit_cores_fall=jit_cores_fall
    )

    assert judge(falling)[0] == verdict


def test_latency_that_falls_is_told_whatever_the_compilers_did() -> None:
    assert (
        judge(dict(GOOD, latency_fall=Halves(fall=0.2, margin=0.1), jit_cpu_fall=0.0, jit_cores_fall=0.0))[0]
        == "suspect"
    )


def test_below_the_backends_first_bucket_it_is_punctual() -> None:
    quick: dict[str, Any] = {"mean_ms": 0.5, "p99_ms": 1.0, "p50_ms": 0.5, "generator_wait_mean_ms": 0.0}
    quick |= {"generator_wait_p99_ms": 0.0, "backend_lateness_mean_ms": 0.001}

    assert judge(GOOD | quick | {"backend_lateness_p99_ms": 0.05}) == ("valid", [])
    assert judge(GOOD | quick | {"backend_lateness_p99_ms": 0.051})[0] == "invalid"


def test_a_kernel_that_does_not_tell_of_waits_is_not_blamed() -> None:
    silent = {"waits_told": False, "generator_wait_mean_ms": None, "generator_wait_p99_ms": None}

    assert judge(GOOD | silent) == ("valid", [])


def test_one_request_more_or_fewer_is_no_other_rate() -> None:
    slow = rate(0.0) | {"offered_rps": 0.3, "interior_s": 50}

    assert judge(GOOD | slow | {"started_rps": 0.319}) == ("valid", [])
    assert judge(GOOD | slow | {"started_rps": 0.321})[0] == "invalid"


def test_at_a_low_rate_few_requests_are_in_flight_whatever_the_concurrency() -> None:
    slow = rate(20.0) | {"offered_rps": 20.0, "counted_requests": 1200, "requests": 1200, "completed": 1200}
    slow |= {"keepalive_requests": None}

    assert judge(GOOD | slow | {"backend_requests_per_request": 3.1}) == ("valid", [])
    assert judge(GOOD | slow | {"backend_requests_per_request": 3.12})[0] == "suspect"
    assert judge(GOOD | slow | {"backend_connections_opened": 55.0}) == ("valid", [])
    assert judge(GOOD | slow | {"backend_connections_opened": 56.0})[0] == "suspect"
    fanning_out = slow | {"at_once": 5, "backend_pool": 5000}
    assert judge(GOOD | fanning_out | {"backend_connections_opened": 131.0}) == ("valid", [])
    assert judge(GOOD | fanning_out | {"backend_connections_opened": 134.0})[0] == "suspect"


def test_the_offered_rate_itself_is_not_missed() -> None:
    assert judge(GOOD | rate(1000)) == ("valid", [])
    assert judge(dict(GOOD, offered_rps=1000.0)) == ("valid", [])
    assert judge(dict(GOOD, started_rps=500.0)) == ("valid", [])


def test_errors_and_dropped_requests_of_steps_that_did_not_hold_do_not_count() -> None:
    beyond = GOOD | steps_500_1000() | {"errors": 30_000, "dropped": 500}

    assert judge(beyond)[0] == "suspect"
    assert failing(beyond) == {"steps_missed"}


def test_without_a_step_that_held_errors_count() -> None:
    beyond = dict(GOOD, missed_steps=(250.0, 500.0), errors=30_000)

    assert judge(beyond)[0] == "invalid"
    assert failing(beyond) == {"too_many_errors", "no_step_held"}


def test_a_load_that_changes_is_short_and_silent_by_its_nature() -> None:
    changing = dict(GOOD, steady=False, whole_run=True, interior_s=None, silences_s=(30,))

    assert judge(changing) == ("valid", [])


def test_a_short_open_run_says_so() -> None:
    assert "short_interior" in failing(dict(GOOD, closed_model=False, whole_run=True, interior_s=None))


def test_growth_is_told_once() -> None:
    assert failing(dict(GOOD, latency_fall=Halves(fall=-0.3, margin=0.1, peak=0.4))) == {"latency_grew_much"}


def test_where_the_tool_tells_of_requests_that_never_ended_no_idle_connection_hides_one() -> None:
    assert failing(dict(GOOD, little_ratio=0.98)) == {"connections_idle"}
    assert "connections_idle" not in failing(dict(GOOD, tells_unended=True, little_ratio=0.98))
