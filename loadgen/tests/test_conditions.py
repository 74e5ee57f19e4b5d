"""What a run must be like to test a claim: its load, its duration, requests that queue."""

import pytest

from loomlab.answer.papers.answers import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, UNTESTED, answer_of
from loomlab.answer.papers.library import parse_paper
from loomlab.answer.papers.measured import KeptExperiment, KeptRun
from paper import PAPER
from saying import figures
from test_answers import RATIO, answered, blocks, experiment, measured


def value_claim(limits: str, figure: str = "throughput_rps", load: str = "") -> str:
    return f"""\
  - id: value
    says: It is so much.
    place: [Results]
    load: {{scenarios: [soak], levels: [100]{load}}}
    decided_by: {{kind: value, figures: [{figure}], approaches: [tomcat-virtual], {limits}}}
"""


@pytest.mark.parametrize(
    ("values", "outcome"),
    [([0.02, 0.05, 0.30], REPRODUCED), ([0, 0, 0], NOT_REPRODUCED), ([0, 0.05, 0.30], INCONCLUSIVE)],
)
def test_what_happens_in_every_block_or_in_none_is_held_against_the_limit_by_block(
    values: list[float], outcome: str
) -> None:
    (part,) = answered(blocks(values, []), value_claim("above: 0, in_every_block: true")).parts

    assert part.outcome == outcome
    assert (part.low, part.high) == (min(values), max(values))
    assert answered(blocks([0.02, 0.05, 0.30], []), value_claim("above: 0")).outcome == INCONCLUSIVE


def test_what_only_the_published_load_shows_is_not_tested_at_another() -> None:
    claim = value_claim("below: 1200", load=", unscaled: true")
    runs = blocks([1000, 1100, 990], [])

    assert answered(runs, claim).outcome == UNTESTED
    assert {"100", "50"} <= figures(answered(runs, claim).parts[0].why)
    assert answered([one.model_copy(update={"amount": 100}) for one in runs], claim).outcome == REPRODUCED


def test_what_only_the_published_duration_shows_is_not_tested_in_another() -> None:
    runs = blocks([1000, 1100, 990], [])

    assert answered(runs, value_claim("below: 1200", load=", lasts_s: 60")).outcome == REPRODUCED
    (part,) = answered(runs, value_claim("below: 1200", load=", lasts_s: 30")).parts
    assert part.outcome == UNTESTED
    assert {"30", "60"} <= figures(part.why)


@pytest.mark.parametrize(("cpus", "outcome"), [(4, REPRODUCED), (2, UNTESTED)])
def test_what_is_about_a_load_takes_as_much_of_it_a_cpu_as_was_published(cpus: int, outcome: str) -> None:
    machine = f"machines:\n  - {{name: big, cpus: {cpus}, runs: approach}}\nlevels:"
    paper = parse_paper(
        PAPER.partition("claims:\n")[0].replace("levels:", machine, 1)
        + "claims:\n"
        + value_claim("below: 1200", load=", per_cpu: true"),
        "small.yaml",
    )
    kept = measured(experiment(blocks([1000, 1100, 990], []), cpus=2))
    (part,) = answer_of(paper, paper.claims[0], kept).parts

    assert part.outcome == outcome
    assert ({"25", "50"} <= figures(part.why) and "SCALE=1" in part.why) == (outcome == UNTESTED)


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        (value_claim("below: 1200", load=", per_cpu: true"), REPRODUCED),
        (value_claim("below: 500", load=", per_cpu: true"), UNTESTED),
        (
            RATIO.replace("[100]}", "[100], per_cpu: true}").replace("above: 1", "above: 0.9\n      below: 1.1"),
            UNTESTED,
        ),
        (RATIO.replace("[100]}", "[100], per_cpu: true}").replace("above: 1", "below: 1"), NOT_REPRODUCED),
    ],
)
def test_that_a_limit_is_kept_at_a_load_is_not_refuted_at_more_but_an_order_is(claim: str, outcome: str) -> None:
    machine = "machines:\n  - {name: big, cpus: 8, runs: approach}\nlevels:"
    paper = parse_paper(
        PAPER.partition("claims:\n")[0].replace("levels:", machine, 1) + "claims:\n" + claim, "small.yaml"
    )
    kept = measured(experiment(blocks([1300, 1400, 1290], [1000, 1100, 990]), cpus=2))
    (part,) = answer_of(paper, paper.claims[0], kept if "ratio" in claim else measured(low_load())).parts

    assert part.outcome == outcome
    assert ({"25", "12"} <= figures(part.why)) == (outcome == UNTESTED)


def low_load() -> KeptExperiment:
    return experiment(blocks([1000, 1100, 990], []), cpus=2)


QUEUED_AT_200 = "      - {label: mean, unit: ms, values: [300, 500], measured: latency_ms.mean}\nclaims:\n"
WITHIN_ONE = RATIO.replace("levels: [100]}", "levels: [200]}").replace(
    "to: {approach: tomcat-platform}", "to: {approach: tomcat-virtual, level: 100}"
)


@pytest.mark.parametrize(("mean", "outcome"), [(1170, REPRODUCED), (1000, UNTESTED)])
def test_of_one_approach_at_two_levels_requests_are_to_queue_at_the_one_that_queued_as_published(
    mean: float, outcome: str
) -> None:
    paper = parse_paper(PAPER.partition("claims:\n")[0] + QUEUED_AT_200 + WITHIN_ONE, "small.yaml")
    high = [one.model_copy(update={"level": 200}) for one in queueing(blocks([1300, 1400, 1290], []), mean)]
    (part,) = answer_of(paper, paper.claims[0], measured(experiment([*high, *blocks([1000, 1100, 990], [])]))).parts

    assert part.outcome == outcome
    assert part.of == "tomcat-virtual ÷ tomcat-virtual at 100"


