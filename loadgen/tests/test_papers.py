"""The shipped papers: complete, consistent with the scenarios, and what their own figures say of their claims."""

from pathlib import Path

import pytest

from loomlab.answer.papers.figures import factor, unit_of
from loomlab.answer.papers.library import listed, load_paper, paper_names, parse_paper
from loomlab.answer.papers.model import Claim, Paper, RatioTest, SlopeTest, ValueTest
from loomlab.answer.papers.own import Published, contradicted, own_figures
from loomlab.cli import main
from loomlab.plan.scenarios.file import load_scenario
from loomlab.plan.scenarios.model import names
from paper import PAPER

PUBLISHED, SCENARIOS = Path(__file__).parent.parent / "published", Path(__file__).parent.parent / "scenarios"
FIGURES = {
    "loom-vs-webflux": 88,
    "loom-webflux-benchmarks": 44,
    "project-loom-comparison": 105,
    "spring-boot-edition": 265,
    "virtual-threads-hey": 177,
}
OWN = {one.name: one.scenarios for one in listed(PUBLISHED, SCENARIOS)}
CLAIMS = [(name, claim.id) for name in FIGURES for claim in load_paper(PUBLISHED, name).claims]


def paper(name: str) -> Paper:
    return load_paper(PUBLISHED, name)


def claim_of(name: str, claim: str) -> Claim:
    return next(one for one in paper(name).claims if one.id == claim)


def approaches_of(claim: Claim) -> set[str]:
    match claim.decided_by:
        case RatioTest(of=of, to=to):
            return {of.approach, to.approach}
        case ValueTest(approaches=approaches) | SlopeTest(approaches=approaches):
            return set(approaches)
    return set()


def test_every_published_figure_is_kept() -> None:
    assert {name: len(list(paper(name).cells())) for name in paper_names(PUBLISHED)} == FIGURES


def test_what_is_published_as_a_picture_only_is_linked() -> None:
    pictures = paper("loom-webflux-benchmarks").pictures

    assert len(pictures) == 7 * 3
    assert all((one.scenario or "") in one.path for one in pictures)


def test_what_was_announced_and_never_published_is_told() -> None:
    (announced,) = paper("spring-boot-edition").announced

    assert {"cpu_ms_per_request", "cpu_share", "rss_max_bytes", "threads_max"} < set(announced.measured)


def test_every_published_scenario_is_of_a_paper_and_every_paper_has_one() -> None:
    papers = {one.name: one.scenarios for one in listed(PUBLISHED, SCENARIOS)}
    published = {name: load_scenario(SCENARIOS, name).published for name in names(SCENARIOS)}

    assert all(papers.values())
    assert sorted(one for scenarios in papers.values() for one in scenarios) == [
        name for name, source in published.items() if source
    ]


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_a_claim_can_be_run_as_it_says(name: str, claim: str) -> None:
    told = claim_of(name, claim)
    if told.load is None:
        return

    assert set(told.load.scenarios) <= set(OWN[name])
    for scenario in told.load.scenarios:
        assert approaches_of(told) <= set(load_scenario(SCENARIOS, scenario).approaches)
    assert told.load.tool or set(told.load.levels) <= set(paper(name).levels.values)


def test_which_claims_their_papers_own_figures_speak_against() -> None:
    against = {
        (name, claim): sorted({own.level for own in found if own.level})
        for name in FIGURES
        for claim, found in contradicted(paper(name)).items()
    }

    assert against == {
        ("project-loom-comparison", "cpu-virtual-below-async"): [15_000, 20_000],
        ("project-loom-comparison", "cpu-bound-at-saturation"): [20_000],
    }
    assert all(claim_of(name, claim).remark for name, claim in against)


@pytest.mark.parametrize(
    ("name", "claim", "values"),
    [
        ("spring-boot-edition", "slowest-request-of-platform-threads", []),
        (
            "project-loom-comparison",
            "platform-degrades",
            [[2654.009 / 1041.697], [4040.624 / 1041.697]],
        ),
        ("project-loom-comparison", "platform-throughput-falls", [[4949.73 / 6780.84]]),
        ("project-loom-comparison", "virtual-memory-grows-evenly", [[(32585860 - 21293252) * 1024 / 10000]]),
        ("loom-webflux-benchmarks", "tail-at-60000-users", [[193 / 521], [714 / 1429]]),
        ("loom-vs-webflux", "nearly-the-whole-rate", [[0.998098, 0.998316], [0.998320, 0.998322]]),
        ("virtual-threads-hey", "four-threads-take-40-s", [[40.0051]]),
        ("virtual-threads-hey", "four-threads-time-out", [[0.77]]),
        ("virtual-threads-hey", "netty-as-fast-with-as-without", []),
        ("project-loom-comparison", "virtual-memory-grows-by-a-stack", [[(32585860 - 11062040) * 1024 / 19000]]),
        ("spring-boot-edition", "tomcat-pins-virtual-threads", []),
        ("loom-webflux-benchmarks", "sharing-a-machine-changes-nothing", []),
    ],
)
def test_own_figures_of_a_claim_are_those_published(name: str, claim: str, values: list[list[float]]) -> None:
    found = own_figures(paper(name), claim_of(name, claim))

    assert [pytest.approx(one.values, rel=1e-6) for one in found] == values
    assert all(one.holds for one in found)