def test_where_both_levels_queued_as_published_the_lower_one_is_to_queue_here() -> None:
    shortest = "      - {label: min, unit: ms, values: [300, 300], measured: latency_ms.min}\nclaims:"
    rows = QUEUED_AT_200.replace("[300, 500]", "[400, 500]").replace("claims:", shortest)
    paper = parse_paper(PAPER.partition("claims:\n")[0] + rows + WITHIN_ONE, "small.yaml")
    high = [one.model_copy(update={"level": 200}) for one in queueing(blocks([1300, 1400, 1290], []), 2000)]
    low = blocks([1000, 1100, 990], [])

    for mean, outcome in ((910, UNTESTED), (1800, REPRODUCED)):
        kept = measured(experiment([*high, *queueing(low, mean)]))
        assert answer_of(paper, paper.claims[0], kept).outcome == outcome


def queueing(runs: list[KeptRun], mean: float) -> list[KeptRun]:
    return [one.model_copy(update={"figures": one.figures | {"latency_ms.mean": mean}}) for one in runs]


@pytest.mark.parametrize(("mean", "tested"), [(910, False), (1800, True)])
def test_a_claim_is_borne_out_or_refuted_only_where_requests_queue_by_default(mean: float, tested: bool) -> None:
    fast, slow = [1100.0, 1210.0, 1090.0], [1000.0, 1100.0, 990.0]

    for runs, outcome in ((blocks(fast, slow), REPRODUCED), (blocks(slow, fast), NOT_REPRODUCED)):
        answer = answered(queueing(runs, mean))
        assert answer.outcome == (outcome if tested else UNTESTED)
        assert ("nothing queued" in answer.parts[0].why) == (not tested)
        assert answer.parts[0].centre is not None


def test_a_claim_that_is_not_about_load_says_so() -> None:
    claim = RATIO.replace("levels: [100]}", "levels: [100], saturated: false}")

    assert answered(queueing(blocks([1100, 1210, 1090], [1000, 1100, 990]), 910), claim).outcome == REPRODUCED


def test_what_is_measured_in_too_few_blocks_without_load_could_not_be_tested() -> None:
    idle = answered(queueing(blocks([1100, 1210], [1000, 1100]), 910))

    assert idle.outcome == UNTESTED
    assert "nothing queued" in idle.parts[0].why


def test_under_overload_the_shortest_request_of_a_run_has_queued_too() -> None:
    slowed = {"latency_ms.mean": 1800, "latency_ms.min": 1600}
    runs = blocks([1100, 1210, 1090], [1000, 1100, 990])
    loaded = [one.model_copy(update={"figures": one.figures | slowed}) for one in runs]
    idle = [one.model_copy(update={"level": 50}) for one in blocks([500], [500])]

    assert answered(loaded).outcome == UNTESTED
    assert answered([*loaded, *idle]).outcome == REPRODUCED


def test_runs_that_count_although_they_are_invalid_are_asked_whether_requests_queued() -> None:
    claim = RATIO + "    despite: [backend_late_p99]\n"
    late = {"verdict": "invalid", "failed": ["backend_late_p99"]}
    runs = [one.model_copy(update=late) for one in blocks([1100, 1210, 1090], [1000, 1100, 990])]

    assert answered(queueing(runs, 1800), claim).outcome == REPRODUCED
    assert "nothing queued" in answered(queueing(runs, 910), claim).parts[0].why


@pytest.mark.parametrize(("timed_out", "outcome"), [(7, UNTESTED), (20_000, REPRODUCED)])
def test_requests_that_timed_out_have_queued_if_they_are_more_than_a_stray_one(timed_out: int, outcome: str) -> None:
    runs = [
        one.model_copy(update={"failures": {"time-out": timed_out}})
        for one in queueing(blocks([1100, 1210, 1090], [1000, 1100, 990]), 910)
    ]

    assert answered(runs).outcome == outcome


def test_runs_that_do_not_count_do_not_tell_whether_requests_queued() -> None:
    runs = queueing(blocks([1100, 1210, 1090, 1090], [1000, 1100, 990, 990]), 910)
    (invalid,) = queueing([runs[3]], 90_000)
    runs[3] = invalid.model_copy(update={"verdict": "invalid", "failed": ["backend_cpus"]})

    assert answered(runs).outcome == UNTESTED


@pytest.mark.parametrize(("figure", "tested"), [("throughput_rps", False), ("rss_hwm_bytes", True)])
def test_a_level_that_queued_as_published_tests_nothing_where_nothing_queues_but_memory(
    figure: str, tested: bool
) -> None:
    row = "      - {label: mean, unit: ms, values: [300, 500], measured: latency_ms.mean}\nclaims:\n"
    claim = RATIO.replace("levels: [100]", "levels: [200], saturated: false")
    claim = claim.replace("[throughput_rps]", f"[{figure}]")
    paper = parse_paper(PAPER.partition("claims:\n")[0] + row + claim, "small.yaml")
    runs = [
        one.model_copy(update={"level": 200, "figures": one.figures | {figure: one.figures["throughput_rps"]}})
        for one in blocks([1100, 1210, 1090], [1000, 1100, 990])
    ]

    idle = measured(experiment(queueing(runs, 910)))
    assert answer_of(paper, paper.claims[0], idle).outcome == (REPRODUCED if tested else UNTESTED)
    busy = measured(experiment(queueing(runs, 1800)))
    assert answer_of(paper, paper.claims[0], busy).outcome == REPRODUCED