def test_published_figures_are_told_in_the_units_of_the_lab() -> None:
    loom, hey = Published(paper("project-loom-comparison")), Published(paper("virtual-threads-hey"))

    assert loom.values("rss_hwm_bytes", "microhttp-virtual", 20_000) == [4301388 * 1024]
    assert loom.values("cpu_share", "microhttp-virtual", 20_000) == [pytest.approx(1434 / 207.505 / 8)]
    assert hey.values("ended_rps", "tomcat-platform", 50) == [2.4997]
    assert loom.values("cpu_seconds", "microhttp-platform", 20_000) == [28 * 60 + 28]
    assert hey.values("latency_ms.p50", "tomcat-virtual", 50) == [pytest.approx(3489.9)]
    assert loom.values("latency_ms.p99", "microhttp-virtual", 20_000) == []
    assert loom.values("cpu_ms_per_request", "microhttp-platform", 20_000) == [pytest.approx(1708 / 2400, rel=1e-5)]
    assert hey.values("cpu_ms_per_request", "tomcat-virtual", 50) == []


def test_a_level_queued_where_the_published_mean_is_well_above_the_shortest_latency() -> None:
    loom, spring = Published(paper("project-loom-comparison")), Published(paper("spring-boot-edition"))

    assert [loom.queued("microhttp-platform", level) for level in (1000, 5000, 10_000)] == [False, False, True]
    assert [loom.queued("microhttp-virtual", level) for level in (10_000, 15_000)] == [False, True]
    assert spring.queued("jetty-platform", 20_000)
    assert not spring.queued("jetty-virtual", 20_000)
    assert not Published(paper("loom-webflux-benchmarks")).queued("virtual-netty", 60_000)


def test_only_claims_that_load_does_not_decide_go_without_its_guard() -> None:
    memory = {"virtual-memory", "resident-memory"}
    without = {
        "loom-vs-webflux": {
            "nearly-the-whole-rate", "no-errors", "median-webflux-below-loom", "p90-and-p95-webflux-below-loom",
        },
        "project-loom-comparison": {
            "cpu-virtual-below-platform", "cpu-virtual-below-async", "cpu-platform-above-async",
        },
        "spring-boot-edition": {"tomcat-pins-virtual-threads"},
        "virtual-threads-hey": {"virtual-threads-take-two-waits", "tomcat-virtual-faster-than-netty"},
    }  # fmt: skip
    for name in FIGURES:
        loads = {one.id: one.load for one in paper(name).claims if one.load}
        idle = {key for key, load in loads.items() if not load.saturated and not load.per_cpu}

        assert {key for key in idle if "-".join(key.split("-")[:2]) not in memory} == without.get(name, set())


@pytest.mark.parametrize("name", FIGURES)
def test_equality_is_tested_under_load_only(name: str) -> None:
    for claim in paper(name).claims:
        if claim.load and isinstance(claim.decided_by, RatioTest) and claim.decided_by.hold(1):
            assert claim.load.saturated or claim.load.per_cpu


def test_a_scale_of_its_own_is_of_a_scenario_of_the_paper() -> None:
    for name in FIGURES:
        assert set(paper(name).scale_per_cpu) <= set(OWN[name])


@pytest.mark.parametrize(
    ("figure", "unit"),
    [
        ("latency_from_start_ms.p50", "ms"),
        ("latency_ms.p99", "ms"),
        ("duration_s", "s"),
        ("cpu_seconds", "s"),
        ("threads_max", None),
    ],
)
def test_a_figure_has_the_unit_of_its_name(figure: str, unit: str | None) -> None:
    assert unit_of(figure) == unit


def test_a_value_in_another_unit_is_turned_into_the_figures_where_it_can_be() -> None:
    assert factor("s", "latency_ms.p50") == 1000
    assert factor("KiB", "rss_max_bytes") == 1024
    assert factor("requests", "threads_max") == 1
    assert factor("KiB", "duration_s") is None


def test_a_claim_that_its_figures_do_not_bear_out_is_told_with_the_level() -> None:
    small = parse_paper(PAPER.replace("below: 400", "below: 315"), "small.yaml")

    (own,) = contradicted(small)["tail"]
    assert (own.figure, own.of, own.level, own.values) == ("latency_ms.p99", "tomcat-virtual", 200, [320.5])


def test_papers_are_listed_with_the_scenarios_that_run_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["papers", "--papers-dir", str(PUBLISHED), "--scenarios-dir", str(SCENARIOS)])

    said = capsys.readouterr().out
    assert not exit_.value.code
    for one in listed(PUBLISHED, SCENARIOS):
        row = next(line for line in said.splitlines() if line.lstrip().startswith(one.name))
        assert (one.paper.author or "not named") in row
        assert f" {one.paper.year} " in row
        assert all(scenario in said for scenario in one.scenarios)
    assert "…" not in said
